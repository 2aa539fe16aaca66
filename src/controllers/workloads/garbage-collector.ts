import type { KubeObject, ObjectMeta, OwnerReference } from '../../kube/api/meta.ts';
import type { Resource } from '../../kube/resource.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import { defineController, type LoopContext, type Reconciler } from '../../reconcile/define-controller.ts';
import { type CachedObject, type MetadataCache, resourceKey } from '../../reconcile/metadata-cache.ts';
import { removeFinalizer } from '../../reconcile/remove-finalizer.ts';
import type { WorkQueue } from '../../reconcile/work-queue.ts';
import type { Requeue } from '../../reconcile/workers.ts';
import { OwnerLookup, type OwnerStates } from './owner-lookup.ts';

const orphan = 'orphan';
const foreground = 'foregroundDeletion';

/**
 * Deletes objects that have lost all of their owners, and handles the dependents of objects that are deleted in the foreground or orphaned.
 *
 * Level-based: a queue of objects, each decided by a fresh read of itself and its owners. The metadata cache only says which objects to check. Every
 * write carries uid and version of what was read, so a late or repeated one fails with `Conflict` or has no effect. A crash
 * between the dependents and the owner's finalizer is harmless: the finalizer is still there and leads back here.
 *
 * It starts when all metadata is cached, or after half a minute without the kinds that cannot be listed. An object is deleted only after
 * reads have shown that each of its owners is missing; an owner that cannot be read keeps it.
 */
export const garbageCollectorController = defineController({
  name: 'garbage-collector',
  workers: 8,
  create: (context) => new GarbageCollector(context),
});

class GarbageCollector implements Reconciler {
  readonly caches: Reconciler['caches'];
  readonly #context: LoopContext;
  readonly #metadataCache: MetadataCache;
  readonly #owners: OwnerLookup;
  readonly #queue: WorkQueue;

  constructor(context: LoopContext) {
    this.#context = context;
    this.#metadataCache = context.metadataCache;
    this.#owners = new OwnerLookup(context);
    this.#queue = context.queue;
    this.caches = [this.#metadataCache];
  }

  listen(): readonly (() => void)[] {
    return [
      this.#metadataCache.addHandler({
        added: (cached) => this.#onAdded(cached),
        updated: (cached, old) => this.#onUpdated(cached, old),
        deleted: (cached) => this.#onDeleted(cached),
      }),
    ];
  }

  #onAdded(cached: CachedObject): void {
    const { ownerReferences = [] } = cached.metadata;
    if (ownerReferences.length > 0 || isHeld(cached.metadata)) this.#enqueue(cached);
  }

  #onUpdated(cached: CachedObject, old: ObjectMeta): void {
    const { metadata } = cached;
    if (isHeld(metadata)) {
      this.#enqueue(cached);
      if (old.deletionTimestamp === undefined) this.#enqueueDependents(metadata);
    } else if (JSON.stringify(metadata.ownerReferences) !== JSON.stringify(old.ownerReferences)) {
      this.#enqueue(cached);
    }
    for (const owner of releasedOwners(metadata, old)) this.#enqueueOwner(owner, metadata.namespace);
  }

  /** Dependents may have lost their last owner, and an owner may have waited for just this one. */
  #onDeleted(cached: CachedObject): void {
    this.#enqueueDependents(cached.metadata);
    const { ownerReferences = [], namespace } = cached.metadata;
    for (const owner of ownerReferences) this.#enqueueOwner(owner, namespace);
  }

  #enqueueDependents({ uid }: ObjectMeta): void {
    for (const dependent of this.#metadataCache.dependentsOf(uid ?? '')) this.#enqueue(dependent);
  }

  #enqueueOwner(owner: OwnerReference, namespace: string | undefined): void {
    const found = this.#owners.locate(owner, namespace);
    if (found !== undefined) this.#queue.add(queueKey(found.resource, found.key));
  }

  #enqueue({ resource, metadata }: CachedObject): void {
    this.#queue.add(queueKey(resource, { namespace: metadata.namespace, name: metadata.name ?? '' }));
  }

  async reconcile(queued: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const [plural = '', namespace = '', name = ''] = queued.split('|');
    const resource = this.#metadataCache.resourceOf(plural);
    if (resource === undefined) return undefined;
    const client = this.#context.cluster.resource(resource);
    const key = { namespace: resource.namespaced ? namespace : undefined, name };
    const object = await undefinedIfNotFound(client.get(key, { signal }));
    if (object === undefined) return undefined;
    if (object.metadata?.deletionTimestamp !== undefined) return await this.#finish(resource, object, signal);
    const hasOwners = (object.metadata?.ownerReferences ?? []).length > 0;
    return hasOwners ? await this.#deleteIfOwnerless(resource, object, signal) : undefined;
  }

  /** A terminating object that is held until its dependents are handled. */
  async #finish(resource: Resource, object: KubeObject, signal: AbortSignal): Promise<Requeue | undefined> {
    const client = this.#context.cluster.resource(resource);
    const { finalizers = [], uid = '' } = object.metadata ?? {};
    if (isHeld(object.metadata ?? {}) && this.#mayHaveUnknownDependents(finalizers)) return {};
    const dependents = this.#metadataCache.dependentsOf(uid);
    if (finalizers.includes(orphan)) {
      for (const dependent of dependents) await this.#removeOwners(dependent, [uid], signal);
      await removeFinalizer(client, object, orphan, signal);
    } else if (finalizers.includes(foreground)) {
      const blocking = dependents.filter(({ metadata }) => blocks(metadata, uid));
      if (blocking.length === 0) await removeFinalizer(client, object, foreground, signal);
      else if (this.#waitsForItself(object.metadata ?? {})) await this.#release(resource, object, signal);
      // Terminating ones need nothing more, and their end leads back here.
      else for (const dependent of blocking) if (!isTerminating(dependent.metadata)) this.#enqueue(dependent);
    }
    return undefined;
  }

  /**
   * A kind that was defined a moment ago, or that cannot be listed, may have dependents that are not cached. A dependent that should
   * be orphaned would be deleted once it is observed: so the owner waits without limit. A dependent that should be deleted first is deleted
   * after its owner then, as in Kubernetes: a kind with a broken conversion must not block every deletion.
   */
  #mayHaveUnknownDependents(finalizers: readonly string[]): boolean {
    const { unsynced, syncing } = this.#metadataCache;
    return (finalizers.includes(orphan) ? unsynced : syncing).length > 0;
  }

  /** Whether the owners that wait for this object are, through their own owners, among those that it waits for. */
  #waitsForItself(object: ObjectMeta): boolean {
    const seen = new Set<string>();
    const waiting = [object];
    for (let current = waiting.pop(); current !== undefined; current = waiting.pop()) {
      for (const owner of this.#ownersBlockedBy(current)) {
        const uid = owner.uid ?? '';
        if (uid === object.uid) return true;
        if (!seen.has(uid)) waiting.push(owner);
        seen.add(uid);
      }
    }
    return false;
  }

  #ownersBlockedBy({ ownerReferences = [], namespace }: ObjectMeta): readonly ObjectMeta[] {
    return ownerReferences.flatMap((reference) => {
      const located = this.#owners.locate(reference, namespace);
      const owner = located && this.#metadataCache.find(located.resource, located.key);
      const isBlocked = reference.blockOwnerDeletion === true && owner?.uid === reference.uid;
      return owner !== undefined && isBlocked && isDeletedInForeground(owner) ? [owner] : [];
    });
  }

  /** Breaks a cycle of owners, in which each would wait for the next: the object that detects it no longer blocks its owners. */
  async #release(resource: Resource, { metadata = {} }: KubeObject, signal: AbortSignal): Promise<void> {
    const { uid, resourceVersion, namespace, name = '' } = metadata;
    const ownerReferences = (metadata.ownerReferences ?? []).map((owner) => ({
      ...owner,
      blockOwnerDeletion: false,
    }));
    const body = { metadata: { uid, resourceVersion, ownerReferences } };
    const client = this.#context.cluster.resource(resource);
    await undefinedIfNotFound(client.patch({ namespace, name }, { type: 'merge', body }, { signal }));
  }

  /** An object with owners: it stays while one of them exists. */
  async #deleteIfOwnerless(
    resource: Resource,
    object: KubeObject,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    const metadata = object.metadata ?? {};
    const states = await this.#owners.states(metadata, signal);
    // Kinds may be defined or removed: unresolved owners are checked again, with a growing delay.
    if (states.unresolved > 0) return {};
    const gone = [...states.absent, ...states.waiting];
    if (states.present.length === 0) await this.#delete(resource, metadata, states, signal);
    else if (gone.length > 0) await this.#removeOwners({ resource, metadata }, gone, signal);
    return undefined;
  }

  async #delete(
    resource: Resource,
    metadata: ObjectMeta,
    states: OwnerStates,
    signal: AbortSignal,
  ): Promise<void> {
    const { uid = '', resourceVersion = '', namespace, name = '', finalizers = [] } = metadata;
    const hasDependents = this.#metadataCache.dependentsOf(uid).length > 0;
    const isWaitedFor = states.waiting.length > 0 && hasDependents;
    const propagationPolicy =
      isWaitedFor || finalizers.includes(foreground)
        ? 'Foreground'
        : finalizers.includes(orphan)
          ? 'Orphan'
          : 'Background';
    const preconditions = { uid, resourceVersion };
    const client = this.#context.cluster.resource(resource);
    await undefinedIfNotFound(
      client.delete({ namespace, name }, { preconditions, propagationPolicy, signal }),
    );
  }

  /** Removes owners from an object; the version ensures that no client changed them meanwhile. */
  async #removeOwners(
    { resource, metadata }: CachedObject,
    uids: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    const { uid, namespace, name = '' } = metadata;
    const client = this.#context.cluster.resource(resource);
    const live = await undefinedIfNotFound(client.get({ namespace, name }, { signal }));
    if (live?.metadata === undefined || live.metadata.uid !== uid) return;
    const owners = live.metadata.ownerReferences ?? [];
    const kept = owners.filter((owner) => !uids.includes(owner.uid ?? ''));
    if (kept.length === owners.length) return;
    const { resourceVersion } = live.metadata;
    const ownerReferences = kept.length === 0 ? null : kept;
    const body = { metadata: { uid, resourceVersion, ownerReferences } };
    await undefinedIfNotFound(client.patch({ namespace, name }, { type: 'merge', body }, { signal }));
  }
}

function isTerminating({ deletionTimestamp }: ObjectMeta): boolean {
  return deletionTimestamp !== undefined;
}

function isDeletedInForeground(metadata: ObjectMeta): boolean {
  return isTerminating(metadata) && (metadata.finalizers ?? []).includes(foreground);
}

function isHeld(metadata: ObjectMeta): boolean {
  return (
    isDeletedInForeground(metadata) ||
    (isTerminating(metadata) && (metadata.finalizers ?? []).includes(orphan))
  );
}

/** An owner that is deleted in the foreground waits only for dependents with blockOwnerDeletion. */
function blocks({ ownerReferences = [] }: ObjectMeta, ownerUid: string): boolean {
  return ownerReferences.some(
    ({ uid, blockOwnerDeletion }) => uid === ownerUid && blockOwnerDeletion === true,
  );
}

/** Owners that the object no longer names, or no longer blocks. */
function releasedOwners(metadata: ObjectMeta, old: ObjectMeta): readonly OwnerReference[] {
  const isNamed = (uid: string | undefined) => metadata.ownerReferences?.some((owner) => owner.uid === uid);
  return (old.ownerReferences ?? []).filter(({ uid = '' }) =>
    blocks(old, uid) ? !blocks(metadata, uid) : !isNamed(uid),
  );
}

function queueKey(
  resource: Resource,
  { namespace, name }: { namespace?: string | undefined; name: string },
): string {
  return `${resourceKey(resource)}|${namespace ?? ''}|${name}`;
}
