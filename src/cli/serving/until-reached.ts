import type { KubernetesCluster } from '../../cluster/kubernetes/client.ts';
import { ApiError } from '../../kube/api-error.ts';
import type { Resource } from '../../kube/resource.ts';
import { exponentialBackoff } from '../../runtime/backoff.ts';
import { realClock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { systemRandom } from '../../runtime/random.ts';
import { refusalError } from '../errors/server-error.ts';

const patience = exponentialBackoff({ baseMs: 1_000, maxMs: 15_000, factor: 2, jitter: 'equal' });

/**
 * Reads the server's resources, and retries until it answers; undefined if `signal` aborts before. For long-running commands: a server that
 * does not answer may start later, and every failed attempt is logged. A server that rejects the credentials ends the command.
 */
export async function untilReached(
  cluster: KubernetesCluster,
  log: Log,
  signal: AbortSignal,
): Promise<readonly Resource[] | undefined> {
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      const { resources, failures } = await cluster.discover(signal);
      for (const { groupVersion, error } of failures) log.warn(`${groupVersion} is skipped`, { error });
      return resources;
    } catch (error) {
      if (signal.aborted) break;
      if (!isPassing(error)) throw refusalError(error, cluster);
      log.warn(`cannot reach ${cluster.server}, retrying`, { error });
    }
    await realClock.sleep(patience.delayMs(attempt, systemRandom), signal);
  }
  return undefined;
}

function isPassing(error: unknown): boolean {
  return error instanceof ApiError && (error.code >= 500 || error.code === 429);
}
