import type { DiskCaches } from '../../controllers/disks/disk-caches.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { type StorageNode, storageNodes } from '../../kube/stowage/storage-node.ts';
import type { DiskObjects } from '../../queries/disks/disk-objects.ts';

/**
 * The objects as the controller `disks` sees them in its caches, so that its own code plans from them: each cache holds one list, and reports it to a new
 * handler once. The nodes are those that `changed` returns.
 */
export function staticDiskCaches(
  objects: DiskObjects,
  changed: (node: StorageNode) => StorageNode,
): DiskCaches {
  return {
    volumes: staticCache(objects.volumes ?? []),
    schedules: staticCache(objects.schedules),
    nodes: staticCache(objects.nodes.map((node) => ({ kind: storageNodes.kind, ...changed(node) }))),
    replicas: staticCache(objects.replicas ?? []),
    images: staticCache(objects.images ?? []),
    settings: staticCache(objects.settings ?? []),
  } as unknown as DiskCaches; // Safe: planning calls get, values and addHandler only.
}

function staticCache<T extends KubeObject>(objects: readonly T[]) {
  const byName = new Map(objects.map((object) => [object.metadata?.name ?? '', object]));
  return {
    get: (name: string) => byName.get(name),
    values: () => byName.values(),
    addHandler: ({ added }: { readonly added?: (object: T) => void }) => {
      for (const object of byName.values()) added?.(object);
      return () => {};
    },
  };
}
