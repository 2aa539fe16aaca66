import type { Cluster } from '../../cluster/cluster.ts';
import type { KubernetesCluster } from '../../cluster/kubernetes/client.ts';
import { ApiError, isReason } from '../../kube/api-error.ts';
import { CliError } from '../errors/cli-error.ts';
import { type AskedServer, refusalError } from '../errors/server-error.ts';
import { type LogFlags, logForReading } from '../flags/log-flags.ts';
import { type ConnectFlags, connect } from './connect.ts';

/** The flags of every command that uses the cluster. */
export interface DrivesFlags extends ConnectFlags, Pick<LogFlags, 'verbose'> {}

const requestTimeoutMs = 30_000;

/** Runs `use` with a connection. Errors of the server become messages that name it and the remedy. */
export async function withDrives<T>(flags: DrivesFlags, use: (cluster: Cluster) => Promise<T>): Promise<T> {
  return await withOwnKinds(flags, 'the kind Drive', use);
}

/** The same for other kinds of `stowage.dev`; `kinds` names them in the message of a server that has none. */
export async function withOwnKinds<T>(
  flags: DrivesFlags,
  kinds: string,
  use: (cluster: KubernetesCluster) => Promise<T>,
): Promise<T> {
  await using cluster = await connect(flags, { log: logForReading(flags), requestTimeoutMs });
  try {
    return await use(cluster);
  } catch (error) {
    throw ownKindsError(error, cluster, kinds);
  }
}

function ownKindsError(error: unknown, asked: AskedServer, kinds: string): unknown {
  if (!(error instanceof ApiError)) return error;
  if (isReason(error, 'NotFound') && error.message.includes('could not find the requested resource'))
    return new CliError(
      `${asked.server} does not have ${kinds}; install the definitions with kubectl apply --server-side -f deploy/crds`,
      1,
      { cause: error },
    );
  return refusalError(error, asked);
}
