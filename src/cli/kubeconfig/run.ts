import { existsSync, statSync } from 'node:fs';
import type { KubernetesCluster } from '../../cluster/kubernetes/client.ts';
import { kubeconfigPaths } from '../../cluster/kubernetes/kubeconfig.ts';
import { writePrivateFile } from '../../io/files/private-files.ts';
import { isReason } from '../../kube/api-error.ts';
import { parseTimestamp } from '../../kube/go/timestamp.ts';
import { serviceAccounts } from '../../kube/resources.ts';
import { realClock } from '../../runtime/clock.ts';
import { CliError, usage } from '../errors/cli-error.ts';
import { refusalError } from '../errors/server-error.ts';
import { type LogFlags, logForReading } from '../flags/log-flags.ts';
import { type ConnectFlags, connect } from '../source/connect.ts';
import { accountKubeconfig, hasUser } from './account-kubeconfig.ts';
import { lifetimeSeconds } from './lifetime.ts';

export interface KubeconfigFlags extends ConnectFlags, Pick<LogFlags, 'verbose'> {
  readonly namespace?: string;
  readonly duration: string;
  readonly to?: string;
}

/** A server may shorten the lifetime. A larger difference than this is reported. */
const shortenedMs = 60_000;

/** `stowage kubeconfig`: prints or writes a kubeconfig for a service account. */
export async function kubeconfig(account: string, flags: KubeconfigFlags): Promise<void> {
  const lifetime = lifetimeSeconds(flags.duration);
  const named = accountOf(account, flags.namespace);
  if (flags.to !== undefined) refuseOwnSource(flags.to, flags);
  const cluster = await connect(flags, { log: logForReading(flags) });
  try {
    const text = await kubeconfigFor(cluster, { ...named, lifetime });
    if (flags.to === undefined) process.stdout.write(text);
    else await write(flags.to, text);
  } finally {
    await cluster.close();
  }
}

async function kubeconfigFor(
  cluster: KubernetesCluster,
  { name, lifetime, namespace = cluster.namespace }: Named & Pick<Wanted, 'lifetime'>,
): Promise<string> {
  const { token, expirationTimestamp } = await requestToken(cluster, { namespace, name, lifetime });
  const endsMs = parseTimestamp(expirationTimestamp) ?? Number.NaN;
  if (realClock.nowMs() + lifetime * 1_000 - endsMs > shortenedMs)
    process.stderr.write(`the server gave a shorter token: until ${expirationTimestamp}\n`);
  const { connection } = cluster;
  if (hasUser(connection))
    process.stderr.write(
      'user and password of the proxy or server URL are left out: they are yours, not those of the account\n',
    );
  const authority = await cluster.authority();
  return accountKubeconfig({ connection, authority, namespace, account: name, token });
}

interface Named {
  readonly name: string;
  /** The namespace of the context by default. */
  readonly namespace?: string;
}

/** Accepts `robot`, `shop/robot`, and the API's user name `system:serviceaccount:shop:robot`. */
function accountOf(text: string, namespace: string | undefined): Named {
  const [, ofUser, nameOfUser] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(text) ?? [];
  const parts = text.split('/');
  const [own, name] =
    ofUser === undefined ? (parts.length === 2 ? parts : [undefined, text]) : [ofUser, nameOfUser];
  if (parts.length > 2 || name === undefined || name === '' || own === '')
    throw usage(`"${text}" is not the name of a service account; write NAME or NAMESPACE/NAME`);
  if (own !== undefined && namespace !== undefined && own !== namespace)
    throw usage(`"${text}" has another namespace than --namespace ${namespace}; give only one`);
  const home = own ?? namespace;
  return { name, ...(home === undefined ? {} : { namespace: home }) };
}

interface Wanted {
  readonly namespace: string;
  readonly name: string;
  readonly lifetime: number;
}

interface TokenStatus {
  readonly token: string;
  readonly expirationTimestamp: string;
}

async function requestToken(cluster: KubernetesCluster, wanted: Wanted): Promise<TokenStatus> {
  const { namespace, name, lifetime } = wanted;
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: lifetime },
  };
  try {
    const answer = await cluster.resource(serviceAccounts).post({ namespace, name }, 'token', body);
    return (answer as { readonly status: TokenStatus }).status;
  } catch (error) {
    throw explained(error, cluster, wanted);
  }
}

function explained(error: unknown, cluster: KubernetesCluster, { namespace, name }: Wanted): unknown {
  if (isReason(error, 'NotFound')) {
    const remedy = `make it with kubectl create serviceaccount ${name} -n ${namespace}`;
    const text = `there is no service account "${name}" in the namespace "${namespace}" of ${cluster.server}`;
    return new CliError(`${text}; ${remedy}, or choose another namespace with -n`, 1, { cause: error });
  }
  if (isReason(error, 'Forbidden')) {
    const remedy = 'ask for the right to create serviceaccounts/token, or use the kubeconfig of an admin';
    return new CliError(`${error.message}; ${remedy}`, 1, { cause: error });
  }
  return refusalError(error, cluster);
}

/** Overwriting it would destroy the credentials that this command uses. */
function refuseOwnSource(to: string, { kubeconfig }: KubeconfigFlags): void {
  const sources = kubeconfig === undefined ? kubeconfigPaths(process.env) : [kubeconfig];
  const own = sources.find((path) => existsSync(path) && existsSync(to) && isSameFile(path, to));
  if (own === undefined) return;
  throw usage(
    `--to: ${to} is the kubeconfig that this command reads, with your own credentials; choose another file`,
  );
}

function isSameFile(left: string, right: string): boolean {
  const [a, b] = [statSync(left), statSync(right)];
  return a.dev === b.dev && a.ino === b.ino;
}

async function write(path: string, text: string): Promise<void> {
  try {
    await writePrivateFile(path, text);
  } catch (error) {
    const why = (error as Error).message;
    throw new CliError(`cannot write ${path}: ${why}; choose another file with --to`, 1, { cause: error });
  }
}
