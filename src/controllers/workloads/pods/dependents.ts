import type { Projected } from '../../../cluster/cluster.ts';
import type { KubeObject } from '../../../kube/api/meta.ts';
import { keyOf } from '../../../kube/object-key.ts';
import { controllerOf } from '../../../kube/owner-references.ts';
import type { Informer } from '../../../reconcile/informer/informer.ts';

/** Told whom a change concerns. */
export interface DependentsHandler<T extends KubeObject> {
  /** An object of this controller came, changed or went. */
  owned(uid: string): void;
  /** An object that nobody controls came or changed; somebody may want it. */
  orphan?(object: Projected<T>): void;
}

/** The objects of a cache by their controller, so that looking at one owner does not mean looking at everything. */
export class Dependents<T extends KubeObject> {
  readonly #informer: Informer<T>;
  /** Keys of objects by place: the controller's uid, or the namespace where there is no controller. */
  readonly #places = new Map<string, Set<string>>();
  readonly #handler: DependentsHandler<T>;

  constructor(informer: Informer<T>, handler: DependentsHandler<T>) {
    this.#informer = informer;
    this.#handler = handler;
  }

  /** Begins to listen; the returned function ends it. */
  listen(): () => void {
    return this.#informer.addHandler({
      added: (object) => {
        this.#put(object);
        this.#tell(object);
      },
      updated: (object, old) => {
        this.#remove(old);
        this.#put(object);
        if (placeOf(old) !== placeOf(object)) this.#tellOwner(old);
        this.#tell(object);
      },
      deleted: (object) => {
        this.#remove(object);
        this.#tellOwner(object);
      },
    });
  }

  /** What the owner controls, and what nobody controls in its namespace. */
  ownedOrOrphaned(owner: KubeObject): readonly Projected<T>[] {
    const { uid = '', namespace = '' } = owner.metadata ?? {};
    return [uid, orphansOf(namespace)].flatMap((place) =>
      [...(this.#places.get(place) ?? [])]
        .map((key) => this.#informer.get(key))
        .filter((object) => object !== undefined),
    );
  }

  #put(object: Projected<T>): void {
    const place = placeOf(object);
    const keys = this.#places.get(place) ?? new Set();
    this.#places.set(place, keys.add(keyOf(object)));
  }

  #remove(object: Projected<T>): void {
    const place = placeOf(object);
    const keys = this.#places.get(place);
    keys?.delete(keyOf(object));
    if (keys?.size === 0) this.#places.delete(place);
  }

  #tell(object: Projected<T>): void {
    if (controllerOf(object) === undefined) this.#handler.orphan?.(object);
    else this.#tellOwner(object);
  }

  #tellOwner(object: Projected<T>): void {
    const uid = controllerOf(object)?.uid;
    if (uid !== undefined) this.#handler.owned(uid);
  }
}

function placeOf(object: KubeObject): string {
  return controllerOf(object)?.uid ?? orphansOf(object.metadata?.namespace ?? '');
}

/** No uid looks like this. */
function orphansOf(namespace: string): string {
  return `orphans of ${namespace}`;
}
