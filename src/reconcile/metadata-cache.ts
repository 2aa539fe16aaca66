import type { Cluster, Projected } from '../cluster/cluster.ts';
import type { KubeObject, ObjectMeta } from '../kube/api/meta.ts';
import { apiVersionOf, type ObjectKey, qualifiedPlural, type Resource } from '../kube/resource.ts';
import { customResourceDefinitions } from '../kube/resources.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { BackgroundWork, Supervisor } from '../runtime/supervisor.ts';
import { definedResource, definitionEssentials } from './defined-resource.ts';
import { Informer } from './informer/informer.ts';

export interface MetadataCacheOptions {
  readonly cluster: Cluster;
  /** The resources that are served at the start. Resources that are defined later are added, and removed with their definition. */
  readonly resources: readonly Resource[];
  readonly clock: Clock;
  readonly random: Random;
  readonly supervisor: Supervisor;
  readonly onError: (error: unknown) => void;
}

/** An object of which only the metadata is known. */
export interface CachedObject {
  readonly resource: Resource;
  readonly metadata: ObjectMeta;
}

/** Receives changes; must not throw. */
export interface MetadataHandler {
  added?(cached: CachedObject): void;
  updated?(cached: CachedObject, old: ObjectMeta): void;
  deleted?(cached: CachedObject): void;
}

const indexes = {
  namespace: ({ metadata }: Projected<KubeObject>) => [metadata?.namespace ?? ''],
  owner: ({ metadata }: Projected<KubeObject>) =>
    (metadata?.ownerReferences ?? []).map(({ uid }) => uid ?? ''),
};

/** A resource that cannot be read for so long may never be readable: one with a broken conversion must not block the others. */
const syncTimeoutMs = 30_000;

/** The cache of one resource. */
interface ResourceCache {
  readonly resource: Resource;
  /** All versions of the resource; owner references may use any of them. */
  readonly versions: readonly string[];
  readonly informer: Informer<KubeObject>;
  readonly work: BackgroundWork;
  /** Aborts when the resource is removed. */
  readonly end: AbortController;
  readonly addedMs: number;
}

interface Registration {
  readonly handler: MetadataHandler;
  readonly removals: Map<Informer<KubeObject>, () => void>;
}

/**
 * The metadata of every object in the cluster: owners, dependents, and the content of namespaces. It needs a few hundred bytes for each
 * object, whatever the object contains. It starts when the first controller asks for it.
 */
export class MetadataCache {
  readonly #options: MetadataCacheOptions;
  readonly #caches = new Map<string, ResourceCache>();
  readonly #registrations = new Set<Registration>();
  /** How often a defined resource was added: the previous informer may not have ended when the resource is added again. */
  #definedAdded = 0;

  constructor(options: MetadataCacheOptions) {
    this.#options = options;
  }

  /**
   * Resolves when every resource has been read, or after half a minute: then the caller continues with what is known,
   * and checks `unsynced` where that matters. False if `signal` aborted before.
   */
  async synced(signal: AbortSignal): Promise<boolean> {
    this.#begin();
    const timeout = new AbortController();
    const timer = this.#options.clock.after(syncTimeoutMs, () => timeout.abort());
    try {
      for (;;) {
        if (signal.aborted) return false;
        const unsynced = this.#unsyncedCaches();
        if (unsynced.length === 0 || timeout.signal.aborted) return true;
        const either = unsynced.map(({ informer, end }) =>
          informer.synced(AbortSignal.any([signal, end.signal, timeout.signal])),
        );
        await Promise.all(either);
      }
    } finally {
      timer.cancel();
    }
  }

  /** Resources that have not been read yet. */
  get unsynced(): readonly string[] {
    return this.#unsyncedCaches().map(({ resource }) => qualifiedPlural(resource));
  }

  /** Those among `unsynced` that may be read any moment; the cache has waited long enough for the others. */
  get syncing(): readonly string[] {
    const earliestMs = this.#options.clock.monotonicMs() - syncTimeoutMs;
    return this.#unsyncedCaches()
      .filter(({ addedMs }) => addedMs > earliestMs)
      .map(({ resource }) => qualifiedPlural(resource));
  }

  #unsyncedCaches(): readonly ResourceCache[] {
    return [...this.#caches.values()].filter(({ informer }) => !informer.hasSynced);
  }

  /** All served resources: each once, whatever versions it has. */
  get resources(): readonly Resource[] {
    if (this.#caches.size === 0) return this.#options.resources;
    return [...this.#caches.values()].map(({ resource }) => resource);
  }

  /** Returns the resource with this {@link resourceKey}. */
  resourceOf(key: string): Resource | undefined {
    return this.#caches.get(key)?.resource;
  }

  /** The resource under which objects of this kind and version are cached. */
  resourceOfKind(apiVersion: string | undefined, kind: string | undefined): Resource | undefined {
    if (this.#caches.size === 0)
      return this.#options.resources.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion);
    const cache = [...this.#caches.values()].find(
      ({ resource: { group, kind: its }, versions }) =>
        its === kind && versions.some((version) => apiVersionOf({ group, version }) === apiVersion),
    );
    return cache?.resource;
  }

  /** A new handler first receives all objects. The returned function removes it. */
  addHandler(handler: MetadataHandler): () => void {
    const registration: Registration = { handler, removals: new Map() };
    this.#registrations.add(registration);
    for (const cache of this.#caches.values()) attach(registration, cache);
    return () => {
      this.#registrations.delete(registration);
      for (const remove of registration.removals.values()) remove();
    };
  }

  /** The cached metadata of one object. */
  find(resource: Resource, key: ObjectKey): ObjectMeta | undefined {
    const { namespace, name } = key;
    const informer = this.#caches.get(resourceKey(resource))?.informer;
    return informer?.get(namespace === undefined ? name : `${namespace}/${name}`)?.metadata;
  }

  /** The objects that name this uid as an owner. */
  dependentsOf(uid: string): readonly CachedObject[] {
    return this.#where('owner', uid);
  }

  /** The objects in a namespace. */
  inNamespace(namespace: string): readonly CachedObject[] {
    return this.#where('namespace', namespace).filter(({ resource }) => resource.namespaced);
  }

  #where(index: string, value: string): readonly CachedObject[] {
    return [...this.#caches.values()].flatMap(({ resource, informer }) =>
      [...informer.keysBy(index, value)].map((key) => ({
        resource,
        metadata: informer.get(key)?.metadata ?? {},
      })),
    );
  }

  #begin(): void {
    if (this.#caches.size > 0) return;
    for (const resource of this.#options.resources) this.#add(resource, [resource.version], 'metadata');
    const definitions = this.#caches.get(resourceKey(customResourceDefinitions))?.informer;
    definitions?.addHandler({
      added: (definition) => this.#follow(definition),
      updated: (definition) => this.#follow(definition),
      deleted: (definition) => {
        for (const cache of this.#cachesOf(definition)) this.#remove(cache);
      },
    });
  }

  /** Adds the defined resource once, and removes resources that are not served any more. */
  #follow(definition: KubeObject): void {
    const [cache, ...others] = this.#cachesOf(definition);
    for (const other of others) this.#remove(other);
    const defined = definedResource(definition, cache?.resource.version);
    if (cache !== undefined && defined?.resource.version === cache.resource.version) {
      this.#caches.set(resourceKey(cache.resource), { ...cache, versions: defined.versions });
      return;
    }
    if (cache !== undefined) this.#remove(cache);
    if (defined === undefined) return;
    this.#definedAdded += 1;
    this.#add(defined.resource, defined.versions, `metadata ${this.#definedAdded}`);
  }

  /** At the start there may be one for each version. */
  #cachesOf({ metadata }: KubeObject): readonly ResourceCache[] {
    return [...this.#caches.values()].filter(({ resource }) => qualifiedPlural(resource) === metadata?.name);
  }

  #add(resource: Resource, versions: readonly string[], purpose: string): void {
    const { supervisor, ...common } = this.#options;
    const informer = new Informer<KubeObject>({
      ...common,
      resource,
      random: common.random.fork(qualifiedPlural(resource)),
      projection:
        resourceKey(resource) === resourceKey(customResourceDefinitions) ? definitionAlone : essentials,
      indexes,
      purpose,
    });
    const work = informer.start(supervisor);
    const addedMs = common.clock.monotonicMs();
    const cache = { resource, versions, informer, work, end: new AbortController(), addedMs };
    this.#caches.set(resourceKey(resource), cache);
    for (const registration of this.#registrations) attach(registration, cache);
  }

  /** Reports the objects as deleted, since no client can read them any more. */
  #remove({ resource, informer, work, end }: ResourceCache): void {
    this.#caches.delete(resourceKey(resource));
    end.abort();
    void work.stop();
    for (const { handler, removals } of this.#registrations) {
      removals.get(informer)?.();
      removals.delete(informer);
      for (const { metadata = {} } of informer.values()) handler.deleted?.({ resource, metadata });
    }
  }
}

export function resourceKey({ group, version, plural }: Resource): string {
  return `${group}/${version}/${plural}`;
}

function attach({ handler, removals }: Registration, { resource, informer }: ResourceCache): void {
  const remove = informer.addHandler({
    added: ({ metadata = {} }) => handler.added?.({ resource, metadata }),
    updated: ({ metadata = {} }, old) => handler.updated?.({ resource, metadata }, old.metadata ?? {}),
    deleted: ({ metadata = {} }) => handler.deleted?.({ resource, metadata }),
  });
  removals.set(informer, remove);
}

function definitionAlone(object: KubeObject): KubeObject {
  return { ...definitionEssentials(object), ...essentials(object) };
}

function essentials({ metadata = {} }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, deletionTimestamp, finalizers, ownerReferences } = metadata;
  return {
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ...(ownerReferences === undefined ? {} : { ownerReferences }),
    },
  };
}
