import { onAbort } from '../../runtime/abort.ts';
import type { ServedKind } from '../kinds/served-kind.ts';
import type { Registry, WriteContext } from '../registry/registry.ts';

const write: WriteContext = { manager: 'kube-apiserver', user: 'system:apiserver', warn: () => {} };

/**
 * Deletes all objects of a kind and resolves when none is left; waits for finalizers. No object can be created
 * meanwhile, because a terminating definition accepts none.
 */
export async function deleteInstances(
  registry: Registry,
  kind: ServedKind,
  signal: AbortSignal,
): Promise<void> {
  await registry.deleteCollection(kind, {}, {}, write);
  const left = new Set<string>();
  let resolve: () => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const emptied = new Promise<void>((done, fail) => {
    resolve = done;
    reject = fail;
  });
  const watch = await registry.watch(
    kind,
    { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', bookmarks: true },
    {
      events(events) {
        for (const event of events) {
          if (event.type === 'BOOKMARK') continue;
          const { uid = '' } = event.snapshot.object.metadata;
          if (event.type === 'DELETED') left.delete(uid);
          else left.add(uid);
        }
        if (left.size === 0) resolve();
      },
      // The controller retries.
      failed: (error) => reject(error),
    },
  );
  const stopListening = onAbort(signal, () => resolve());
  try {
    await emptied;
  } finally {
    stopListening();
    watch.close();
  }
}
