import type { Cluster } from '../cluster/cluster.ts';
import type { IndexedKind } from '../engine/cluster-index/cluster-change.ts';
import type { KubeObject } from '../kube/api/meta.ts';
import { isReason } from '../kube/api-error.ts';
import type { Resource } from '../kube/resource.ts';
import { ClusterSnapshot } from './cluster-snapshot.ts';
import { everyKind, kindResources } from './kind-resources.ts';

export interface ListClusterOptions {
  /** The namespace for kinds that the user may not list in all namespaces. */
  readonly namespace: string;
  /** Called with the number of objects so far. */
  readonly onProgress?: (objects: number) => void;
  readonly signal?: AbortSignal;
}

export interface ListedCluster {
  readonly snapshot: ClusterSnapshot;
  readonly unlisted: readonly UnlistedKind[];
}

/** A kind that the user may not list. Kinds that the server doesn't have are not included. */
export interface UnlistedKind {
  readonly kind: IndexedKind;
  readonly plural: string;
  /** The only namespace that could be listed; undefined if none could. */
  readonly onlyNamespace: string | undefined;
}

/** Kinds whose `managedFields` say who has set a field, and when: the selected node of a claim, the capacity of a pool. */
const kindsWithManagers: ReadonlySet<string> = new Set([
  'PersistentVolumeClaim',
  'CSIStorageCapacity',
  'DriverCapacity',
  'Drive',
]);

/** The page size of kubectl. */
const pageSize = 500;

/** Lists all objects that decisions use, as far as the user may. Rejects with the server's error for any failure but NotFound and Forbidden. */
export async function listCluster(cluster: Cluster, options: ListClusterOptions): Promise<ListedCluster> {
  const snapshot = new ClusterSnapshot();
  let objects = 0;
  const unlisted = await Promise.all(
    everyKind.map((kind) =>
      listKind(cluster, kind, options, (object) => {
        snapshot.add(kind, object as never);
        objects += 1;
        options.onProgress?.(objects);
      }),
    ),
  );
  const missing = unlisted.filter((found) => found !== undefined);
  snapshot.knowsNodes = !missing.some(({ kind }) => kind === 'Node');
  return { snapshot, unlisted: missing };
}

async function listKind(
  cluster: Cluster,
  kind: IndexedKind,
  options: ListClusterOptions,
  onObject: (object: KubeObject) => void,
): Promise<UnlistedKind | undefined> {
  const resource = kindResources[kind] as Resource;
  const { namespace } = options;
  const unlisted = (onlyNamespace: string | undefined) => ({ kind, plural: resource.plural, onlyNamespace });
  try {
    await listPages(cluster, resource, { ...options, namespace: undefined }, onObject);
    return undefined;
  } catch (error) {
    if (isReason(error, 'NotFound')) return undefined;
    if (!isReason(error, 'Forbidden')) throw error;
    if (!resource.namespaced) return unlisted(undefined);
  }
  try {
    await listPages(cluster, resource, { ...options, namespace }, onObject);
    return unlisted(namespace);
  } catch (error) {
    if (!isReason(error, 'Forbidden')) throw error;
    return unlisted(undefined);
  }
}

async function listPages(
  cluster: Cluster,
  resource: Resource,
  {
    namespace,
    signal,
  }: { readonly namespace: string | undefined; readonly signal?: AbortSignal | undefined },
  onObject: (object: KubeObject) => void,
): Promise<void> {
  let next: string | undefined;
  do {
    const { items, metadata } = await cluster.resource(resource).list({
      limit: pageSize,
      omitsManagedFields: !kindsWithManagers.has(resource.kind),
      ...(namespace !== undefined && { namespace }),
      ...(next !== undefined && { continue: next }),
      ...(signal && { signal }),
    });
    for (const item of items) onObject(item);
    next = metadata.continue;
  } while (next !== undefined && next !== '');
}
