import type { Cluster } from '../../src/cluster/cluster.ts';
import type { KubeObject } from '../../src/kube/api/meta.ts';
import { isReason } from '../../src/kube/api-error.ts';
import type { Resource } from '../../src/kube/resource.ts';

/**
 * What there is, and then what becomes of it, until `signal` aborts. A server ends watches that don't keep up, as ours on a busy
 * machine: it then goes on where it stood, or from the start where that is forgotten.
 */
export async function* changesOf<T extends KubeObject>(
  cluster: Cluster,
  resource: Resource<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  let version: string | undefined;
  while (!signal.aborted) {
    const from = version === undefined ? { sendInitialEvents: true } : { resourceVersion: version };
    try {
      for await (const event of cluster.resource(resource).watch({ signal, ...from })) {
        if (event.type === 'BOOKMARK') version = event.resourceVersion;
        else {
          // The objects that were there come in no order of versions; the bookmark behind them has the right one.
          if (version !== undefined) version = event.object.metadata?.resourceVersion;
          yield event.object;
        }
      }
    } catch (error) {
      if (!isReason(error, 'Expired') && !isReason(error, 'Gone')) throw error;
      version = undefined;
    }
  }
}
