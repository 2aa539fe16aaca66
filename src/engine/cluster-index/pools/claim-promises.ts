import type { ClaimRecord } from '../../records/claim-record.ts';
import type { NamespaceRecord } from '../../records/namespace-record.ts';
import type { PodSelectorRecord } from '../../records/pod-selector-record.ts';
import type { VolumeRecord } from '../../records/volume-record.ts';
import { zeroSize } from '../../size.ts';
import type { PodTable } from '../pods/pod-table.ts';
import type { ClaimTable } from '../volumes/claim-table.ts';
import {
  compareWithCapacityReport,
  mayBeMissed,
  publicationStamp,
  settledPromise,
} from './capacity-report-comparison.ts';
import { DeletedClaims } from './deleted-claims.ts';
import { setCompared } from './drive-promises.ts';
import { ExpansionPromises } from './expansion-promises.ts';
import { spreadGroupOf } from './policies/spread-group.ts';
import { deletedClaimId, expansionOf } from './promise-ids.ts';
import {
  type CapacityPromise,
  isBeingProvisioned,
  type PromiseTable,
  promiseIfNeeded,
} from './promise-table.ts';
import {
  createdSize,
  poolOfClaim,
  poolOfVolume,
  poolsOfClass,
  type VolumePoolSources,
  volumeCreatedFor,
} from './volume-pools.ts';

interface ClaimSources extends VolumePoolSources {
  readonly claims: ClaimTable;
  readonly pods: PodTable;
  readonly promises: PromiseTable;
  readonly namespaces: ReadonlyMap<string, NamespaceRecord>;
  readonly podSelectors: { readonly StatefulSet: ReadonlyMap<string, PodSelectorRecord> };
  setPromise(id: string, promised: CapacityPromise | undefined): void;
  recordUndo(undo: () => void): void;
}

/**
 * The promises of claims: created when a node is selected, moved to the pool that has the volume once it exists, and settled when the claim is
 * bound. The claim and the PersistentVolume are their durable record, from which they are rebuilt after a restart.
 */
export class ClaimPromises {
  readonly #index: ClaimSources;
  readonly #retryLater: (claimKey: string) => void;
  readonly #deleted = new DeletedClaims();
  readonly #expansions: ExpansionPromises;

  /** `retryLater` is called with the key of a claim whose pool is not known yet. */
  constructor(index: ClaimSources, retryLater: (claimKey: string) => void) {
    this.#index = index;
    this.#retryLater = retryLater;
    this.#expansions = new ExpansionPromises(index);
  }

  claimChanged(before: ClaimRecord | undefined, claim: ClaimRecord | undefined): void {
    const key = (claim ?? before)!.key;
    const known = this.#index.promises.get(key);
    if (known !== undefined && known.claimUid !== claim?.uid) this.#claimDeleted(known);
    if (before !== undefined && before.uid !== claim?.uid) this.#expansions.claimDeleted(key);
    if (claim === undefined) return;
    this.#expansions.reconcile(key);
    if (before === undefined) this.#recoverExpansion(claim);
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

  /** The PersistentVolume proves that the volume exists, also while the claim is not bound to it yet. */
  volumeChanged(before: VolumeRecord | undefined, volume: VolumeRecord | undefined): void {
    const reference = (volume ?? before)!.claim;
    if (reference === undefined) return;
    const { claimKey, uid } = reference;
    this.#growthChanged(claimKey, before, volume);
    const promised = [claimKey, deletedClaimId(claimKey, uid)]
      .map((id) => this.#index.promises.get(id))
      .find((each) => each !== undefined && each.claimUid === uid);
    if (volume === undefined) {
      // The bytes of a volume that no capacity report has included are free now. A report that includes it is corrected by the next.
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

  /** The pools have changed since the claim was seen. */
  recover(claim: ClaimRecord): void {
    this.#recoverClaim(claim, this.#waitsForNode(claim));
    this.#expansions.recover(claim);
  }

  /** Assigns the promise of the claim, or of its expansion, to the pool that a restart would choose. */
  assignPool(claim: ClaimRecord, promised: CapacityPromise): void {
    if (expansionOf(promised.id) !== undefined) {
      this.#expansions.reconcile(claim.key);
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
        compareWithCapacityReport(this.#index.pools, { ...this.#inPool(promised, poolKey), spreadGroup }),
      );
  }

  /**
   * No volume is provisioned for a deleted claim. But a volume that exists, bound or not, still uses capacity of the pool, whose report may
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

  /** The pool may have been added after the claim, so this looks for it once more before the promise waits for the pool's report. */
  #settleClaim(claim: ClaimRecord, promised: CapacityPromise): void {
    const { nodeName, poolKey: reserved } = promised;
    const poolKey = poolOfClaim(this.#index, claim, { nodeName, reserved });
    const existsAtMs = volumeCreatedFor(this.#index.volumes, claim)?.existsAtMs ?? promised.existsAtMs;
    const moved = { ...this.#inPool(promised, poolKey), existsAtMs };
    const settled = settledPromise(this.#index.pools, moved);
    setCompared(this.#index, claim.key, settled);
    // Its node or its pool no longer exists. If they come back with a report that is older than the volume, the promise comes back too.
    const isTracked = poolsOfClass(this.#index, claim.className).kind !== 'untracked';
    if (settled === undefined && isTracked) this.#recoverClaim(claim, true);
  }

  /**
   * After a restart: the volume of a bound claim counts as promised if it is younger than the report of its pool. Without times nothing is
   * known about that, and the report is trusted.
   */
  #recoverClaim(claim: ClaimRecord, mayRetry: boolean): void {
    const volume = volumeCreatedFor(this.#index.volumes, claim);
    const existsAtMs = volume?.existsAtMs;
    if (!claim.isBound || volume === undefined || existsAtMs === undefined) return;
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
      size: createdSize(claim, volume),
      poolKey,
      reservations: 0,
      isStored: false,
      settled: { poolVersion: publicationStamp(this.#index.pools.get(poolKey)), sinceMs: undefined },
      existsAtMs,
    };
    this.#index.setPromise(claim.key, compareWithCapacityReport(this.#index.pools, recovered));
  }

  /** The pool may be added after the claim. */
  #recoverExpansion(claim: ClaimRecord): void {
    if (this.#index.volumes.get(claim.volumeName)?.expansion === undefined) return;
    this.#expansions.recover(claim);
    this.#retryLater(claim.key);
  }

  #growthChanged(claimKey: string, before: VolumeRecord | undefined, volume: VolumeRecord | undefined): void {
    if (before !== undefined && volume !== undefined) this.#expansions.volumeGrown(before, volume);
    this.#expansions.reconcile(claimKey);
    const claim = this.#index.claims.get(claimKey);
    if (before === undefined && claim !== undefined) this.#recoverExpansion(claim);
  }

  /** The volume says since when it has existed, and where it is. */
  #volumeSeen(promised: CapacityPromise, volume: VolumeRecord): void {
    const { existsAtMs } = volume;
    if (existsAtMs === undefined) return;
    const poolKey = this.#poolWith(volume, promised);
    if (existsAtMs === promised.existsAtMs && poolKey === promised.poolKey) return;
    const moved = { ...this.#inPool(promised, poolKey), existsAtMs };
    this.#index.setPromise(promised.id, compareWithCapacityReport(this.#index.pools, moved));
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
      existsAtMs: volumeCreatedFor(this.#index.volumes, claim)?.existsAtMs,
      isInCapacityReport: promised?.poolKey === poolKey && promised?.isInCapacityReport === true,
      spreadGroup: reservations > 0 ? promised?.spreadGroup : spreadGroupOf(this.#index, claim),
    };
    this.#index.setPromise(claim.key, compareWithCapacityReport(this.#index.pools, stored));
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

  /** The promise in another pool, whose report says nothing about it yet. */
  #inPool(promised: CapacityPromise, poolKey: string | undefined): CapacityPromise {
    if (poolKey === promised.poolKey) return promised;
    const moved = { ...promised, poolKey, isInCapacityReport: false };
    if (promised.settled === undefined || poolKey === undefined) return moved;
    const poolVersion = publicationStamp(this.#index.pools.get(poolKey));
    return { ...moved, settled: { ...promised.settled, poolVersion } };
  }

  /** The nodes of the volume, or a node of the name of the selected one, may be created again, with the same pool. */
  #waitsForNode(claim: ClaimRecord): boolean {
    const { nodes, volumes } = this.#index;
    const row = volumes.row(claim.volumeName);
    const isReached = row !== undefined && volumes.topology(row).nodes.size > 0;
    const hasNode = isReached && nodes.row(claim.selectedNode) !== undefined;
    return !hasNode && poolsOfClass(this.#index, claim.className).kind !== 'untracked';
  }
}
