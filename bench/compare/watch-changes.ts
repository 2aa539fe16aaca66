import type { Cluster } from '../../src/cluster/cluster.ts';
import type { KubeObject } from '../../src/kube/api/meta.ts';
import { isReason } from '../../src/kube/api-error.ts';
import type { Resource } from '../../src/kube/resource.ts';

/**
 * Yields the existing objects and then their changes, until `signal` aborts. A server ends watches that can't keep up, as ours on a busy
 * machine; the watch then resumes at its last version, or starts again if that version is too old.
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
          // The initial objects are not ordered by version; the bookmark after them has the right version.
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
