import type { InlineVolume, PodRecord } from '../../records/pod-record.ts';
import type { PoolRecord } from '../../records/pool-record.ts';
import { zeroSize } from '../../size.ts';
import type { NodeTable } from '../nodes/node-table.ts';
import type { PodTable } from '../pods/pod-table.ts';
import type { Profile } from '../profile.ts';
import {
  compareWithCapacityReport,
  mayBeMissed,
  publicationStamp,
  settledPromise,
} from './capacity-report-comparison.ts';
import { compareWithEntries, driveWithMostFreeBytes } from './inline-on-drives.ts';
import { lookUpInlinePools } from './pool-lookup.ts';
import type { PoolTable } from './pool-table.ts';
import { inlineVolumeId, inlineVolumeOf } from './promise-ids.ts';
import { type CapacityPromise, type PromiseTable, promiseIfNeeded } from './promise-table.ts';

interface InlineSources {
  readonly profile: Profile;
  readonly nodes: NodeTable;
  readonly pods: PodTable;
  readonly pools: PoolTable;
  readonly promises: PromiseTable;
  setPromise(id: string, promised: CapacityPromise | undefined): void;
}

/**
 * The promises of inline volumes. The assigned pod is their durable record, from which they are rebuilt after a restart. In a published pool
 * a promise ends with a capacity report that includes the volume; on a drive it ends with the pod.
 */
export class InlinePromises {
  readonly #index: InlineSources;
  readonly #retryLater: (podKey: string) => void;

  /** `retryLater` is called with the key of a pod whose pool is not known yet. */
  constructor(index: InlineSources, retryLater: (podKey: string) => void) {
    this.#index = index;
    this.#retryLater = retryLater;
  }

  podChanged(before: PodRecord | undefined, pod: PodRecord | undefined, mayRetry = true): void {
    const { inlineVolumes } = (pod ?? before)!;
    if (inlineVolumes.length === 0 || !this.#index.profile.checkInlineVolumes) return;
    if (before !== undefined && before.uid !== pod?.uid) this.#drop(before);
    if (pod === undefined) return;
    if (pod.nodeName === '' || pod.isFinished) {
      this.#drop(pod);
      return;
    }
    const isNew = before === undefined || before.nodeName === '' || before.uid !== pod.uid;
    for (const volume of inlineVolumes) {
      if (volume.size === undefined) continue;
      const known = this.#index.promises.get(inlineVolumeId(pod.key, volume.volumeName));
      if (known !== undefined) this.#store(pod, volume, known);
      else if (isNew) this.#recover(pod, volume, mayRetry);
    }
    if (inlineVolumes.some(({ drive }) => drive !== undefined)) compareWithEntries(this.#index, pod.key);
  }

  /** The pool that an inline volume on the node counts against: the first by name, or the drive with the most free bytes. */
  poolOf(volume: InlineVolume, nodeName: string): PoolRecord | undefined {
    const { pools, nodes } = this.#index;
    const found = lookUpInlinePools(this.#index, volume);
    const node = nodes.row(nodeName);
    if (node === undefined || found.kind !== 'pools') return undefined;
    const rows = pools.partitionFor(found.entry, nodes.rowCount).itemsAt(node);
    const row = found.entry.isOfDrives ? driveWithMostFreeBytes(pools, rows) : rows[0];
    return row === undefined ? undefined : pools.record(row);
  }

  /** An inline volume stays on the drive that was planned as long as there is such a drive. */
  assignDrive(promised: CapacityPromise): void {
    const { pools, pods } = this.#index;
    if (promised.poolKey !== undefined && pools.get(promised.poolKey) !== undefined) return;
    const inline = inlineVolumeOf(promised.id);
    const pod = inline && pods.stored(inline.podKey);
    const volume = pod?.inlineVolumes.find(({ volumeName }) => volumeName === inline?.volumeName);
    if (volume?.drive === undefined) return;
    const poolKey = this.poolOf(volume, promised.nodeName)?.key;
    if (poolKey !== promised.poolKey)
      this.#index.setPromise(promised.id, { ...promised, poolKey, isInCapacityReport: false });
    compareWithEntries(this.#index, inline!.podKey);
  }

  #drop({ key, inlineVolumes }: PodRecord): void {
    for (const { volumeName } of inlineVolumes) {
      const id = inlineVolumeId(key, volumeName);
      const known = this.#index.promises.get(id);
      if (known?.isStored === true)
        this.#index.setPromise(id, promiseIfNeeded({ ...known, isStored: false, settled: undefined }));
    }
  }

  #store({ nodeName, volumesExistAtMs }: PodRecord, volume: InlineVolume, known: CapacityPromise): void {
    const isElsewhere = known.nodeName !== nodeName || known.poolKey === undefined;
    const poolKey = isElsewhere ? this.poolOf(volume, nodeName)?.key : known.poolKey;
    if (this.#isOnDrive(poolKey)) {
      if (!known.isStored || isElsewhere)
        this.#index.setPromise(known.id, { ...known, nodeName, poolKey, isStored: true, settled: undefined });
      return;
    }
    const existsAtMs = volumesExistAtMs;
    if (known.isStored && !isElsewhere && known.existsAtMs === existsAtMs) return;
    const stored = { ...known, nodeName, poolKey, existsAtMs };
    const settled = known.settled === undefined ? settledPromise(this.#index.pools, stored) : stored;
    this.#index.setPromise(
      known.id,
      settled && compareWithCapacityReport(this.#index.pools, { ...settled, isStored: true }),
    );
  }

  /**
   * After a restart, or for a pod of another scheduler. A volume that does not exist yet is in no report; one that exists counts as promised
   * if it is younger than the report.
   */
  #recover({ key, nodeName, volumesExistAtMs }: PodRecord, volume: InlineVolume, mayRetry: boolean): void {
    const pool = this.poolOf(volume, nodeName);
    if (pool === undefined) {
      if (mayRetry) this.#retryLater(key);
      return;
    }
    const isOnDrive = pool.drive !== undefined;
    if (!isOnDrive && volumesExistAtMs !== undefined && !mayBeMissed(this.#index, pool, volumesExistAtMs))
      return;
    const id = inlineVolumeId(key, volume.volumeName);
    const recovered: CapacityPromise = {
      id,
      claimUid: '',
      nodeName,
      size: volume.size ?? zeroSize,
      poolKey: pool.key,
      reservations: 0,
      isStored: true,
      // The ledger of a drive shows the volume, so the promise of one does not end with time.
      settled: isOnDrive ? undefined : { poolVersion: publicationStamp(pool), sinceMs: undefined },
      existsAtMs: volumesExistAtMs,
    };
    this.#index.setPromise(id, compareWithCapacityReport(this.#index.pools, recovered));
  }

  #isOnDrive(poolKey: string | undefined): boolean {
    return poolKey !== undefined && this.#index.pools.get(poolKey)?.drive !== undefined;
  }
}
