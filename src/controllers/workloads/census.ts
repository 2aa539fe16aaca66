import type { Cluster, Projected } from '../../cluster/cluster.ts';
import { Informer } from '../../cluster/informer/informer.ts';
import { type ObjectKey, qualifiedPlural, type Resource } from '../../cluster/resource.ts';
import type { KubeObject, ObjectMeta } from '../../kube/meta.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Supervisor } from '../../runtime/supervisor.ts';

export interface CensusOptions {
  readonly cluster: Cluster;
  readonly resources: readonly Resource[];
  readonly clock: Clock;
  readonly random: Random;
  readonly supervisor: Supervisor;
  readonly onError: (error: unknown) => void;
}

/** An object of which nothing is known but its metadata. */
export interface Inhabitant {
  readonly resource: Resource;
  readonly metadata: ObjectMeta;
}

/** Told of changes; must not throw. */
export interface CensusHandler {
  added?(inhabitant: Inhabitant): void;
  updated?(inhabitant: Inhabitant, old: ObjectMeta): void;
  deleted?(inhabitant: Inhabitant): void;
}

const indexes = {
  namespace: ({ metadata }: Projected<KubeObject>) => [metadata?.namespace ?? ''],
  owner: ({ metadata }: Projected<KubeObject>) =>
    (metadata?.ownerReferences ?? []).map(({ uid }) => uid ?? ''),
};

/**
 * Every object of the cluster, by metadata alone: who owns whom, and what lives in a namespace. A few hundred bytes for each
 * object, whatever it carries. Begins when the first controller asks for it.
 */
export class Census {
  readonly #options: CensusOptions;
  readonly #informers = new Map<Resource, Informer<KubeObject>>();

  constructor(options: CensusOptions) {
    this.#options = options;
  }

  /** Resolves when everything there is has been counted; false when `signal` aborted before. */
  async synced(signal: AbortSignal): Promise<boolean> {
    const { resources } = this.#options;
    const counts = resources.map((resource) => this.#informer(resource).synced(signal));
    return (await Promise.all(counts)).every(Boolean);
  }

  /** Resources that are being counted and that have not been read yet. */
  get unsynced(): readonly string[] {
    const uncounted = [...this.#informers].filter(([, { hasSynced }]) => !hasSynced);
    return uncounted.map(([resource]) => qualifiedPlural(resource));
  }

  /** A new handler is told of all objects first. The returned function takes it away. */
  addHandler(handler: CensusHandler): () => void {
    const removals = [...this.#informers].map(([resource, informer]) =>
      informer.addHandler({
        added: ({ metadata = {} }) => handler.added?.({ resource, metadata }),
        updated: ({ metadata = {} }, old) => handler.updated?.({ resource, metadata }, old.metadata ?? {}),
        deleted: ({ metadata = {} }) => handler.deleted?.({ resource, metadata }),
      }),
    );
    return () => {
      for (const remove of removals) remove();
    };
  }

  /** What is known of one object. */
  find(resource: Resource, key: ObjectKey): ObjectMeta | undefined {
    const { namespace, name } = key;
    const found = this.#informer(resource).get(namespace === undefined ? name : `${namespace}/${name}`);
    return found?.metadata;
  }

  /** The objects that name this uid as an owner. */
  dependentsOf(uid: string): readonly Inhabitant[] {
    return this.#where('owner', uid, this.#options.resources);
  }

  /** The objects in a namespace. */
  inNamespace(namespace: string): readonly Inhabitant[] {
    const resources = this.#options.resources.filter(({ namespaced }) => namespaced);
    return this.#where('namespace', namespace, resources);
  }

  #where(index: string, value: string, resources: readonly Resource[]): readonly Inhabitant[] {
    return resources.flatMap((resource) => {
      const informer = this.#informer(resource);
      return [...informer.keysBy(index, value)].map((key) => ({
        resource,
        metadata: informer.get(key)?.metadata ?? {},
      }));
    });
  }

  #informer(resource: Resource): Informer<KubeObject> {
    const known = this.#informers.get(resource);
    if (known !== undefined) return known;
    const { cluster, clock, random, supervisor, onError } = this.#options;
    const informer = new Informer<KubeObject>({
      cluster,
      resource,
      clock,
      random: random.fork(qualifiedPlural(resource)),
      onError,
      projection: essentials,
      indexes,
      purpose: 'census',
    });
    informer.start(supervisor);
    this.#informers.set(resource, informer);
    return informer;
  }
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
