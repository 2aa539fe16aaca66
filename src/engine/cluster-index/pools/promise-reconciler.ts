import type { ClassRecord } from '../../records/class-record.ts';
import type { DriverRecord } from '../../records/driver-record.ts';
import type { NamespaceRecord } from '../../records/namespace-record.ts';
import type { InlineVolume } from '../../records/pod-record.ts';
import type { PodSelectorRecord } from '../../records/pod-selector-record.ts';
import type { PoolRecord } from '../../records/pool-record.ts';
import type { ClusterChange } from '../cluster-change.ts';
import type { NodeTable } from '../nodes/node-table.ts';
import type { TopologyTable } from '../nodes/topology-table.ts';
import type { PodTable } from '../pods/pod-table.ts';
import type { Profile } from '../profile.ts';
import type { ClaimTable } from '../volumes/claim-table.ts';
import type { VolumeTable } from '../volumes/volume-table.ts';
import {
  compareWithCapacityReport,
  mayBeMissed,
  publicationStamp,
  waitsForMeasurement,
} from './capacity-report-comparison.ts';
import { ClaimPromises } from './claim-promises.ts';
import { driveUpdated } from './drive-promises.ts';
import { InlinePromises } from './inline-promises.ts';
import type { PoolTable } from './pool-table.ts';
import { expansionOf } from './promise-ids.ts';
import type { CapacityPromise, PromiseTable } from './promise-table.ts';

export interface PromiseOptions {
  /**
   * True by default, for schedulers. False: promises are those that follow from the objects alone, so that two indexes of the same objects say the same,
   * whatever they have seen before.
   */
  readonly remembersPromises?: boolean;
}

interface PromiseSources extends Required<PromiseOptions> {
  readonly profile: Profile;
  readonly nodes: NodeTable;
  readonly topologies: TopologyTable;
  readonly claims: ClaimTable;
  readonly volumes: VolumeTable;
  readonly pods: PodTable;
  readonly pools: PoolTable;
  readonly promises: PromiseTable;
  readonly classes: ReadonlyMap<string, ClassRecord>;
  readonly namespaces: ReadonlyMap<string, NamespaceRecord>;
  readonly drivers: ReadonlyMap<string, DriverRecord>;
  readonly podSelectors: { readonly StatefulSet: ReadonlyMap<string, PodSelectorRecord> };
  setPromise(id: string, promised: CapacityPromise | undefined): void;
  recordUndo(undo: () => void): void;
}

/**
 * Reconciles promises with the cluster: creates them from claims with a selected node, settles them when the claim is bound, and
 * drops them when the pool's published capacity report includes the volume or the claim is deleted. Inline volumes have their pod instead of a claim.
 *
 * Every write goes through `setPromise`, so that a rollback undoes promises together with their cause.
 */
export class PromiseReconciler {
  readonly #index: PromiseSources;
  /** Versions of pools, topologies, classes and drivers. When they change, promises without a reservation are assigned again. */
  #assignedState = '';
  /** No settled promise expires before. */
  #nextExpiryMs = Number.POSITIVE_INFINITY;
  /** Keys of bound claims and assigned pods whose pool was unknown when they were seen. The next plan after a change of the pools looks again. */
  readonly #withoutPool = new Set<string>();
  #catalogVersion = 0;
  readonly #inline: InlinePromises;
  readonly #claims: ClaimPromises;

  constructor(index: PromiseSources) {
    this.#index = index;
    this.#inline = new InlinePromises(index, (podKey) => this.#retryLater(podKey));
    this.#claims = new ClaimPromises(index, (claimKey) => this.#retryLater(claimKey));
  }

  changed(change: ClusterChange): void {
    switch (change.kind) {
      case 'PersistentVolumeClaim':
        this.#claims.claimChanged(change.before, change.after);
        return;
      case 'PersistentVolume':
        this.#claims.volumeChanged(change.before, change.after);
        return;
      case 'Pod':
        this.#inline.podChanged(change.before, change.after);
        return;
      case 'CSIStorageCapacity':
        if (change.after !== undefined) this.#poolUpdated(change.after);
        return;
      case 'DriverCapacity':
        for (const { after } of change.difference.pools) if (after !== undefined) this.#poolUpdated(after);
        return;
      case 'Drive':
        if (change.after !== undefined) driveUpdated(this.#index, change.before, change.after);
        return;
      case 'StorageClass':
      case 'CSIDriver':
        this.#catalogVersion += 1;
        return;
      case 'StatefulSet':
        // The group of a claim may follow from the templates of its set.
        if (!hasSameTemplates(change.before, change.after)) this.#catalogVersion += 1;
        return;
      default:
    }
  }

  settle(nowMs: number): void {
    const { promises, pools, topologies, nodes } = this.#index;
    const state = `${pools.structureVersion} ${topologies.version} ${nodes.size} ${this.#catalogVersion}`;
    const hasMoved = state !== this.#assignedState;
    if (hasMoved) this.#recover();
    if (!hasMoved && promises.unseenCount === 0 && nowMs <= this.#nextExpiryMs) return;
    this.#setState(state, Number.POSITIVE_INFINITY);
    for (const { id } of [...promises.all()]) {
      if (hasMoved && this.#canReassign(promises.get(id)!)) this.assignPool(promises.get(id)!);
      const promised = promises.get(id);
      if (promised?.settled !== undefined) this.#expire(promised, nowMs);
    }
  }

  /** Volumes that were seen before their pool. */
  #recover(): void {
    if (this.#withoutPool.size === 0) return;
    const keys = [...this.#withoutPool];
    this.#withoutPool.clear();
    this.#index.recordUndo(() => {
      for (const key of keys) this.#withoutPool.add(key);
    });
    for (const key of keys) {
      const claim = this.#index.claims.get(key);
      if (claim !== undefined) this.#claims.recover(claim);
      const pod = this.#index.pods.stored(key);
      if (pod !== undefined) this.#inline.podChanged(undefined, pod, false);
    }
  }

  #retryLater(key: string): void {
    if (this.#withoutPool.has(key)) return;
    this.#withoutPool.add(key);
    this.#index.recordUndo(() => this.#withoutPool.delete(key));
  }

  /** A reservation has chosen its pool. Another pool is assigned only if it chose none, if the pool is deleted, or if the volume exists. */
  #canReassign({ reservations, poolKey, existsAtMs }: CapacityPromise): boolean {
    const isChosen = reservations > 0 && poolKey !== undefined && existsAtMs === undefined;
    return !isChosen || this.#index.pools.get(poolKey) === undefined;
  }

  /** Assigns the promise to the pool that a restart would choose. */
  assignPool(promised: CapacityPromise): void {
    const claim = this.#index.claims.get(expansionOf(promised.id)?.claimKey ?? promised.id);
    if (claim === undefined) this.#inline.assignDrive(promised);
    else this.#claims.assignPool(claim, promised);
  }

  #setState(assignedState: string, nextExpiryMs: number): void {
    const [stateBefore, expiryBefore] = [this.#assignedState, this.#nextExpiryMs];
    this.#index.recordUndo(() => {
      this.#assignedState = stateBefore;
      this.#nextExpiryMs = expiryBefore;
    });
    this.#assignedState = assignedState;
    this.#nextExpiryMs = nextExpiryMs;
  }

  /** See `InlinePromises`. */
  inlinePool(volume: InlineVolume, nodeName: string): PoolRecord | undefined {
    return this.#inline.poolOf(volume, nodeName);
  }

  /** A report with a time ends the promises of volumes that existed when it was measured; without one, any change of the object counts. */
  #poolUpdated(pool: PoolRecord): void {
    for (const id of [...this.#index.promises.ofPool(pool.key)]) {
      const promised = this.#index.promises.get(id)!;
      const growing = expansionOf(id);
      // Without a time, an expansion ends with the first report after it.
      const hasTimes =
        pool.measuredAtMs !== undefined && (growing === undefined || promised.existsAtMs !== undefined);
      if (hasTimes || growing?.isDone === false) {
        const compared = compareWithCapacityReport(this.#index.pools, promised);
        if (compared !== promised) this.#index.setPromise(id, compared);
      } else if (promised.settled !== undefined && !this.#isKeptByObjects(promised)) {
        // The promise may have waited for a measurement; now its time may be up.
        this.#setState(this.#assignedState, Number.NEGATIVE_INFINITY);
        if (promised.settled.poolVersion !== publicationStamp(pool) && promised.isInCapacityReport !== true)
          this.#index.setPromise(id, undefined);
      }
    }
  }

  /** A promise that waits for a measurement does not expire: its publisher says when it measured, so the report will come. */
  #expire(promised: CapacityPromise, nowMs: number): void {
    const { settledPromiseMaxMs } = this.#index.profile;
    if (!this.#index.remembersPromises && !this.#wouldBeRecovered(promised)) {
      this.#index.setPromise(promised.id, undefined);
      return;
    }
    const sinceMs = promised.settled!.sinceMs ?? nowMs;
    if (promised.settled!.sinceMs === undefined)
      this.#index.setPromise(promised.id, { ...promised, settled: { ...promised.settled!, sinceMs } });
    if (waitsForMeasurement(this.#index.pools, promised) || this.#isKeptByObjects(promised)) return;
    if (nowMs - sinceMs > settledPromiseMaxMs) this.#index.setPromise(promised.id, undefined);
    else this.#nextExpiryMs = Math.min(this.#nextExpiryMs, sinceMs + settledPromiseMaxMs);
  }

  /** For an index that does not remember: time ends no promise that the objects still give. */
  #isKeptByObjects(promised: CapacityPromise): boolean {
    return !this.#index.remembersPromises && this.#wouldBeRecovered(promised);
  }

  /** Whether an index that is built of the objects now would have the promise of an existing volume. */
  #wouldBeRecovered({ id, claimUid, poolKey, existsAtMs }: CapacityPromise): boolean {
    if (poolKey === undefined) return false;
    // An inline volume that does not exist yet is in no report.
    if (existsAtMs === undefined) return claimUid === '';
    const claimKey = expansionOf(id)?.claimKey ?? id;
    const isClaimed = claimUid === '' || this.#index.claims.get(claimKey)?.uid === claimUid;
    return isClaimed && mayBeMissed(this.#index, this.#index.pools.get(poolKey), existsAtMs);
  }
}

function hasSameTemplates(a: PodSelectorRecord | undefined, b: PodSelectorRecord | undefined): boolean {
  return String(a?.claimTemplates ?? '') === String(b?.claimTemplates ?? '');
}
