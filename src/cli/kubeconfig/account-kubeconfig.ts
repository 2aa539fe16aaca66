import { stringify } from 'yaml';
import type { ConnectionSettings } from '../../cluster/kubernetes/connection-settings.ts';

export interface AccountFacts {
  /** How the caller reaches the cluster. */
  readonly connection: Pick<
    ConnectionSettings,
    'server' | 'insecureSkipTlsVerify' | 'tlsServerName' | 'proxyUrl'
  >;
  /** PEM; undefined if the machine's own authorities are trusted. */
  readonly authority: Buffer | undefined;
  readonly namespace: string;
  readonly account: string;
  readonly token: string;
}

/** A self-contained kubeconfig for the account, in its namespace. It refers to no other file. */
export function accountKubeconfig({
  connection,
  authority,
  namespace,
  account,
  token,
}: AccountFacts): string {
  const name = `${namespace}/${account}`;
  const { server, insecureSkipTlsVerify, tlsServerName, proxyUrl } = connection;
  const cluster = {
    server,
    ...(authority === undefined ? {} : { 'certificate-authority-data': authority.toString('base64') }),
    ...(insecureSkipTlsVerify === true ? { 'insecure-skip-tls-verify': true } : {}),
    ...(tlsServerName === undefined ? {} : { 'tls-server-name': tlsServerName }),
    ...(proxyUrl === undefined ? {} : { 'proxy-url': proxyUrl }),
  };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'cluster', cluster }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: 'cluster', user: name, namespace } }],
    'current-context': name,
  };
  return stringify(config, { lineWidth: 0 });
}
