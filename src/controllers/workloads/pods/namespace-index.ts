import type { Projected } from '../../../cluster/cluster.ts';
import type { KubeObject } from '../../../kube/api/meta.ts';
import { keyOf } from '../../../kube/object-key.ts';
import type { Informer } from '../../../reconcile/informer/informer.ts';

/** The objects of a cache by namespace. */
export class NamespaceIndex<T extends KubeObject> {
  readonly #informer: Informer<T>;
  readonly #keys = new Map<string, Set<string>>();

  constructor(informer: Informer<T>) {
    this.#informer = informer;
  }

  /** Starts to follow the cache; the returned function ends it. Handlers that are added later find the index up to date. */
  listen(): () => void {
    return this.#informer.addHandler({
      added: (object) => this.#keysIn(object).add(keyOf(object)),
      deleted: (object) => this.#remove(object),
    });
  }

  in(namespace: string): readonly Projected<T>[] {
    return [...(this.#keys.get(namespace) ?? [])]
      .map((key) => this.#informer.get(key))
      .filter((object) => object !== undefined);
  }

  #remove(object: KubeObject): void {
    const keys = this.#keysIn(object);
    keys.delete(keyOf(object));
    if (keys.size === 0) this.#keys.delete(object.metadata?.namespace ?? '');
  }

  #keysIn({ metadata }: KubeObject): Set<string> {
    const namespace = metadata?.namespace ?? '';
    const keys = this.#keys.get(namespace) ?? new Set();
    this.#keys.set(namespace, keys);
    return keys;
  }
}
