import type { ClusterChange } from '../engine/cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../engine/cluster-index/cluster-index.ts';
import { addTo, removeFrom } from '../engine/maps.ts';
import type { Placement } from '../engine/plan.ts';
import type { Size } from '../engine/size.ts';

/** Capacity that one volume of the pod would take on one node. */
interface PoolShare {
  /** The claim's key; for an inline volume, an id that no claim has. */
  readonly volume: string;
  readonly claimUid: string;
  readonly poolKey: string;
  readonly size: Size;
}

/** When a reservation expires, and what its owner needs to know about it. */
export interface TentativeTerms {
  readonly untilMs: number;
  /** The last reason that kube-scheduler had written for refusing the pod when the reservation was made. */
  readonly lastRefusal: string;
}

interface Entry {
  readonly podKey: string;
  readonly podUid: string;
  readonly claimKeys: readonly string[];
  readonly terms: TentativeTerms;
  /** The shares of pools that the pod would take, by node. It will be bound to at most one of the nodes. */
  shares: ReadonlyMap<string, readonly PoolShare[]>;
  /** The promises in the index for it, by id. */
  readonly promises: Map<string, PoolShare>;
}

/** Beyond this many pods the oldest reservations are dropped: kube-scheduler finished with those pods long ago. */
const entriesMax = 10_000;

/**
 * Capacity that kube-scheduler is about to use. kube-scheduler asks which nodes fit and does not say which one it takes. Until the cluster
 * shows it, all of them are charged: each claim of the pod is charged once to every pool that its volume may come from. For a moment that
 * reserves too much rather than too little.
 *
 * A reservation ends when the claim gets its selected-node annotation, because from then on the index itself counts the promise; when the
 * pod gets its node; when the pod ends; and when its time is up.
 *
 * Only the capacity of pools is reserved. kube-scheduler itself accounts for existing volumes, attach slots and everything else for its own
 * pods in flight, and knows where they go.
 */
export class TentativeReservations {
  readonly #index: ClusterIndex;
  /** Entries by the pod's uid, oldest first. */
  readonly #entries = new Map<string, Entry>();
  readonly #byClaim = new Map<string, Set<Entry>>();
  readonly #byPod = new Map<string, Entry>();

  constructor(index: ClusterIndex) {
    this.#index = index;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Reserves for a pod that may go to any of these. Replaces an earlier reservation of the pod. */
  reserve(placements: readonly Placement[], terms: TentativeTerms): void {
    const [first] = placements;
    if (first === undefined) return;
    const { key: podKey, uid: podUid } = first.pod;
    this.release(podUid);
    const shares = new Map(placements.map((placement) => [placement.node, sharesOf(placement)]));
    if ([...shares.values()].every((each) => each.length === 0)) return;
    const claimKeys = first.pod.claims.map(({ key }) => key);
    const entry: Entry = { podKey, podUid, claimKeys, terms, shares, promises: new Map() };
    this.#entries.set(podUid, entry);
    this.#byPod.set(podKey, entry);
    for (const key of claimKeys) addTo(this.#byClaim, key, entry);
    this.#charge(entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= entriesMax) break;
      this.release(oldest);
    }
  }

  termsOf(podUid: string): TentativeTerms | undefined {
    return this.#entries.get(podUid)?.terms;
  }

  release(podUid: string): void {
    const entry = this.#entries.get(podUid);
    if (entry === undefined) return;
    this.#entries.delete(podUid);
    if (this.#byPod.get(entry.podKey) === entry) this.#byPod.delete(entry.podKey);
    for (const key of entry.claimKeys) removeFrom(this.#byClaim, key, entry);
    entry.shares = new Map();
    this.#charge(entry);
  }

  /** Releases reservations whose time is up. */
  expire(nowMs: number): void {
    for (const { podUid, terms } of this.#entries.values()) if (terms.untilMs <= nowMs) this.release(podUid);
  }

  /** The result of `query` on the index without any tentative reservation. */
  ignoring<T>(query: () => T): T {
    const savepoint = this.#index.savepoint();
    try {
      for (const { promises } of this.#entries.values())
        for (const id of promises.keys()) this.#index.setPromise(id, undefined);
      return query();
    } finally {
      this.#index.rollback(savepoint);
    }
  }

  /** Ends the reservations that the change has settled. */
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
    this.release(entry.podUid);
  }

  /** The index promises capacity to the inline volumes of assigned pods. Only this reservation knows from which pool. */
  #settleInline({ shares }: Entry, nodeName: string): void {
    for (const { claimUid, volume, poolKey } of shares.get(nodeName) ?? []) {
      const promised = claimUid === '' ? this.#index.promises.get(volume) : undefined;
      if (promised !== undefined) this.#index.setPromise(volume, { ...promised, poolKey });
    }
  }

  #claimChanged(entry: Entry, key: string): void {
    const claim = this.#index.claims.get(key);
    const isOurs = [...entry.promises.values()].some(({ claimUid }) => claimUid === claim?.uid);
    if (claim === undefined || !isOurs) {
      this.#filterShares(entry, (share) => share.volume !== key);
      return;
    }
    if (claim.selectedNode === '' && !claim.isBound) return;
    const { selectedNode } = claim;
    // The pod's other volumes go to the same node.
    if (entry.shares.has(selectedNode)) {
      entry.shares = new Map([[selectedNode, entry.shares.get(selectedNode)!]]);
    }
    this.#filterShares(entry, (share) => share.volume !== key);
  }

  #filterShares(entry: Entry, isKept: (share: PoolShare) => boolean): void {
    entry.shares = new Map([...entry.shares].map(([node, each]) => [node, each.filter(isKept)]));
    this.#charge(entry);
    if (entry.promises.size === 0) this.release(entry.podUid);
  }

  /** Updates the promises in the index to the entry's shares. */
  #charge({ podUid, shares, promises }: Entry): void {
    const wanted = new Map<string, { readonly share: PoolShare; readonly node: string }>();
    for (const [node, each] of shares)
      for (const share of each)
        wanted.set(`tentative ${podUid} ${share.volume} ${share.poolKey}`, { share, node });
    for (const id of [...promises.keys()]) {
      if (wanted.has(id)) continue;
      this.#index.setPromise(id, undefined);
      promises.delete(id);
    }
    for (const [id, { share, node }] of wanted) {
      if (promises.has(id)) continue;
      this.#index.setPromise(id, promiseOf(id, share, node));
      promises.set(id, share);
    }
    // kube-scheduler queues the pods itself, so no pod waits here for released capacity.
    this.#index.drainReleases();
  }
}

/** A promise that exists only in this process, under an id that no claim has. */
function promiseOf(id: string, { claimUid, poolKey, size }: PoolShare, nodeName: string) {
  return { id, claimUid, nodeName, size, poolKey, reservations: 1, isStored: false, settled: undefined };
}

function sharesOf({ provisions, inlineVolumes }: Placement): PoolShare[] {
  return [
    ...provisions.flatMap(({ claim, claimUid, requested: size, pool }) =>
      pool === undefined ? [] : [{ volume: claim, claimUid, poolKey: pool.key, size }],
    ),
    ...inlineVolumes.map(({ volume, requested: size, pool }) => {
      return { volume, claimUid: '', poolKey: pool.key, size };
    }),
  ];
}
