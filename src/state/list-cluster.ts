import type { Cluster } from '../cluster/cluster.ts';
import type { IndexedKind } from '../engine/cluster-index/cluster-change.ts';
import type { KubeObject } from '../kube/api/meta.ts';
import { isReason } from '../kube/api-error.ts';
import type { Resource } from '../kube/resource.ts';
import { ClusterSnapshot } from './cluster-snapshot.ts';
import { everyKind, kindResources } from './kind-resources.ts';

export interface ListClusterOptions {
  /** Where to look for objects of kinds that may not be listed everywhere. */
  readonly namespace: string;
  /** Told how many objects there are so far. */
  readonly onProgress?: (objects: number) => void;
  readonly signal?: AbortSignal;
}

export interface ListedCluster {
  readonly snapshot: ClusterSnapshot;
  readonly unlisted: readonly UnlistedKind[];
}

/** A kind that we were not allowed to list. Kinds that the server doesn't have are nobody's loss, and not here. */
export interface UnlistedKind {
  readonly kind: IndexedKind;
  readonly plural: string;
  /** The only namespace that could be seen; undefined if none could. */
  readonly onlyNamespace: string | undefined;
}

/** As many as kubectl asks for at a time. */
const pageSize = 500;

/** Everything that decisions are made from, as far as we may see it. Rejects with the server's own error for anything but that. */
export async function listCluster(cluster: Cluster, options: ListClusterOptions): Promise<ListedCluster> {
  const snapshot = new ClusterSnapshot();
  let objects = 0;
  const unseen = await Promise.all(
    everyKind.map((kind) =>
      listKind(cluster, kind, options, (object) => {
        snapshot.add(kind, object as never);
        objects += 1;
        options.onProgress?.(objects);
      }),
    ),
  );
  return { snapshot, unlisted: unseen.filter((found) => found !== undefined) };
}

async function listKind(
  cluster: Cluster,
  kind: IndexedKind,
  options: ListClusterOptions,
  take: (object: KubeObject) => void,
): Promise<UnlistedKind | undefined> {
  const resource = kindResources[kind] as Resource;
  const { namespace } = options;
  const unseen = (onlyNamespace: string | undefined) => ({ kind, plural: resource.plural, onlyNamespace });
  try {
    await listPages(cluster, resource, { ...options, namespace: undefined }, take);
    return undefined;
  } catch (error) {
    if (isReason(error, 'NotFound')) return undefined;
    if (!isReason(error, 'Forbidden')) throw error;
    if (!resource.namespaced) return unseen(undefined);
  }
  try {
    await listPages(cluster, resource, { ...options, namespace }, take);
    return unseen(namespace);
  } catch (error) {
    if (!isReason(error, 'Forbidden')) throw error;
    return unseen(undefined);
  }
}

async function listPages(
  cluster: Cluster,
  resource: Resource,
  {
    namespace,
    signal,
  }: { readonly namespace: string | undefined; readonly signal?: AbortSignal | undefined },
  take: (object: KubeObject) => void,
): Promise<void> {
  let next: string | undefined;
  do {
    const { items, metadata } = await cluster.resource(resource).list({
      limit: pageSize,
      ...(namespace !== undefined && { namespace }),
      ...(next !== undefined && { continue: next }),
      ...(signal && { signal }),
    });
    for (const item of items) take(item);
    next = metadata.continue;
  } while (next !== undefined && next !== '');
}
