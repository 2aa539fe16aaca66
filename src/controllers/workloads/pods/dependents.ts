import type { Projected } from '../../../cluster/cluster.ts';
import type { KubeObject } from '../../../kube/api/meta.ts';
import { keyOf } from '../../../kube/object-key.ts';
import { controllerOf } from '../../../kube/owner-references.ts';
import type { Informer } from '../../../reconcile/informer/informer.ts';

/** Receives the owners that a change concerns. */
export interface DependentsHandler<T extends KubeObject> {
  /** An object of this controller was added, changed or deleted. */
  owned(uid: string): void;
  /** An object without a controller was added or changed; an owner may adopt it. */
  orphan?(object: Projected<T>): void;
}

/** The objects of a cache by their controller, so that a lookup for one owner does not scan everything. */
export class Dependents<T extends KubeObject> {
  readonly #informer: Informer<T>;
  /** Keys of objects by group: the controller's uid, or the namespace for objects without a controller. */
  readonly #groups = new Map<string, Set<string>>();
  readonly #handler: DependentsHandler<T>;

  constructor(informer: Informer<T>, handler: DependentsHandler<T>) {
    this.#informer = informer;
    this.#handler = handler;
  }

  /** Starts to follow the cache; the returned function ends it. */
  listen(): () => void {
    return this.#informer.addHandler({
      added: (object) => {
        this.#put(object);
        this.#notify(object);
      },
      updated: (object, old) => {
        this.#remove(old);
        this.#put(object);
        if (groupOf(old) !== groupOf(object)) this.#notifyOwner(old);
        this.#notify(object);
      },
      deleted: (object) => {
        this.#remove(object);
        this.#notifyOwner(object);
      },
    });
  }

  /** The objects that the owner controls, and those without a controller in its namespace. */
  ownedOrOrphaned(owner: KubeObject): readonly Projected<T>[] {
    const { uid = '', namespace = '' } = owner.metadata ?? {};
    return [uid, orphansOf(namespace)].flatMap((group) =>
      [...(this.#groups.get(group) ?? [])]
        .map((key) => this.#informer.get(key))
        .filter((object) => object !== undefined),
    );
  }

  #put(object: Projected<T>): void {
    const group = groupOf(object);
    const keys = this.#groups.get(group) ?? new Set();
    this.#groups.set(group, keys.add(keyOf(object)));
  }

  #remove(object: Projected<T>): void {
    const group = groupOf(object);
    const keys = this.#groups.get(group);
    keys?.delete(keyOf(object));
    if (keys?.size === 0) this.#groups.delete(group);
  }

  #notify(object: Projected<T>): void {
    if (controllerOf(object) === undefined) this.#handler.orphan?.(object);
    else this.#notifyOwner(object);
  }

  #notifyOwner(object: Projected<T>): void {
    const uid = controllerOf(object)?.uid;
    if (uid !== undefined) this.#handler.owned(uid);
  }
}

function groupOf(object: KubeObject): string {
  return controllerOf(object)?.uid ?? orphansOf(object.metadata?.namespace ?? '');
}

/** No uid looks like this. */
function orphansOf(namespace: string): string {
  return `orphans of ${namespace}`;
}
