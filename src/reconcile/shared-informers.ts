import type { Cluster } from '../cluster/cluster.ts';
import type { KubeObject } from '../kube/api/meta.ts';
import type { Selection } from '../kube/api-requests.ts';
import { qualifiedPlural, type Resource } from '../kube/resource.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { Supervisor } from '../runtime/supervisor.ts';
import { Informer } from './informer/informer.ts';

export interface SharedInformersOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly supervisor: Supervisor;
  readonly onError: (error: unknown) => void;
}

/** One informer for each resource (and each selection of its objects), started when the first controller asks for it. */
export class SharedInformers {
  readonly #options: SharedInformersOptions;
  readonly #informers = new Map<string, Informer<KubeObject>>();

  constructor(options: SharedInformersOptions) {
    this.#options = options;
  }

  /** Requested resources that have not been read yet. */
  get unsynced(): readonly string[] {
    return [...this.#informers].filter(([, { hasSynced }]) => !hasSynced).map(([name]) => name);
  }

  of<T extends KubeObject>(resource: Resource<T>, selection: Selection = {}): Informer<T> {
    const { namespace, labelSelector, fieldSelector } = selection;
    const parts = [qualifiedPlural(resource), namespace, labelSelector, fieldSelector];
    const name = parts.filter((part) => part !== undefined).join(' ');
    const known = this.#informers.get(name);
    // Safe: the entry under a resource's name was created for that resource.
    if (known !== undefined) return known as unknown as Informer<T>;
    const { supervisor, ...options } = this.#options;
    const informer = new Informer<T>({ ...options, resource, selection, random: options.random.fork(name) });
    informer.start(supervisor);
    this.#informers.set(name, informer as unknown as Informer<KubeObject>);
    return informer;
  }
}
