import { addTo, removeFrom, setOrDelete } from '../../maps.ts';
import type { PodRecord } from '../../records/pod-record.ts';

/**
 * The pods, by node and by claim. A pod that is placed but not yet bound is *assumed* on its node: it counts there immediately, until the
 * cluster reports its node or the assumption is reverted.
 */
export class PodTable {
  readonly #stored = new Map<string, PodRecord>();
  readonly #assumed = new Map<string, PodRecord>();
  readonly #byNode = new Map<string, Set<string>>();
  readonly #byClaim = new Map<string, Set<string>>();
  /** The pods with inline CSI volumes by node. */
  readonly #withInline = new Map<string, Set<string>>();
  #lowestPriority = Number.POSITIVE_INFINITY;

  get size(): number {
    return this.#stored.size;
  }

  /** The pod as the API server reports it. */
  stored(key: string): PodRecord | undefined {
    return this.#stored.get(key);
  }

  assumed(key: string): PodRecord | undefined {
    return this.#assumed.get(key);
  }

  /** The pod as plans see it: the stored one once it has a node or is finished, else the assumed one. */
  get(key: string): PodRecord | undefined {
    const stored = this.#stored.get(key);
    if (stored !== undefined && (stored.nodeName !== '' || stored.isFinished)) return stored;
    return this.#assumed.get(key) ?? stored;
  }

  records(): Iterable<PodRecord> {
    return this.#stored.values();
  }

  /** The pods that use the node: assigned or assumed, and not finished. */
  *onNode(nodeName: string): Iterable<PodRecord> {
    for (const key of this.#byNode.get(nodeName) ?? []) yield this.get(key)!;
  }

  /** Whether a pod that uses the node has inline CSI volumes. */
  hasInlineVolumes(nodeName: string): boolean {
    return this.#withInline.has(nodeName);
  }

  *usingClaim(claimKey: string): Iterable<PodRecord> {
    for (const key of this.#byClaim.get(claimKey) ?? []) yield this.get(key)!;
  }

  /** Whether another pod with a node, assigned or assumed and not finished, uses the claim. */
  isUsedByOther(claimKey: string, podKey: string): boolean {
    for (const { key, nodeName, isFinished } of this.usingClaim(claimKey))
      if (key !== podKey && nodeName !== '' && !isFinished) return true;
    return false;
  }

  /** The lowest priority of all pods that ever existed. A pod that is not above it can't preempt any pod. */
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
    if (pod.nodeName !== '' && !pod.isFinished) {
      apply(this.#byNode, pod.nodeName, pod.key);
      if (pod.inlineVolumes.length > 0) apply(this.#withInline, pod.nodeName, pod.key);
    }
    for (const claim of pod.claims) apply(this.#byClaim, claim.key, pod.key);
  }
}
