import type { Condition } from '../../kube/api/meta.ts';
import { getCondition } from '../../kube/conditions.ts';
import type { DiskSchedule } from '../../kube/stowage/disk-schedule.ts';
import type { StorageNode } from '../../kube/stowage/storage-node.ts';
import type { DiskObjectMaps } from './disk-objects.ts';

/** The condition of a DiskSchedule whose disk is evicted. */
export const evictedType = 'Evicted';
/** The reason of that condition if a replica or copy can't leave the disk. */
export const evictionBlockedReason = 'CannotMove';

/** How many replicas and images a message names. */
const namedMax = 5;

/** Reports the replicas and copies that are still on an evicted disk, and why they can't leave. */
export function evictionCondition({ metadata, spec }: DiskSchedule, objects: DiskObjectMaps): Condition {
  const names = Object.keys(spec?.replicas ?? {});
  const images = Object.keys(spec?.backingImages ?? {});
  const type = evictedType;
  if (names.length + images.length === 0)
    return { type, status: 'True', reason: 'Empty', message: 'Nothing is left on the disk' };
  const uuid = metadata?.name ?? '';
  const obstacles = [
    ...names.map((name) => obstacleOf(name, objects)),
    ...images.map((name) => imageObstacle(name, uuid, objects)),
  ].filter((why) => why !== undefined);
  const left = leftText(names.length, images.length) + agentText(names, objects);
  if (obstacles.length === 0) return { type, status: 'False', reason: 'Moving', message: left };
  const named = obstacles.slice(0, namedMax);
  const more = obstacles.length > namedMax ? [`and ${obstacles.length - namedMax} more`] : [];
  const message = `${left}; these can't leave: ${[...named, ...more].join('; ')}`;
  return { type, status: 'False', reason: evictionBlockedReason, message };
}

function leftText(replicas: number, images: number): string {
  const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;
  return `${counted(replicas, 'replica')} and ${counted(images, 'image')} are still on the disk`;
}

/** Names the nodes where new replicas get no data, because no agent runs there: an agent that runs has reported its address. */
function agentText(names: readonly string[], { nodes, replicas }: DiskObjectMaps): string {
  const silent = new Set(
    [...nodes.values()].filter((node) => !hasAgent(node)).map(({ metadata }) => metadata?.name ?? ''),
  );
  if (silent.size === 0) return '';
  const own = new Set(names);
  const leaving = new Set(names.map((name) => replicas.get(name)?.spec?.volumeName));
  const waiting = [...replicas.values()].filter(
    ({ metadata, spec, status }) =>
      silent.has(spec?.nodeID ?? '') &&
      leaving.has(spec?.volumeName) &&
      status?.healthyAt === undefined &&
      metadata?.deletionTimestamp === undefined &&
      !own.has(metadata?.name ?? ''),
  );
  if (waiting.length === 0) return '';
  const places = [...new Set(waiting.map(({ spec }) => spec?.nodeID ?? ''))].sort();
  const more = places.length > namedMax ? ` and ${places.length - namedMax} more` : '';
  const where = `node${places.length === 1 ? '' : 's'} ${places.slice(0, namedMax).join(', ')}${more}`;
  return `; new replicas wait for their data on ${where}, where no agent runs: start the controller disk-agent there`;
}

/** Whether an agent has reported its address. */
export function hasAgent({ status }: Pick<StorageNode, 'status'>): boolean {
  return status?.upload !== undefined;
}

/** Why a replica can't leave its disk now; undefined if it will leave without a change by a user. */
function obstacleOf(name: string, { replicas, volumes }: DiskObjectMaps): string | undefined {
  const replica = replicas.get(name);
  // The controller removes an entry without an owner.
  if (replica === undefined || replica.metadata?.deletionTimestamp !== undefined) return undefined;
  const { volumeName = '' } = replica.spec ?? {};
  const volume = volumes.get(volumeName);
  if (volume === undefined)
    return `replica ${name} belongs to Volume ${volumeName}, which does not exist; delete the replica`;
  const allocation = getCondition(volume.status?.conditions, 'DiskAllocation');
  const isWaiting = allocation?.status === 'False' && allocation.reason !== 'Pending';
  return isWaiting ? `replica ${name} of Volume ${volumeName}: ${allocation.message}` : undefined;
}

/** Why a copy can't leave its disk now. One without a file needs no replacement that is ready. */
function imageObstacle(name: string, uuid: string, { images }: DiskObjectMaps): string | undefined {
  const { status } = images.get(name) ?? {};
  if (!Object.hasOwn(status?.diskFileStatusMap ?? {}, uuid)) return undefined;
  const allocation = getCondition(status?.conditions, 'DiskAllocation');
  const isWaiting = allocation?.status === 'False' && allocation.reason !== 'Pending';
  return isWaiting ? `image ${name}: ${allocation.message}` : undefined;
}
