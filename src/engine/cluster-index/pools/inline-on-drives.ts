import { compareFreeBytes } from '../../drives/drive-rule.ts';
import type { InlineVolume, PodRecord } from '../../records/pod-record.ts';
import { wholeBytesOf, zeroSize } from '../../size.ts';
import type { PoolTable } from './pool-table.ts';
import { inlineVolumeId } from './promise-ids.ts';
import type { CapacityPromise, PromiseTable } from './promise-table.ts';

interface InlinePromiseWriter {
  readonly pools: PoolTable;
  readonly promises: PromiseTable;
  readonly pods: { stored(key: string): PodRecord | undefined };
  setPromise(id: string, promised: CapacityPromise | undefined): void;
}

/**
 * Compares the promises of a pod's inline volumes with the ledgers of drives. The node service chooses the drive when it publishes a volume, and
 * may choose another one than the scheduler planned: the promise follows the entry. A volume that is in a ledger is deducted there, so its
 * promise deducts nothing; the promise ends with the pod, because an entry does not say which of the pod's volumes it is, and all of
 * them have to be compared each time.
 */
export function compareWithEntries(index: InlinePromiseWriter, podKey: string): void {
  const pod = index.pods.stored(podKey);
  if (pod === undefined) return;
  const volumes = volumesOnDrives(pod).flatMap(({ volumeName, size }) => {
    const promised = index.promises.get(inlineVolumeId(podKey, volumeName));
    return promised === undefined ? [] : [{ promised, bytes: wholeBytesOf(size ?? zeroSize) }];
  });
  const drives = drivesOf(volumes, entriesOf(index.pools, pod.uid));
  for (const { promised } of volumes) {
    const drive = drives.get(promised.id);
    const poolKey = drive ?? promised.poolKey;
    const isInCapacityReport = drive !== undefined;
    if (poolKey !== promised.poolKey || isInCapacityReport !== (promised.isInCapacityReport ?? false))
      index.setPromise(promised.id, { ...promised, poolKey, isInCapacityReport });
  }
}

function volumesOnDrives({ inlineVolumes }: PodRecord): readonly InlineVolume[] {
  return inlineVolumes.filter(({ drive, size }) => drive !== undefined && size !== undefined);
}

/** The drive that the node service would choose now: one with the most free bytes of those that take volumes; if none does, the first. */
export function driveWithMostFreeBytes(pools: PoolTable, rows: readonly number[]): number | undefined {
  let best: number | undefined;
  for (const row of rows) {
    if (pools.limit(row) === undefined) continue;
    const { availableBytes } = pools;
    if (best === undefined || compareFreeBytes(availableBytes[row]!, availableBytes[best]!) < 0) best = row;
  }
  return best ?? rows[0];
}

interface PromisedVolume {
  readonly promised: CapacityPromise;
  readonly bytes: number;
}

interface Entry {
  readonly poolKey: string;
  readonly bytes: number;
}

function entriesOf(pools: PoolTable, podUid: string): Entry[] {
  const keys = [...pools.drivesOfPod(podUid)].sort();
  return keys.flatMap((poolKey) =>
    (pools.get(poolKey)?.drive?.pods.get(podUid)?.sizes ?? []).map((bytes) => ({ poolKey, bytes })),
  );
}

/** The drive whose ledger has the volume, by the id of the promise: the planned drive and the same size first, then the same size, then any. */
function drivesOf(volumes: readonly PromisedVolume[], entries: Entry[]): ReadonlyMap<string, string> {
  const drives = new Map<string, string>();
  const ways: ((volume: PromisedVolume, entry: Entry) => boolean)[] = [
    ({ promised, bytes }, entry) => entry.bytes === bytes && entry.poolKey === promised.poolKey,
    ({ bytes }, entry) => entry.bytes === bytes,
    () => true,
  ];
  for (const isSame of ways) {
    for (const volume of volumes) {
      if (drives.has(volume.promised.id)) continue;
      const at = entries.findIndex((entry) => isSame(volume, entry));
      if (at >= 0) drives.set(volume.promised.id, entries.splice(at, 1)[0]!.poolKey);
    }
  }
  return drives;
}
