import type { PodRecord } from '../../records/pod-record.ts';
import { addTo, removeFrom, setOrDelete } from '../primitives/maps.ts';

/**
 * The pods, by node and by claim. A pod that has been placed but not yet bound is *assumed* on its node: it counts
 * there at once, until the cluster says where it is or the assumption is taken back.
 */
export class PodTable {
  readonly #stored = new Map<string, PodRecord>();
  readonly #assumed = new Map<string, PodRecord>();
  readonly #byNode = new Map<string, Set<string>>();
  readonly #byClaim = new Map<string, Set<string>>();
  #lowestPriority = Number.POSITIVE_INFINITY;

  get size(): number {
    return this.#stored.size;
  }

  /** As the cluster has it. */
  stored(key: string): PodRecord | undefined {
    return this.#stored.get(key);
  }

  assumed(key: string): PodRecord | undefined {
    return this.#assumed.get(key);
  }

  /** As it counts for decisions. */
  get(key: string): PodRecord | undefined {
    const stored = this.#stored.get(key);
    if (stored !== undefined && (stored.nodeName !== '' || stored.isFinished)) return stored;
    return this.#assumed.get(key) ?? stored;
  }

  records(): Iterable<PodRecord> {
    return this.#stored.values();
  }

  /** Pods that occupy the node: assigned or assumed, and not finished. */
  *onNode(nodeName: string): Iterable<PodRecord> {
    for (const key of this.#byNode.get(nodeName) ?? []) yield this.get(key)!;
  }

  *usingClaim(claimKey: string): Iterable<PodRecord> {
    for (const key of this.#byClaim.get(claimKey) ?? []) yield this.get(key)!;
  }

  /** Whether another pod counts on the claim: it is on its way with it, or there already. One that is over doesn't. */
  isHeldByOther(claimKey: string, podKey: string): boolean {
    for (const { key, nodeName, isFinished } of this.usingClaim(claimKey))
      if (key !== podKey && nodeName !== '' && !isFinished) return true;
    return false;
  }

  /** Of all pods that there have been: whoever isn't above it can evict nobody. */
  get lowestPriority(): number {
    return this.#lowestPriority;
  }

  setStored(key: string, record: PodRecord | undefined): void {
    this.#update(key, () => setOrDelete(this.#stored, key, record));
  }

  setAssumed(key: string, record: PodRecord | undefined): void {
    this.#update(key, () => setOrDelete(this.#assumed, key, record));
  }

  #update(key: string, change: () => void): void {
    this.#link(this.get(key), removeFrom);
    change();
    const after = this.get(key);
    if (after !== undefined && after.priority < this.#lowestPriority) this.#lowestPriority = after.priority;
    this.#link(after, addTo);
  }

  #link(pod: PodRecord | undefined, apply: typeof addTo<string, string>): void {
    if (pod === undefined) return;
    if (pod.nodeName !== '' && !pod.isFinished) apply(this.#byNode, pod.nodeName, pod.key);
    for (const claim of pod.claims) apply(this.#byClaim, claim.key, pod.key);
  }
}
