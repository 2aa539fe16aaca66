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
    server: withoutUser(server),
    ...(authority === undefined ? {} : { 'certificate-authority-data': authority.toString('base64') }),
    ...(insecureSkipTlsVerify === true ? { 'insecure-skip-tls-verify': true } : {}),
    ...(tlsServerName === undefined ? {} : { 'tls-server-name': tlsServerName }),
    ...(proxyUrl === undefined ? {} : { 'proxy-url': withoutUser(proxyUrl) }),
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

/** Whether the URL of the server or the proxy has a user or a password, which the kubeconfig leaves out: they are the caller's own. */
export function hasUser({ server, proxyUrl }: AccountFacts['connection']): boolean {
  return [server, proxyUrl].some((url) => url !== undefined && withoutUser(url) !== url);
}

function withoutUser(url: string): string {
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1');
}
