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
  /** What is served at the beginning. What is defined later is counted from then on, and no longer when its definition is gone. */
  readonly resources: readonly Resource[];
  readonly clock: Clock;
  readonly random: Random;
  readonly supervisor: Supervisor;
  readonly onError: (error: unknown) => void;
}

/** An object of which nothing is known but its metadata. */
export interface CachedObject {
  readonly resource: Resource;
  readonly metadata: ObjectMeta;
}

/** Told of changes; must not throw. */
export interface MetadataHandler {
  added?(inhabitant: CachedObject): void;
  updated?(inhabitant: CachedObject, old: ObjectMeta): void;
  deleted?(inhabitant: CachedObject): void;
}

const indexes = {
  namespace: ({ metadata }: Projected<KubeObject>) => [metadata?.namespace ?? ''],
  owner: ({ metadata }: Projected<KubeObject>) =>
    (metadata?.ownerReferences ?? []).map(({ uid }) => uid ?? ''),
};

/** A resource that can't be read for so long may never be: one whose conversion is broken keeps nobody from the others. */
const patienceMs = 30_000;

/** How one resource is counted. */
interface Count {
  readonly resource: Resource;
  /** In which its objects are known; owners may be named in any of them. */
  readonly versions: readonly string[];
  readonly informer: Informer<KubeObject>;
  readonly work: BackgroundWork;
  /** Aborts when it is counted no longer. */
  readonly end: AbortController;
  readonly sinceMs: number;
}

interface Registration {
  readonly handler: MetadataHandler;
  readonly removals: Map<Informer<KubeObject>, () => void>;
}

/**
 * Every object of the cluster, by metadata alone: who owns whom, and what lives in a namespace. A few hundred bytes for each
 * object, whatever it carries. Begins when the first controller asks for it.
 */
export class MetadataCache {
  readonly #options: MetadataCacheOptions;
  readonly #counts = new Map<string, Count>();
  readonly #registrations = new Set<Registration>();
  /** How often a defined resource was begun to be counted: the last may not have ended when it is counted anew. */
  #definedCounts = 0;

  constructor(options: MetadataCacheOptions) {
    this.#options = options;
  }

  /**
   * Resolves when everything there is has been counted, or when half a minute has passed: then whoever waits goes on with what is known,
   * and asks `unsynced` where that makes a difference. False when `signal` aborted before.
   */
  async synced(signal: AbortSignal): Promise<boolean> {
    this.#begin();
    const impatience = new AbortController();
    const timer = this.#options.clock.after(patienceMs, () => impatience.abort());
    try {
      for (;;) {
        if (signal.aborted) return false;
        const uncounted = this.#uncounted();
        if (uncounted.length === 0 || impatience.signal.aborted) return true;
        const either = uncounted.map(({ informer, end }) =>
          informer.synced(AbortSignal.any([signal, end.signal, impatience.signal])),
        );
        await Promise.all(either);
      }
    } finally {
      timer.cancel();
    }
  }

  /** Resources that are being counted and that have not been read yet. */
  get unsynced(): readonly string[] {
    return this.#uncounted().map(({ resource }) => qualifiedPlural(resource));
  }

  /** Of those, the ones that may be read any moment: the others have been waited for long enough. */
  get arriving(): readonly string[] {
    const earliestMs = this.#options.clock.monotonicMs() - patienceMs;
    return this.#uncounted()
      .filter(({ sinceMs }) => sinceMs > earliestMs)
      .map(({ resource }) => qualifiedPlural(resource));
  }

  #uncounted(): readonly Count[] {
    return [...this.#counts.values()].filter(({ informer }) => !informer.hasSynced);
  }

  /** All that is served: each once, whatever versions it has. */
  get resources(): readonly Resource[] {
    if (this.#counts.size === 0) return this.#options.resources;
    return [...this.#counts.values()].map(({ resource }) => resource);
  }

  /** By {@link resourceKey}. */
  resourceOf(key: string): Resource | undefined {
    return this.#counts.get(key)?.resource;
  }

  /** What objects of this kind and version are counted under. */
  resourceOfKind(apiVersion: string | undefined, kind: string | undefined): Resource | undefined {
    if (this.#counts.size === 0)
      return this.#options.resources.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion);
    const count = [...this.#counts.values()].find(
      ({ resource: { group, kind: its }, versions }) =>
        its === kind && versions.some((version) => apiVersionOf({ group, version }) === apiVersion),
    );
    return count?.resource;
  }

  /** A new handler is told of all objects first. The returned function takes it away. */
  addHandler(handler: MetadataHandler): () => void {
    const registration: Registration = { handler, removals: new Map() };
    this.#registrations.add(registration);
    for (const count of this.#counts.values()) attach(registration, count);
    return () => {
      this.#registrations.delete(registration);
      for (const remove of registration.removals.values()) remove();
    };
  }

  /** What is known of one object. */
  find(resource: Resource, key: ObjectKey): ObjectMeta | undefined {
    const { namespace, name } = key;
    const informer = this.#counts.get(resourceKey(resource))?.informer;
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
    return [...this.#counts.values()].flatMap(({ resource, informer }) =>
      [...informer.keysBy(index, value)].map((key) => ({
        resource,
        metadata: informer.get(key)?.metadata ?? {},
      })),
    );
  }

  #begin(): void {
    if (this.#counts.size > 0) return;
    for (const resource of this.#options.resources) this.#count(resource, [resource.version], 'metadata');
    const definitions = this.#counts.get(resourceKey(customResourceDefinitions))?.informer;
    definitions?.addHandler({
      added: (definition) => this.#follow(definition),
      updated: (definition) => this.#follow(definition),
      deleted: (definition) => {
        for (const count of this.#countsOf(definition)) this.#uncount(count);
      },
    });
  }

  /** Counts what is defined, once, and no longer what is not. */
  #follow(definition: KubeObject): void {
    const [count, ...others] = this.#countsOf(definition);
    for (const other of others) this.#uncount(other);
    const defined = definedResource(definition, count?.resource.version);
    if (count !== undefined && defined?.resource.version === count.resource.version) {
      this.#counts.set(resourceKey(count.resource), { ...count, versions: defined.versions });
      return;
    }
    if (count !== undefined) this.#uncount(count);
    if (defined === undefined) return;
    this.#definedCounts += 1;
    this.#count(defined.resource, defined.versions, `metadata ${this.#definedCounts}`);
  }

  /** At the beginning there may be one for each version. */
  #countsOf({ metadata }: KubeObject): readonly Count[] {
    return [...this.#counts.values()].filter(({ resource }) => qualifiedPlural(resource) === metadata?.name);
  }

  #count(resource: Resource, versions: readonly string[], purpose: string): void {
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
    const sinceMs = common.clock.monotonicMs();
    const count = { resource, versions, informer, work, end: new AbortController(), sinceMs };
    this.#counts.set(resourceKey(resource), count);
    for (const registration of this.#registrations) attach(registration, count);
  }

  /** What it had is told as gone: nobody can ask for it any more. */
  #uncount({ resource, informer, work, end }: Count): void {
    this.#counts.delete(resourceKey(resource));
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

function attach({ handler, removals }: Registration, { resource, informer }: Count): void {
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
