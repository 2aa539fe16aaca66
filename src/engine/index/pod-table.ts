import type { PodRecord } from '../records/pod-record.ts';

/**
 * The pods, by node and by claim. A pod that has been placed but not yet bound is *assumed* on its node: it counts
 * there at once, until the cluster says where it is or the assumption is taken back.
 */
export class PodTable {
  readonly #stored = new Map<string, PodRecord>();
  readonly #assumed = new Map<string, PodRecord>();
  readonly #byNode = new Map<string, Set<string>>();
  readonly #byClaim = new Map<string, Set<string>>();

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

  setStored(key: string, record: PodRecord | undefined): void {
    this.#update(key, () => write(this.#stored, key, record));
  }

  setAssumed(key: string, record: PodRecord | undefined): void {
    this.#update(key, () => write(this.#assumed, key, record));
  }

  #update(key: string, change: () => void): void {
    this.#link(this.get(key), remove);
    change();
    this.#link(this.get(key), add);
  }

  #link(pod: PodRecord | undefined, apply: typeof add): void {
    if (pod === undefined) return;
    if (pod.nodeName !== '' && !pod.isFinished) apply(this.#byNode, pod.nodeName, pod.key);
    for (const claim of pod.claims) apply(this.#byClaim, claim.key, pod.key);
  }
}

function write<R>(map: Map<string, R>, key: string, record: R | undefined): void {
  if (record === undefined) map.delete(key);
  else map.set(key, record);
}

function add(map: Map<string, Set<string>>, key: string, member: string): void {
  const members = map.get(key);
  if (members === undefined) map.set(key, new Set([member]));
  else members.add(member);
}

function remove(map: Map<string, Set<string>>, key: string, member: string): void {
  const members = map.get(key);
  members?.delete(member);
  if (members?.size === 0) map.delete(key);
}
