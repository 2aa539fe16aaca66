import type { DiskState } from './disk-state.ts';
import { missingBytesText } from './exact-bytes.ts';

/** A disk as the placement of replicas and copies sees it. */
export interface DiskCandidate {
  /** Also the name of the DiskSchedule. */
  readonly uuid: string;
  /** The name in the StorageNode. */
  readonly name: string;
  readonly nodeName: string;
  readonly zone: string;
  readonly nodeTags: readonly string[];
  readonly diskTags: readonly string[];
  readonly state: DiskState;
  /** The sum of the granted or the requested bytes of every entry, whichever is more: so that a burst of requests spreads. */
  readonly demandBytes: number;
  readonly grantedBytes: number;
  /** The limit by which its last pass decided; absent unless that pass answered all requests. */
  readonly answeredLimitBytes?: number;
  /** Requests in its schedule; 0 if absent. */
  readonly entryCount?: number;
}

/** The most requests in one schedule, by its definition: more would exceed the size limit of an object in etcd. */
const diskEntriesMax = 4000;

/** Where another replica of the same volume is. */
export interface DiskPlace {
  readonly uuid: string;
  readonly nodeName: string;
  readonly zone: string;
}

/** `hard`: never two replicas in one. `soft`: only if no other disk fits. */
export type AntiAffinity = 'hard' | 'soft';

export interface DiskRequirements {
  readonly bytes: number;
  readonly nodeSelector: readonly string[];
  readonly diskSelector: readonly string[];
  readonly antiAffinity: Readonly<Record<'node' | 'zone' | 'disk', AntiAffinity>>;
  readonly others: readonly DiskPlace[];
  /** Disks that rejected the same request a while ago. */
  readonly rejectedBy: ReadonlySet<string>;
}

export type DiskChoice =
  | { readonly kind: 'chosen'; readonly disk: DiskCandidate }
  | { readonly kind: 'refused'; readonly obstacles: readonly DiskObstacle[] };

/** Why one disk can't be taken. */
export interface DiskObstacle {
  readonly disk: DiskCandidate;
  readonly message: string;
  /** Set if bytes are all that the disk lacks. */
  readonly missingBytes?: number;
}

/**
 * The disk for one more replica. Disks on unused nodes in unused zones come first, then those on unused nodes, then unused disks; among these
 * the one with the most free bytes, then by UUID. The result depends on the arguments only, so that all instances choose alike.
 */
export function chooseDisk(disks: Iterable<DiskCandidate>, requirements: DiskRequirements): DiskChoice {
  const obstacles: DiskObstacle[] = [];
  let best: { readonly disk: DiskCandidate; readonly rank: number } | undefined;
  for (const disk of disks) {
    const obstacle = obstacleOf(disk, requirements);
    if (obstacle !== undefined) {
      obstacles.push(obstacle);
      continue;
    }
    const rank = sharingRank(disk, requirements.others);
    if (best === undefined || isBetter({ disk, rank }, best)) best = { disk, rank };
  }
  return best === undefined ? { kind: 'refused', obstacles } : { kind: 'chosen', disk: best.disk };
}

/** Bytes that can still be requested. */
export function freeBytesOf({ state, demandBytes }: DiskCandidate): number {
  return state.kind === 'ready' ? state.limitBytes - demandBytes : 0;
}

/** Whether one more request would be refused by the API server, whatever its size. */
export function isFullOfEntries({ entryCount = 0 }: DiskCandidate): boolean {
  return entryCount >= diskEntriesMax;
}

function obstacleOf(disk: DiskCandidate, requirements: DiskRequirements): DiskObstacle | undefined {
  const message = closedBecause(disk, requirements) ?? sharedBecause(disk, requirements);
  if (message !== undefined) return { disk, message };
  const room = freeBytesOf(disk);
  if (room < requirements.bytes) {
    const missingBytes = requirements.bytes - room;
    return {
      disk,
      missingBytes,
      message: missingBytesText({ free: room, requested: requirements.bytes, missing: missingBytes }),
    };
  }
  if (isFullOfEntries(disk))
    return { disk, message: `it has ${diskEntriesMax} replicas and images, which is the most` };
  if (requirements.rejectedBy.has(disk.uuid))
    return { disk, message: 'it rejected this request a moment ago' };
  return undefined;
}

function closedBecause(disk: DiskCandidate, requirements: DiskRequirements): string | undefined {
  const { state } = disk;
  if (state.kind === 'unknown') return state.message;
  return state.closed === undefined ? missingTag(disk, requirements) : state.closed.message;
}

/** Whether the disk and its node have all tags of the selectors. */
export function isSelected(
  disk: DiskCandidate,
  selectors: Pick<DiskRequirements, 'nodeSelector' | 'diskSelector'>,
): boolean {
  return missingTag(disk, selectors) === undefined;
}

function missingTag(
  { nodeTags, diskTags }: DiskCandidate,
  { nodeSelector, diskSelector }: Pick<DiskRequirements, 'nodeSelector' | 'diskSelector'>,
): string | undefined {
  const nodeTag = nodeSelector.find((tag) => !nodeTags.includes(tag));
  if (nodeTag !== undefined) return `its node lacks the tag ${nodeTag}`;
  const diskTag = diskSelector.find((tag) => !diskTags.includes(tag));
  return diskTag === undefined ? undefined : `it lacks the tag ${diskTag}`;
}

function sharedBecause(disk: DiskCandidate, { antiAffinity, others }: DiskRequirements): string | undefined {
  if (antiAffinity.node === 'hard' && others.some(({ nodeName }) => nodeName === disk.nodeName))
    return `its node ${disk.nodeName} has another replica`;
  if (antiAffinity.zone === 'hard' && disk.zone !== '' && others.some(({ zone }) => zone === disk.zone))
    return `its zone ${disk.zone} has another replica`;
  if (antiAffinity.disk === 'hard' && others.some(({ uuid }) => uuid === disk.uuid))
    return 'it has another replica';
  return undefined;
}

/** Ranks a disk by whether other replicas use the same disk, node or zone; less is better. */
function sharingRank(disk: DiskCandidate, others: readonly DiskPlace[]): number {
  if (others.some(({ uuid }) => uuid === disk.uuid)) return 3;
  if (others.some(({ nodeName }) => nodeName === disk.nodeName)) return 2;
  return disk.zone !== '' && others.some(({ zone }) => zone === disk.zone) ? 1 : 0;
}

interface RankedDisk {
  readonly disk: DiskCandidate;
  readonly rank: number;
}

function isBetter(one: RankedDisk, other: RankedDisk): boolean {
  if (one.rank !== other.rank) return one.rank < other.rank;
  const [room, otherRoom] = [freeBytesOf(one.disk), freeBytesOf(other.disk)];
  return room === otherRoom ? one.disk.uuid < other.disk.uuid : room > otherRoom;
}

/**
 * The refusal in one sentence: the disk that lacks the fewest bytes, else one that takes requests, else the first. By UUID if several do: instances that
 * know disks in another order would replace each other's sentences again and again.
 */
export function diskRefusalText(unordered: readonly DiskObstacle[]): string {
  const obstacles = unordered.toSorted((a, b) => (a.disk.uuid < b.disk.uuid ? -1 : 1));
  const [first] = obstacles;
  if (first === undefined) return 'there are no disks: no StorageNode reports one';
  const short = obstacles.filter(({ missingBytes }) => missingBytes !== undefined);
  const closest = short.reduce<DiskObstacle | undefined>(
    (best, one) => (best === undefined || (one.missingBytes ?? 0) < (best.missingBytes ?? 0) ? one : best),
    undefined,
  );
  const open = obstacles.find(({ disk: { state } }) => state.kind === 'ready' && state.closed === undefined);
  const { disk, message } = closest ?? open ?? first;
  const count =
    obstacles.length === 1 ? 'the only disk' : `none of ${obstacles.length} disks fits; the closest`;
  return `${count} is ${disk.name} on node ${disk.nodeName}: ${message}`;
}
