import type { Cluster, Fresh } from '../../../src/cluster/cluster.ts';
import type { IndexedKind } from '../../../src/engine/cluster-index/cluster-change.ts';
import type { ClusterObjects } from '../../../src/engine/testing/cluster.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../src/kube/api/core.ts';
import type { KubeObject } from '../../../src/kube/api/meta.ts';
import { isReason } from '../../../src/kube/api-error.ts';
import type { Resource } from '../../../src/kube/resource.ts';
import {
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
  priorityClasses,
  replicaSets,
  services,
  statefulSets,
  storageClasses,
  volumeAttachments,
} from '../../../src/kube/resources.ts';
import { priorities, runtimes, teams } from './names.ts';
import type { ClusterView } from './our-scheduler.ts';

/** Pods before claims before volumes: the owner of a claim, and the claim of a volume, are given by uid. */
const resources = {
  Pod: pods,
  PersistentVolumeClaim: persistentVolumeClaims,
  StorageClass: storageClasses,
  CSIDriver: csiDrivers,
  CSINode: csiNodes,
  CSIStorageCapacity: csiStorageCapacities,
  VolumeAttachment: volumeAttachments,
  Node: nodes,
  Service: services,
  ReplicaSet: replicaSets,
  StatefulSet: statefulSets,
  PersistentVolume: persistentVolumes,
} as const satisfies Partial<Record<IndexedKind, Resource>>;

const runtimeClasses: Resource = {
  group: 'node.k8s.io',
  version: 'v1',
  kind: 'RuntimeClass',
  plural: 'runtimeclasses',
  namespaced: false,
};

type StoredKind = keyof typeof resources;

const heldFinalizer = 'stowage.dev/keep';

/** Creates random clusters on a server. Objects that the server rejects are skipped; the others are returned as stored. */
export class RealCluster {
  readonly #cluster: Cluster;
  #kept: { readonly resource: Resource; readonly namespace?: string; readonly name: string }[] = [];
  #namespaces: readonly KubeObject[] = [];

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Creates what all random clusters share. */
  async prepare(): Promise<void> {
    for (const [name, labels] of Object.entries(teams)) {
      const body = { metadata: { labels } };
      const all = this.#cluster.resource(namespaces);
      if (name === 'default') await all.patch({ name }, { type: 'merge', body });
      else await all.create({ metadata: { name, labels } });
    }
    for (const [name, rest] of Object.entries(priorities))
      await this.#cluster.resource(priorityClasses).create({ metadata: { name }, ...rest });
    for (const [name, rest] of Object.entries(runtimes))
      await this.#cluster
        .resource(runtimeClasses)
        .create({ metadata: { name }, ...rest } as Fresh<KubeObject>);
    await this.#cluster.resource(namespaces).create({ metadata: { name: 'storage' } });
    this.#namespaces = (await this.#cluster.resource(namespaces).list()).items;
  }

  async create({ objects, budgets }: ClusterView): Promise<ClusterView> {
    const stored: Partial<Record<IndexedKind, readonly KubeObject[]>> = { Namespace: this.#namespaces };
    stored.Pod = await this.#createAll('Pod', objects.Pod ?? []);
    const owned = (objects.PersistentVolumeClaim ?? []).map((claim) => withOwnerUid(claim, stored.Pod ?? []));
    const claims = await this.#createAll('PersistentVolumeClaim', owned);
    stored.PersistentVolumeClaim = claims;
    const others = (Object.keys(resources) as StoredKind[]).filter((kind) => stored[kind] === undefined);
    const created = others.map(async (kind) => {
      const given = objects[kind] ?? [];
      const drawn = given.map((object) => withClaimUid(object, claims));
      stored[kind] = await this.#createAll(kind, drawn);
    });
    await Promise.all(created);
    const protecting = await Promise.all(budgets.map((budget) => this.#create(podDisruptionBudgets, budget)));
    return {
      objects: stored as ClusterObjects,
      budgets: protecting.filter((budget) => budget !== undefined),
    };
  }

  /** Deletes everything. */
  async clear(): Promise<void> {
    const body = { metadata: { finalizers: null } };
    await Promise.all(
      this.#kept.map(({ resource, ...key }) =>
        this.#cluster.resource(resource).patch(key, { type: 'merge', body }),
      ),
    );
    this.#kept = [];
    const deletions = [...Object.values(resources), podDisruptionBudgets].map(async (resource: Resource) => {
      const client = this.#cluster.resource(resource);
      if (!resource.namespaced) return await client.deleteCollection({ gracePeriodSeconds: 0 });
      for (const namespace of [...Object.keys(teams), 'storage']) {
        if (resource === services) {
          const { items } = await client.list({ namespace });
          const own = items.filter(({ metadata }) => metadata?.name !== 'kubernetes');
          await Promise.all(
            own.map(({ metadata }) => client.delete({ namespace, name: metadata?.name ?? '' })),
          );
        } else await client.deleteCollection({ namespace, gracePeriodSeconds: 0 });
      }
    });
    await Promise.all(deletions);
  }

  async #createAll(kind: StoredKind, objects: readonly KubeObject[]): Promise<readonly KubeObject[]> {
    const created = await Promise.all(objects.map((object) => this.#create(resources[kind], object)));
    return created.filter((object) => object !== undefined);
  }

  async #create(resource: Resource, drawn: KubeObject): Promise<KubeObject | undefined> {
    const client = this.#cluster.resource(resource);
    const { uid: _uid, resourceVersion: _version, deletionTimestamp, ...metadata } = drawn.metadata ?? {};
    const isDeleting = deletionTimestamp !== undefined;
    const object = {
      ...drawn,
      metadata: { ...metadata, ...(isDeleting && { finalizers: [heldFinalizer] }) },
    };
    try {
      let stored = await client.create(object as Fresh<KubeObject>);
      const { status } = drawn as { readonly status?: object };
      if (status !== undefined && resource !== nodes)
        stored = await client.update({ ...stored, status } as Fresh<KubeObject>, { subresource: 'status' });
      if (!isDeleting) return stored;
      const key = keyOf(stored);
      this.#kept.push({ resource, ...key });
      await client.delete(key);
      return await client.get(key);
    } catch (error) {
      if (!isReason(error, 'Invalid', 'Forbidden', 'BadRequest')) throw error;
      return undefined;
    }
  }
}

function keyOf({ metadata }: KubeObject): { readonly namespace?: string; readonly name: string } {
  const { namespace, name = '' } = metadata ?? {};
  return { ...(namespace !== undefined && { namespace }), name };
}

/** Random claims have the uid `uid-<name>` until the server assigns another. */
function withClaimUid(object: KubeObject, claims: readonly KubeObject[]): KubeObject {
  const volume: PersistentVolume = object;
  const { claimRef } = volume.spec ?? {};
  const owner = claims.find(
    ({ metadata }) => metadata?.name === claimRef?.name && metadata?.namespace === claimRef?.namespace,
  );
  if (claimRef?.uid !== `uid-${claimRef?.name}` || owner?.metadata?.uid === undefined) return volume;
  const spec = { ...volume.spec, claimRef: { ...claimRef, uid: owner.metadata.uid } };
  return { ...volume, spec } as KubeObject;
}

/** As random pods have the uid `uid-<name>`. */
function withOwnerUid(claim: PersistentVolumeClaim, owners: readonly KubeObject[]): PersistentVolumeClaim {
  const ownerReferences = claim.metadata?.ownerReferences?.map((reference) => {
    const owner = owners.find(({ metadata }) => `uid-${metadata?.name}` === reference.uid);
    return { ...reference, uid: owner?.metadata?.uid ?? 'absent' };
  });
  return ownerReferences === undefined
    ? claim
    : { ...claim, metadata: { ...claim.metadata, ownerReferences } };
}
