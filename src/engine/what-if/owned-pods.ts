import type { PodRecord } from '../records/pod-record.ts';

/** How many pods a controller has; none of them has ended. */
export interface OwnedPodCounts {
  /** Includes those that are being deleted. */
  readonly present: number;
  readonly active: number;
  /** Those of the active ones that have a node. */
  readonly placed: number;
}

const noPods: OwnedPodCounts = { present: 0, active: 0, placed: 0 };

interface Owned {
  /** Sorted by creation. */
  readonly pods: Map<string, OwnedPodCounts>;
  present: number;
  active: number;
  placed: number;
}

/** The pods of each controller, counted as they come and go: a controller may have so many that a walk over them for each pod takes minutes. */
export class OwnedPods {
  readonly #byOwner = new Map<string, Owned>();
  readonly #ownerOf = new Map<string, string>();

  /** `owner`: kind and name. The keys of the pods, with those that have ended. */
  keysOf(owner: string, namespace: string): Iterable<string> {
    return this.#byOwner.get(`${namespace} ${owner}`)?.pods.keys() ?? [];
  }

  countsOf(owner: string, namespace: string): OwnedPodCounts {
    return this.#byOwner.get(`${namespace} ${owner}`) ?? noPods;
  }

  set(pod: PodRecord): void {
    const key = `${pod.namespace} ${pod.owner}`;
    if (this.#ownerOf.get(pod.key) !== key) this.delete(pod.key);
    const owned: Owned = this.#byOwner.get(key) ?? { pods: new Map(), ...noPods };
    this.#byOwner.set(key, owned);
    this.#ownerOf.set(pod.key, key);
    const present = pod.isFinished ? 0 : 1;
    const active = pod.isDeleting ? 0 : present;
    const counted = { present, active, placed: pod.nodeName === '' ? 0 : active };
    add(owned, owned.pods.get(pod.key) ?? noPods, -1);
    add(owned, counted, 1);
    owned.pods.set(pod.key, counted);
  }

  delete(podKey: string): void {
    const owned = this.#byOwner.get(this.#ownerOf.get(podKey) ?? '');
    if (owned === undefined) return;
    add(owned, owned.pods.get(podKey)!, -1);
    owned.pods.delete(podKey);
    this.#ownerOf.delete(podKey);
  }
}

function add(owned: Owned, { present, active, placed }: OwnedPodCounts, step: 1 | -1): void {
  owned.present += step * present;
  owned.active += step * active;
  owned.placed += step * placed;
}
