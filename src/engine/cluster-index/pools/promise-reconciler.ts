import type { ClaimRecord } from '../../records/claim-record.ts';
import type { ClassRecord } from '../../records/class-record.ts';
import type { DriverRecord } from '../../records/driver-record.ts';
import type { NamespaceRecord } from '../../records/namespace-record.ts';
import type { InlineVolume } from '../../records/pod-record.ts';
import type { PodSelectorRecord } from '../../records/pod-selector-record.ts';
import type { PoolRecord } from '../../records/pool-record.ts';
import type { VolumeRecord } from '../../records/volume-record.ts';
import { zeroSize } from '../../size.ts';
import type { ClusterChange } from '../cluster-change.ts';
import type { NodeTable } from '../nodes/node-table.ts';
import type { TopologyTable } from '../nodes/topology-table.ts';
import type { PodTable } from '../pods/pod-table.ts';
import type { Profile } from '../profile.ts';
import type { ClaimTable } from '../volumes/claim-table.ts';
import type { VolumeTable } from '../volumes/volume-table.ts';
import { DeletedClaims } from './deleted-claims.ts';
import { driveUpdated, setCompared } from './drive-promises.ts';
import {
  compareWithFigure,
  mayBeMissed,
  publicationStamp,
  settledPromise,
  waitsForMeasurement,
} from './figure-comparison.ts';
import { InlinePromises } from './inline-promises.ts';
import type { PoolTable } from './pool-table.ts';
import {
  type CapacityPromise,
  deletedClaimId,
  isBeingProvisioned,
  type PromiseTable,
  promiseIfNeeded,
} from './promise-table.ts';
import { spreadGroupOf } from './spread-group.ts';
import { createdVolume, poolOfClaim, poolOfVolume, poolsOfClass } from './volume-pools.ts';

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
 * drops them when the pool's published figure includes the volume or the claim is deleted. Inline volumes have their pod instead of a claim.
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
  readonly #deleted = new DeletedClaims();
  readonly #inline: InlinePromises;

  constructor(index: PromiseSources) {
    this.#index = index;
    this.#inline = new InlinePromises(index, (podKey) => this.#retryLater(podKey));
  }

  changed(change: ClusterChange): void {
    switch (change.kind) {
      case 'PersistentVolumeClaim':
        this.#claimChanged(change.before, change.after);
        return;
      case 'PersistentVolume':
        this.#volumeChanged(change.before, change.after);
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
      if (claim !== undefined) this.#recoverClaim(claim, this.#waitsForNode(claim));
      const pod = this.#index.pods.stored(key);
      if (pod !== undefined) this.#inline.podChanged(undefined, pod, false);
    }
  }

  /** The nodes of the volume, or a node of the name of the selected one, may be created again, with the same pool. */
  #waitsForNode(claim: ClaimRecord): boolean {
    const { nodes, volumes } = this.#index;
    const row = volumes.row(claim.volumeName);
    const isReached = row !== undefined && volumes.topology(row).nodes.size > 0;
    const hasNode = isReached && nodes.row(claim.selectedNode) !== undefined;
    return !hasNode && poolsOfClass(this.#index, claim.className).kind !== 'untracked';
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
    const claim = this.#index.claims.get(promised.id);
    if (claim === undefined) {
      this.#inline.assignDrive(promised);
      return;
    }
    const { nodeName, settled, reservations } = promised;
    const reserved = settled !== undefined || reservations > 0 ? promised.poolKey : undefined;
    const poolKey = poolOfClaim(this.#index, claim, { nodeName, reserved });
    const spreadGroup = spreadGroupOf(this.#index, claim);
    // A settled promise keeps the pool that has disappeared: the pool may be published again.
    if (poolKey === undefined && settled !== undefined) return;
    if (poolKey !== promised.poolKey || spreadGroup !== promised.spreadGroup)
      this.#index.setPromise(
        promised.id,
        compareWithFigure(this.#index.pools, { ...this.#inPool(promised, poolKey), spreadGroup }),
      );
  }

  /** The promise in another pool, whose figure says nothing about it yet. */
  #inPool(promised: CapacityPromise, poolKey: string | undefined): CapacityPromise {
    if (poolKey === promised.poolKey) return promised;
    const moved = { ...promised, poolKey, isInFigure: false };
    if (promised.settled === undefined || poolKey === undefined) return moved;
    const poolVersion = publicationStamp(this.#index.pools.get(poolKey));
    return { ...moved, settled: { ...promised.settled, poolVersion } };
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

  #claimChanged(before: ClaimRecord | undefined, claim: ClaimRecord | undefined): void {
    const key = (claim ?? before)!.key;
    const known = this.#index.promises.get(key);
    if (known !== undefined && known.claimUid !== claim?.uid) this.#claimDeleted(known);
    if (claim === undefined) return;
    const promised = this.#index.promises.get(key);
    if (claim.isBound) {
      if (promised === undefined) {
        if (before?.isBound !== true || before.uid !== claim.uid) this.#recoverClaim(claim, true);
      } else if (promised.settled === undefined) this.#settleClaim(claim, promised);
    } else if (isBeingProvisioned(claim)) {
      this.#storeClaim(claim, promised);
    } else if (promised?.isStored === true) {
      // The provisioner removed selected-node because provisioning failed, so the claim needs no promise any more.
      this.#index.setPromise(key, promiseIfNeeded({ ...promised, isStored: false }));
    }
  }

  /**
   * No volume is provisioned for a deleted claim. But a volume that exists, bound or not, still uses capacity of the pool, whose figure may
   * not include it yet. So its promise continues under an id that a new claim of the same name doesn't use. Watches of different kinds have no
   * common order: the PersistentVolume may be seen later, and then the promise comes back.
   */
  #claimDeleted(promised: CapacityPromise): void {
    this.#index.setPromise(promised.id, undefined);
    const id = deletedClaimId(promised.id, promised.claimUid);
    const unreserved = { ...promised, id, reservations: 0 };
    if (promised.settled !== undefined) setCompared(this.#index, id, unreserved);
    else if (promised.existsAtMs !== undefined) this.#settleDeleted(unreserved);
    else if (promised.isStored) this.#index.recordUndo(this.#deleted.add(unreserved));
  }

  #settleDeleted(promised: CapacityPromise): void {
    setCompared(this.#index, promised.id, settledPromise(this.#index.pools, promised));
  }

  /** The pool may have been added after the claim, so this looks for it once more before the promise waits for the pool's figure. */
  #settleClaim(claim: ClaimRecord, promised: CapacityPromise): void {
    const { nodeName, poolKey: reserved } = promised;
    const poolKey = poolOfClaim(this.#index, claim, { nodeName, reserved });
    const existsAtMs = createdVolume(this.#index.volumes, claim)?.existsAtMs ?? promised.existsAtMs;
    const moved = { ...this.#inPool(promised, poolKey), existsAtMs };
    const settled = settledPromise(this.#index.pools, moved);
    setCompared(this.#index, claim.key, settled);
    // Its node or its pool is gone. If they come back with a figure that is older than the volume, the promise comes back too.
    const isTracked = poolsOfClass(this.#index, claim.className).kind !== 'untracked';
    if (settled === undefined && isTracked) this.#recoverClaim(claim, true);
  }

  /**
   * After a restart: the volume of a bound claim counts as promised if it is younger than the figure of its pool. Without times nothing is
   * known about that, and the figure is trusted.
   */
  #recoverClaim(claim: ClaimRecord, mayRetry: boolean): void {
    const existsAtMs = createdVolume(this.#index.volumes, claim)?.existsAtMs;
    if (!claim.isBound || existsAtMs === undefined) return;
    if (this.#index.promises.get(claim.key) !== undefined) return;
    const nodeName = claim.selectedNode;
    const poolKey = poolOfClaim(this.#index, claim, { nodeName });
    if (poolKey === undefined) {
      if (mayRetry) this.#retryLater(claim.key);
      return;
    }
    if (!mayBeMissed(this.#index, this.#index.pools.get(poolKey), existsAtMs)) return;
    const recovered: CapacityPromise = {
      id: claim.key,
      claimUid: claim.uid,
      nodeName,
      size: claim.request ?? zeroSize,
      poolKey,
      reservations: 0,
      isStored: false,
      settled: { poolVersion: publicationStamp(this.#index.pools.get(poolKey)), sinceMs: undefined },
      existsAtMs,
    };
    this.#index.setPromise(claim.key, compareWithFigure(this.#index.pools, recovered));
  }

  /** The PersistentVolume proves that the volume exists, also while the claim is not bound to it yet. */
  #volumeChanged(before: VolumeRecord | undefined, volume: VolumeRecord | undefined): void {
    const reference = (volume ?? before)!.claim;
    if (reference === undefined) return;
    const { claimKey, uid } = reference;
    const promised = [claimKey, deletedClaimId(claimKey, uid)]
      .map((id) => this.#index.promises.get(id))
      .find((each) => each !== undefined && each.claimUid === uid);
    if (volume === undefined) {
      // The bytes of a volume that no figure has included are free now. A figure that includes it is corrected by the next.
      if (promised?.settled !== undefined && before!.isReclaimed)
        this.#index.setPromise(promised.id, undefined);
      return;
    }
    if (promised !== undefined) {
      this.#volumeSeen(promised, volume);
      return;
    }
    const claim = before === undefined ? this.#index.claims.get(claimKey) : undefined;
    if (claim?.uid === uid) this.#recoverClaim(claim, true);
    const deleted = this.#deleted.get(uid);
    const { existsAtMs } = volume;
    if (deleted === undefined || existsAtMs === undefined) return;
    const poolKey = this.#poolWith(volume, deleted);
    this.#settleDeleted({ ...this.#inPool(deleted, poolKey), existsAtMs });
  }

  /** The volume says since when it has existed, and where it is. */
  #volumeSeen(promised: CapacityPromise, volume: VolumeRecord): void {
    const { existsAtMs } = volume;
    if (existsAtMs === undefined) return;
    const poolKey = this.#poolWith(volume, promised);
    if (existsAtMs === promised.existsAtMs && poolKey === promised.poolKey) return;
    const moved = { ...this.#inPool(promised, poolKey), existsAtMs };
    this.#index.setPromise(promised.id, compareWithFigure(this.#index.pools, moved));
  }

  /** All fields except the reservations come from the claim. */
  #storeClaim(claim: ClaimRecord, promised: CapacityPromise | undefined): void {
    const reservations = promised?.reservations ?? 0;
    const nodeName = claim.selectedNode;
    const reserved = reservations > 0 ? promised?.poolKey : undefined;
    const poolKey = poolOfClaim(this.#index, claim, { nodeName, reserved });
    const stored: CapacityPromise = {
      id: claim.key,
      claimUid: claim.uid,
      nodeName,
      size: claim.request ?? zeroSize,
      poolKey,
      reservations,
      isStored: true,
      settled: undefined,
      existsAtMs: createdVolume(this.#index.volumes, claim)?.existsAtMs,
      isInFigure: promised?.poolKey === poolKey && promised?.isInFigure === true,
      spreadGroup: reservations > 0 ? promised?.spreadGroup : spreadGroupOf(this.#index, claim),
    };
    this.#index.setPromise(claim.key, compareWithFigure(this.#index.pools, stored));
  }

  /** The pool that has the volume of a promise. */
  #poolWith(
    volume: VolumeRecord,
    { claimUid, nodeName, id, poolKey, settled, reservations }: CapacityPromise,
  ): string | undefined {
    const key = settled !== undefined || reservations > 0 ? poolKey : undefined;
    const hint = this.#index.claims.get(id)?.poolHint ?? '';
    const inLedger = this.#index.pools.driveOfClaim(claimUid);
    return inLedger ?? poolOfVolume(this.#index, volume, { key, hint, nodeName })?.key;
  }

  /** See `InlinePromises`. */
  inlinePool(volume: InlineVolume, nodeName: string): PoolRecord | undefined {
    return this.#inline.poolOf(volume, nodeName);
  }

  /** A figure with a time ends the promises of volumes that existed when it was measured; without one, any change of the object counts. */
  #poolUpdated(pool: PoolRecord): void {
    for (const id of [...this.#index.promises.ofPool(pool.key)]) {
      const promised = this.#index.promises.get(id)!;
      if (pool.measuredAtMs !== undefined) {
        const compared = compareWithFigure(this.#index.pools, promised);
        if (compared !== promised) this.#index.setPromise(id, compared);
      } else if (promised.settled !== undefined && !this.#isKeptByObjects(promised)) {
        // The promise may have waited for a measurement; now its time may be up.
        this.#setState(this.#assignedState, Number.NEGATIVE_INFINITY);
        if (promised.settled.poolVersion !== publicationStamp(pool) && promised.isInFigure !== true)
          this.#index.setPromise(id, undefined);
      }
    }
  }

  /** A promise that waits for a measurement does not expire: its publisher says when it measured, so the figure will come. */
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
    // An inline volume that does not exist yet is in no figure.
    if (existsAtMs === undefined) return claimUid === '';
    const isClaimed = claimUid === '' || this.#index.claims.get(id)?.uid === claimUid;
    return isClaimed && mayBeMissed(this.#index, this.#index.pools.get(poolKey), existsAtMs);
  }
}

function hasSameTemplates(a: PodSelectorRecord | undefined, b: PodSelectorRecord | undefined): boolean {
  return String(a?.claimTemplates ?? '') === String(b?.claimTemplates ?? '');
}
