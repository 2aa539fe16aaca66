import type { ClaimRecord } from '../../records/claim-record.ts';
import type { VolumeRecord } from '../../records/volume-record.ts';
import { addSizes, compareSizes, type Size, subtractSizes, zeroSize } from '../../size.ts';
import type { ClaimTable } from '../volumes/claim-table.ts';
import { compareWithCapacityReport, mayBeMissed, settledPromise } from './capacity-report-comparison.ts';
import { expandedId, expansionId } from './promise-ids.ts';
import { type CapacityPromise, isDeducted, type PromiseTable } from './promise-table.ts';
import { poolOfVolume, type VolumePoolSources } from './volume-pools.ts';

interface ExpansionSources extends VolumePoolSources {
  readonly claims: ClaimTable;
  readonly promises: PromiseTable;
  setPromise(id: string, promised: CapacityPromise | undefined): void;
}

/**
 * The promises of expansions. From the request of a larger size until the driver has expanded the volume, its growth counts in the pool that has
 * the volume. The claim and the PersistentVolume are the durable record, from which the promise is rebuilt after a restart.
 *
 * When the PersistentVolume has the new size, the growth is promised under another id until a capacity report of the pool includes it; meanwhile the claim may
 * request still more. After a restart that one is rebuilt from the annotations in which our expander records the expansion.
 */
export class ExpansionPromises {
  readonly #index: ExpansionSources;

  constructor(index: ExpansionSources) {
    this.#index = index;
  }

  /** The claim or its volume has changed, or the pools have. */
  reconcile(claimKey: string): void {
    const { claims, promises } = this.#index;
    const claim = claims.get(claimKey);
    const id = expansionId(claimKey);
    const known = promises.get(id);
    const wanted = claim === undefined ? undefined : this.#pendingOf(claim, id);
    if (known === undefined && wanted === undefined) return;
    if (known !== undefined && wanted !== undefined && isSame(known, wanted)) return;
    this.#index.setPromise(id, wanted);
  }

  /** The driver has expanded the volume: the growth counts until a report includes it. */
  volumeGrown(before: VolumeRecord, volume: VolumeRecord): void {
    const claim = this.#claimOf(volume);
    if (claim === undefined || compareSizes(volume.size, before.size) <= 0) return;
    this.#promiseGrowth(claim, volume, subtractSizes(volume.size, before.size));
  }

  /** No expander works for a deleted claim. */
  claimDeleted(claimKey: string): void {
    for (const id of [expansionId(claimKey), expandedId(claimKey)])
      if (this.#index.promises.get(id) !== undefined) this.#index.setPromise(id, undefined);
  }

  /** After a restart: the growth counts if the report may be older than the expansion. */
  recover(claim: ClaimRecord): void {
    const volume = this.#volumeOf(claim);
    if (volume?.expansion === undefined) return;
    const growth = subtractSizes(volume.size, volume.expansion.from);
    const isKnown = this.#index.promises.get(expandedId(claim.key)) !== undefined;
    if (isKnown || compareSizes(growth, zeroSize) <= 0) return;
    const pool = this.#index.pools.get(this.#poolOf(claim, volume) ?? '');
    if (mayBeMissed(this.#index, pool, volume.expansion.atMs)) this.#promiseGrowth(claim, volume, growth);
  }

  #promiseGrowth(claim: ClaimRecord, volume: VolumeRecord, growth: Size): void {
    const { pools, promises } = this.#index;
    const poolKey = this.#poolOf(claim, volume);
    // The ledger of a drive has the new size before the PersistentVolume does.
    if (poolKey === undefined || pools.get(poolKey)?.drive !== undefined) return;
    const id = expandedId(claim.key);
    const known = promises.get(id);
    const size = known !== undefined && isDeducted(known) ? addSizes(known.size, growth) : growth;
    const existsAtMs = volume.expansion?.atMs;
    const promised = { ...unreserved(id, claim), size, poolKey, isStored: false, existsAtMs };
    const settled = settledPromise(pools, promised);
    this.#index.setPromise(id, settled && compareWithCapacityReport(pools, settled));
  }

  #pendingOf(claim: ClaimRecord, id: string): CapacityPromise | undefined {
    const volume = this.#volumeOf(claim);
    if (volume === undefined || claim.wantedSize === undefined) return undefined;
    const size = subtractSizes(claim.wantedSize, volume.size);
    if (compareSizes(size, zeroSize) <= 0) return undefined;
    const poolKey = this.#poolOf(claim, volume);
    const targetBytes = claim.wantedSize.bytes;
    const pending = { ...unreserved(id, claim), size, poolKey, isStored: true, targetBytes };
    return compareWithCapacityReport(this.#index.pools, pending);
  }

  /** Only the driver of the class has the volume in a pool of the class. */
  #poolOf(claim: ClaimRecord, volume: VolumeRecord): string | undefined {
    const { pools, classes } = this.#index;
    const inLedger = pools.driveOfClaim(claim.uid);
    if (inLedger !== undefined) return inLedger;
    const driver = volume.csi?.driver ?? volume.migrated?.driver;
    const provisioner = classes.get(volume.className)?.provisioner;
    if (driver === undefined || driver !== provisioner) return undefined;
    const planned = { hint: claim.poolHint, nodeName: claim.selectedNode };
    return poolOfVolume(this.#index, volume, planned)?.key;
  }

  #volumeOf({ isBound, volumeName, uid }: ClaimRecord): VolumeRecord | undefined {
    const volume = isBound ? this.#index.volumes.get(volumeName) : undefined;
    return volume?.claim?.uid === uid ? volume : undefined;
  }

  #claimOf({ key, claim }: VolumeRecord): ClaimRecord | undefined {
    const found = claim && this.#index.claims.get(claim.claimKey);
    return found?.uid === claim?.uid && found?.volumeName === key ? found : undefined;
  }
}

function unreserved(id: string, { uid, selectedNode }: ClaimRecord) {
  return { id, claimUid: uid, nodeName: selectedNode, reservations: 0, settled: undefined };
}

function isSame(known: CapacityPromise, wanted: CapacityPromise): boolean {
  return (
    known.claimUid === wanted.claimUid &&
    known.poolKey === wanted.poolKey &&
    compareSizes(known.size, wanted.size) === 0 &&
    known.targetBytes === wanted.targetBytes &&
    isDeducted(known) === isDeducted(wanted)
  );
}
