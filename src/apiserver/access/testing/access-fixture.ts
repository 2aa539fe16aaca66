import { createHash, createPrivateKey, createPublicKey, createSign, generateKeyPairSync } from 'node:crypto';
import type { StoredObject } from '../../kinds/served-kind.ts';
import { bootstrap } from '../../registry/bootstrap.ts';
import {
  type CallOptions,
  type ServedCluster,
  type ServerReply,
  serveCluster,
} from '../../server/testing/served-cluster.ts';
import { bootstrapPolicy } from '../bootstrap-policy.ts';

/** A served cluster with the default roles, and users other than the admin. */
export class AccessFixture implements AsyncDisposable {
  readonly cluster: ServedCluster;

  private constructor(cluster: ServedCluster) {
    this.cluster = cluster;
  }

  static async start(): Promise<AccessFixture> {
    const cluster = await serveCluster();
    await bootstrap(cluster.registry);
    await bootstrapPolicy(cluster.registry);
    return new AccessFixture(cluster);
  }

  /** Calls as the admin; fails unless the call succeeds. */
  async admin<T = StoredObject>(method: string, path: string, body?: unknown): Promise<T> {
    const reply = await this.cluster.call(method, path, body === undefined ? {} : { body });
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.text}`);
    return reply.json<T>();
  }

  async as(
    token: string | undefined,
    method: string,
    path: string,
    options: CallOptions = {},
  ): Promise<ServerReply> {
    return await this.cluster.call(method, path, { ...options, token });
  }

  /** Creates the account if it does not exist. */
  async token(name: string, spec: object = {}): Promise<string> {
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await this.cluster.call('POST', accounts, { body: { metadata: { name } } });
    const answer = await this.admin<TokenAnswer>('POST', `${accounts}/${name}/token`, { spec });
    return answer.status.token;
  }

  /** Allows a service account of the namespace `default` something cluster-wide. */
  async allow(name: string, rule: object): Promise<void> {
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    await this.admin('POST', `${rbac}/clusterroles`, { metadata: { name }, rules: [rule] });
    await this.admin('POST', `${rbac}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace: 'default' }],
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cluster.close();
  }
}

interface TokenAnswer {
  readonly status: { readonly token: string };
}

/** A token's header and claims. */
export function tokenParts(token: string): { readonly header: Fields; readonly claims: Fields } {
  const [header = '', claims = ''] = token.split('.');
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Fields;
  return { header: read(header), claims: read(claims) };
}

type Fields = Readonly<Record<string, unknown>>;

/** A forged token, signed with the given key or not at all. */
export function forgeToken(header: object, claims: object, key?: string): string {
  const text = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const signed = `${text(header)}.${text(claims)}`;
  if (key === undefined) return `${signed}.`;
  const signature = createSign('sha256')
    .update(signed)
    .sign({ key: createPrivateKey(key), dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

/** A foreign key, and the key id for tokens. */
export function foreignKey(): { readonly pem: string; readonly id: string } {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const der = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { pem, id: createHash('sha256').update(der).digest('base64url') };
}
