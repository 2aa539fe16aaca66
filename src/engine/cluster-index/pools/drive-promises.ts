import type { PodRecord } from '../../records/pod-record.ts';
import type { DriveFacts, DrivePod, PoolRecord } from '../../records/pool-record.ts';
import { compareWithCapacityReport, isInLedger } from './capacity-report-comparison.ts';
import { compareWithEntries } from './inline-on-drives.ts';
import type { PoolTable } from './pool-table.ts';
import { inlineVolumeOf } from './promise-ids.ts';
import type { CapacityPromise, PromiseTable } from './promise-table.ts';

interface PromiseWriter {
  readonly pools: PoolTable;
  readonly promises: PromiseTable;
  readonly pods: { stored(key: string): PodRecord | undefined };
  setPromise(id: string, promised: CapacityPromise | undefined): void;
}

/**
 * The ledger of a drive has the volume of a claim, or no longer has it. CreateVolume may have put the volume on another drive than was
 * planned: the promise follows it.
 */
export function driveUpdated(index: PromiseWriter, before: PoolRecord | undefined, after: PoolRecord): void {
  for (const id of [...index.promises.ofPool(after.key)])
    if (inlineVolumeOf(id) === undefined) setIfDifferent(index, id, after.key);
  for (const [uid, claimKey] of after.drive!.claims) {
    if (before?.drive?.claims.has(uid) === true) continue;
    const promised = index.promises.get(claimKey);
    if (promised?.claimUid === uid && promised.poolKey !== after.key)
      setIfDifferent(index, claimKey, after.key);
  }
  for (const podKey of podsWithOtherEntries(before?.drive, after.drive!)) compareWithEntries(index, podKey);
}

/** The keys of the pods whose inline volumes in the ledger are not those of before. */
function podsWithOtherEntries(before: DriveFacts | undefined, after: DriveFacts): ReadonlySet<string> {
  const known: ReadonlyMap<string, DrivePod> = before?.pods ?? new Map();
  const keys = new Set<string>();
  for (const [uid, { podKey, sizes }] of after.pods)
    if (String(known.get(uid)?.sizes) !== String(sizes)) keys.add(podKey);
  for (const [uid, { podKey }] of known) if (!after.pods.has(uid)) keys.add(podKey);
  return keys;
}

/** Sets a promise as the capacity report of its pool says. It ends if the ledger of its drive has the volume of the bound claim. */
export function setCompared(index: PromiseWriter, id: string, promised: CapacityPromise | undefined): void {
  const compared = promised && compareWithCapacityReport(index.pools, promised);
  const isOver = compared !== undefined && isInLedger(index.pools, compared);
  index.setPromise(id, isOver ? undefined : compared);
}

function setIfDifferent(index: PromiseWriter, id: string, poolKey: string): void {
  const promised = index.promises.get(id)!;
  const compared = compareWithCapacityReport(index.pools, { ...promised, poolKey });
  if (promised.poolKey !== poolKey || compared.isInCapacityReport !== (promised.isInCapacityReport ?? false))
    setCompared(index, id, compared);
}

/** The free bytes of a drive for new volumes. */
interface DriveRoomLeft {
  readonly bytes: number;
  /** Groups of which a volume is promised to it. */
  readonly promisedGroups: ReadonlySet<string>;
}

/** The free bytes and the promised groups of the drive whose pool is `key`; undefined if there is no such drive. */
export function roomOnDrive(
  { pools, promises }: Pick<PromiseWriter, 'pools' | 'promises'>,
  key: string,
): DriveRoomLeft | undefined {
  const row = pools.row(key);
  if (row === undefined) return undefined;
  const promisedGroups = new Set<string>();
  for (const id of promises.ofPool(key)) {
    const { spreadGroup, isInCapacityReport } = promises.get(id)!;
    if (spreadGroup !== undefined && isInCapacityReport !== true) promisedGroups.add(spreadGroup);
  }
  return { bytes: pools.available(row).bytes, promisedGroups };
}

/** A volume that appears in the ledger ends its promise, and uses the bytes that were promised: nothing is free for others. */
export function dropUsedRoom(
  { pools, promises }: Pick<PromiseWriter, 'pools' | 'promises'>,
  key: string,
  before: DriveRoomLeft,
): void {
  const lostGroup = [...before.promisedGroups].some((group) => !pools.drivesWithGroup(group)?.has(key));
  const hasGrown = lostGroup || (roomOnDrive({ pools, promises }, key)?.bytes ?? 0) > before.bytes;
  if (!hasGrown && !promises.wasFreed(key)) promises.dropFreed(key);
}
