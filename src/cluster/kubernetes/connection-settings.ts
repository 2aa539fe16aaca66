/** How to reach a cluster and as which user: from a kubeconfig's context or a pod's environment. */
export interface ConnectionSettings {
  /** The origin of the settings, for messages: `context "prod" of /home/ada/.kube/config`. */
  readonly source: string;
  /** Base URL; it may have a path. */
  readonly server: string;
  /** The certificate authorities to trust; the machine's own if left out. */
  readonly certificateAuthority?: FileOrData;
  readonly insecureSkipTlsVerify?: boolean;
  /** The name to expect in the server's certificate, if it differs from the host's. */
  readonly tlsServerName?: string;
  readonly proxyUrl?: string;
  readonly namespace?: string;
  readonly user: UserSettings;
}

export interface UserSettings {
  readonly clientCertificate?: FileOrData;
  readonly clientKey?: FileOrData;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly username?: string;
  readonly password?: string;
  readonly exec?: ExecSettings;
  readonly impersonate?: ImpersonationSettings;
}

export interface ExecSettings {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly installHint?: string;
  readonly interactiveMode: 'Never' | 'IfAvailable' | 'Always';
  /** The cluster's description for the plugin, if the plugin asks for it. */
  readonly clusterInfo?: object;
}

export interface ImpersonationSettings {
  readonly user: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

export type FileOrData =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'data'; readonly bytes: Buffer };

/** The settings are wrong; the message says where and what to do. */
export class ConnectionSettingsError extends Error {
  override readonly name = 'ConnectionSettingsError';
}
