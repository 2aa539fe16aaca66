import { type DiskCandidate, freeBytesOf, isFullOfEntries, isSelected } from './choose-disk.ts';
import type { DiskClass } from './disk-class.ts';

/** The capacity of a set of disks for volumes of one class. */
export interface ReplicaRoom {
  /** The largest volume whose replicas all fit now. */
  readonly largestBytes: bigint;
  /** The most bytes that volumes can have together, if they are small: none of them has two replicas where the class allows only one. */
  readonly totalBytes: bigint;
  /** UUIDs of the disks that the class may use, whether they are full or not, in order. Classes with the same disks share their room. */
  readonly disks: readonly string[];
}

/**
 * The room for volumes of a class, counted in bytes of volumes, not of replicas. The anti-affinity of the class divides the disks into groups,
 * each of which takes one replica of a volume: the disks of a zone, of a node, or a single disk. A zone contains its nodes and a node its disks,
 * so the widest hard anti-affinity decides. Disks without any take several replicas.
 *
 * - A volume of `s` bytes fits if there are enough groups that have a disk with `s` bytes.
 * - Volumes of `T` bytes together take at most `T` bytes of a group, because each has at most one replica there. If the groups have enough for
 *   that, the bytes can be dealt out in turn (McNaughton's rule), so the condition is exact for volumes of one byte.
 */
export function replicaRoom(
  disks: Iterable<DiskCandidate>,
  diskClass: Pick<DiskClass, 'numberOfReplicas' | 'nodeSelector' | 'diskSelector' | 'antiAffinity'>,
): ReplicaRoom {
  const selected = [...disks].filter((disk) => isSelected(disk, diskClass));
  const groups = new Map<string, DiskGroup>();
  const free: bigint[] = [];
  for (const disk of selected) {
    const room = usableRoom(disk);
    if (room <= 0n) continue;
    const key = groupOf(disk, diskClass.antiAffinity);
    if (key === undefined) {
      free.push(room);
      continue;
    }
    const { largest, sum } = groups.get(key) ?? { largest: 0n, sum: 0n };
    groups.set(key, { largest: maxOf([largest, room]), sum: sum + room });
  }
  const count = BigInt(diskClass.numberOfReplicas);
  const all = { groups: [...groups.values()], free };
  return {
    largestBytes: largestWith(
      maxOf([...all.groups.map(({ largest }) => largest), ...free]),
      (bytes) => slotsFor(all, bytes) >= count,
    ),
    totalBytes: largestWith(sumOf(all) / count, (bytes) => dealtOut(all, bytes) >= count * bytes),
    disks: selected.map(({ uuid }) => uuid).sort(),
  };
}

/** Disks of which one takes a replica of a volume. */
interface DiskGroup {
  readonly largest: bigint;
  readonly sum: bigint;
}

interface DiskGroups {
  readonly groups: readonly DiskGroup[];
  /** The room of each disk that may have several replicas of a volume. */
  readonly free: readonly bigint[];
}

function usableRoom(disk: DiskCandidate): bigint {
  const { state } = disk;
  if (state.kind !== 'ready' || state.closed !== undefined || isFullOfEntries(disk)) return 0n;
  return BigInt(freeBytesOf(disk));
}

/** As `chooseDisk` has it: a disk without a zone is not kept apart from other zones. */
function groupOf(
  { zone, nodeName, uuid }: DiskCandidate,
  antiAffinity: DiskClass['antiAffinity'],
): string | undefined {
  if (antiAffinity.zone === 'hard' && zone !== '') return `zone ${zone}`;
  if (antiAffinity.node === 'hard') return `node ${nodeName}`;
  return antiAffinity.disk === 'hard' ? `disk ${uuid}` : undefined;
}

/** How many replicas of this size fit. */
function slotsFor({ groups, free }: DiskGroups, bytes: bigint): bigint {
  const ofGroups = groups.filter(({ largest }) => largest >= bytes).length;
  return free.reduce((slots, room) => slots + room / bytes, BigInt(ofGroups));
}

/** How many bytes of replicas fit, if no group has more than one of each volume. */
function dealtOut({ groups, free }: DiskGroups, volumeBytes: bigint): bigint {
  const ofGroups = groups.reduce((all, { sum }) => all + (sum < volumeBytes ? sum : volumeBytes), 0n);
  return free.reduce((all, room) => all + room, ofGroups);
}

/** The largest value from 0 to `max` that fits, where every smaller one fits too. */
function largestWith(max: bigint, fits: (bytes: bigint) => boolean): bigint {
  let [low, high] = [0n, max];
  while (low < high) {
    const middle = (low + high + 1n) / 2n;
    if (fits(middle)) low = middle;
    else high = middle - 1n;
  }
  return low;
}

function maxOf(values: readonly bigint[]): bigint {
  let max = 0n;
  for (const one of values) if (one > max) max = one;
  return max;
}

function sumOf({ groups, free }: DiskGroups): bigint {
  return [...groups.map(({ sum }) => sum), ...free].reduce((all, one) => all + one, 0n);
}
