import type { ClusterChange } from '../engine/cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../engine/cluster-index/cluster-index.ts';
import { settledPromise } from '../engine/cluster-index/pools/promise-reconciler.ts';
import { addTo, removeFrom } from '../engine/cluster-index/primitives/maps.ts';
import type { Placement } from '../engine/plan.ts';
import type { Size } from '../engine/size.ts';

/** Room that the pod would take on one of its nodes, for one of its volumes. */
interface Portion {
  /** The claim's key; or, for an inline volume, a name that no claim has. */
  readonly volume: string;
  readonly claimUid: string;
  readonly poolKey: string;
  readonly size: Size;
}

/** How long it is kept, and what its owner wants to remember about it. */
export interface TentativeTerms {
  readonly untilMs: number;
  /** What the pod said about its last attempt when it was taken. */
  readonly said: string;
}

interface Entry {
  readonly podKey: string;
  readonly podUid: string;
  readonly claimKeys: readonly string[];
  readonly terms: TentativeTerms;
  /** By node, what it would take there; one of them will come true, or none. */
  portions: ReadonlyMap<string, readonly Portion[]>;
  /** The promises that stand in the index for it. */
  readonly promises: Map<string, Portion>;
}

/** Pods beyond that are not waited for: kube-scheduler has long forgotten the oldest of them. */
const entriesMax = 10_000;

/**
 * Room that kube-scheduler is about to use. It asks which nodes would do and doesn't say which it takes, so until the cluster shows
 * it each of them is taken: a pod's claim is charged once to every pool that it might come from. That is too much rather than too
 * little, and for moments.
 *
 * The claim's selected-node annotation ends it, as the index keeps the books from then on; so do the pod's node, its end, and time.
 *
 * Only room in pools. Existing volumes, attach slots and everything else kube-scheduler counts for its own pods in flight itself, and
 * knows where they go.
 */
export class TentativeReservations {
  readonly #index: ClusterIndex;
  /** By uid of the pod, oldest first. */
  readonly #entries = new Map<string, Entry>();
  readonly #byClaim = new Map<string, Set<Entry>>();
  readonly #byPod = new Map<string, Entry>();

  constructor(index: ClusterIndex) {
    this.#index = index;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The pod may go to any of these. What was taken for it before is given back. */
  take(placements: readonly Placement[], terms: TentativeTerms): void {
    const [first] = placements;
    if (first === undefined) return;
    const { key: podKey, uid: podUid } = first.pod;
    this.drop(podUid);
    const portions = new Map(placements.map((placement) => [placement.node, portionsOf(placement)]));
    if ([...portions.values()].every((each) => each.length === 0)) return;
    const claimKeys = first.pod.claims.map(({ key }) => key);
    const entry: Entry = { podKey, podUid, claimKeys, terms, portions, promises: new Map() };
    this.#entries.set(podUid, entry);
    this.#byPod.set(podKey, entry);
    for (const key of claimKeys) addTo(this.#byClaim, key, entry);
    this.#charge(entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= entriesMax) break;
      this.drop(oldest);
    }
  }

  termsOf(podUid: string): TentativeTerms | undefined {
    return this.#entries.get(podUid)?.terms;
  }

  drop(podUid: string): void {
    const entry = this.#entries.get(podUid);
    if (entry === undefined) return;
    this.#entries.delete(podUid);
    if (this.#byPod.get(entry.podKey) === entry) this.#byPod.delete(entry.podKey);
    for (const key of entry.claimKeys) removeFrom(this.#byClaim, key, entry);
    entry.portions = new Map();
    this.#charge(entry);
  }

  /** What has not come true in time will not. */
  expire(nowMs: number): void {
    for (const { podUid, terms } of this.#entries.values()) if (terms.untilMs <= nowMs) this.drop(podUid);
  }

  /** An answer as if nothing were taken. */
  without<T>(ask: () => T): T {
    const savepoint = this.#index.savepoint();
    try {
      for (const { promises } of this.#entries.values())
        for (const id of promises.keys()) this.#index.setPromise(id, undefined);
      return ask();
    } finally {
      this.#index.rollback(savepoint);
    }
  }

  /** The cluster may show what was taken. */
  observe(change: ClusterChange): void {
    if (change.kind === 'Pod') this.#podChanged((change.after ?? change.before)!.key);
    if (change.kind !== 'PersistentVolumeClaim') return;
    const { key } = (change.after ?? change.before)!;
    for (const entry of [...(this.#byClaim.get(key) ?? [])]) this.#claimChanged(entry, key);
  }

  #podChanged(podKey: string): void {
    const entry = this.#byPod.get(podKey);
    if (entry === undefined) return;
    const stored = this.#index.pods.stored(podKey);
    const isOver = stored?.uid !== entry.podUid || stored.isFinished || stored.isDeleting;
    if (!isOver && stored.nodeName === '') return;
    if (!isOver) this.#settleInline(entry, stored.nodeName);
    this.drop(entry.podUid);
  }

  /** An inline volume has no claim to tell of it: its room is waited for until the pool's next number. */
  #settleInline({ portions }: Entry, nodeName: string): void {
    for (const portion of portions.get(nodeName) ?? []) {
      if (portion.claimUid !== '') continue;
      const id = `assigned ${portion.volume}`;
      const promised = { ...promiseOf(id, portion, nodeName), reservations: 0 };
      this.#index.setPromise(id, settledPromise(this.#index.pools, promised));
    }
  }

  #claimChanged(entry: Entry, key: string): void {
    const claim = this.#index.claims.get(key);
    const isOurs = [...entry.promises.values()].some(({ claimUid }) => claimUid === claim?.uid);
    if (claim === undefined || !isOurs) {
      this.#keep(entry, (portion) => portion.volume !== key);
      return;
    }
    if (claim.selectedNode === '' && !claim.isBound) return;
    const { selectedNode } = claim;
    // The others of the pod go there too.
    if (entry.portions.has(selectedNode)) {
      entry.portions = new Map([[selectedNode, entry.portions.get(selectedNode)!]]);
    }
    this.#keep(entry, (portion) => portion.volume !== key);
  }

  #keep(entry: Entry, isKept: (portion: Portion) => boolean): void {
    entry.portions = new Map([...entry.portions].map(([node, each]) => [node, each.filter(isKept)]));
    this.#charge(entry);
    if (entry.promises.size === 0) this.drop(entry.podUid);
  }

  /** Brings the index in line with what the entry says. */
  #charge({ podUid, portions, promises }: Entry): void {
    const wanted = new Map<string, { readonly portion: Portion; readonly node: string }>();
    for (const [node, each] of portions)
      for (const portion of each)
        wanted.set(`tentative ${podUid} ${portion.volume} ${portion.poolKey}`, { portion, node });
    for (const id of [...promises.keys()]) {
      if (wanted.has(id)) continue;
      this.#index.setPromise(id, undefined);
      promises.delete(id);
    }
    for (const [id, { portion, node }] of wanted) {
      if (promises.has(id)) continue;
      this.#index.setPromise(id, promiseOf(id, portion, node));
      promises.set(id, portion);
    }
    // Nobody waits here for room that comes back.
    this.#index.drainReleases();
  }
}

/** A promise that only we stand behind, under a name that no claim has. */
function promiseOf(id: string, { claimUid, poolKey, size }: Portion, nodeName: string) {
  return { id, claimUid, nodeName, size, poolKey, reservations: 1, isStored: false, settled: undefined };
}

function portionsOf({ provisions, inlineVolumes }: Placement): Portion[] {
  return [
    ...provisions.flatMap(({ claim, claimUid, requested: size, pool }) =>
      pool === undefined ? [] : [{ volume: claim, claimUid, poolKey: pool.key, size }],
    ),
    ...inlineVolumes.map(({ volume, requested: size, pool }) => {
      return { volume, claimUid: '', poolKey: pool.key, size };
    }),
  ];
}
