import type { DiskSchedule } from '../../kube/stowage/disk-schedule.ts';
import type { StorageNode } from '../../kube/stowage/storage-node.ts';
import { type DiskCandidate, freeBytesOf } from './choose-disk.ts';
import { readDiskCandidate } from './disk-candidate.ts';
import { capacitySettings, type DiskObjectMaps } from './disk-objects.ts';
import { NodeSchedules } from './node-schedules.ts';

/** A disk, and the disk as it was before the change; undefined if it is new. */
export interface DiskChange {
  readonly disk: DiskCandidate;
  readonly before: DiskCandidate | undefined;
}

/** All disks with their sums: a plan reads them without adding up every entry of every schedule. The caller reports each change of an object. */
export class DiskIndex {
  readonly #objects: Pick<DiskObjectMaps, 'nodes' | 'schedules' | 'settings'>;
  readonly #nodeSchedules = new NodeSchedules();
  readonly #disks = new Map<string, DiskCandidate>();

  constructor(objects: Pick<DiskObjectMaps, 'nodes' | 'schedules' | 'settings'>) {
    this.#objects = objects;
  }

  /** An index of objects that do not change. */
  static of(objects: DiskObjectMaps): DiskIndex {
    const index = new DiskIndex(objects);
    for (const schedule of objects.schedules.values()) index.update(schedule);
    return index;
  }

  get disks(): readonly DiskCandidate[] {
    return [...this.#disks.values()];
  }

  get(uuid: string): DiskCandidate | undefined {
    return this.#disks.get(uuid);
  }

  /** UUIDs of the disks that the node reports, and of those whose schedule names it. */
  affectedBy(node: Pick<StorageNode, 'metadata' | 'status'>): ReadonlySet<string> {
    return this.#nodeSchedules.affectedBy(node);
  }

  /** Adds the disk of a schedule, or replaces that of its previous version `old`. */
  update(schedule: DiskSchedule, old?: DiskSchedule): DiskChange {
    this.#nodeSchedules.update(schedule, old);
    return this.#read(schedule);
  }

  delete(schedule: DiskSchedule): void {
    this.#nodeSchedules.delete(schedule);
    this.#disks.delete(schedule.metadata?.name ?? '');
  }

  /** Reads the disk again after a change of its StorageNode or of the settings; undefined if it has no schedule. */
  refresh(uuid: string): DiskChange | undefined {
    const schedule = this.#objects.schedules.get(uuid);
    return schedule === undefined ? undefined : this.#read(schedule);
  }

  #read(schedule: DiskSchedule): DiskChange {
    const uuid = schedule.metadata?.name ?? '';
    const before = this.#disks.get(uuid);
    const node = this.#objects.nodes.get(schedule.spec?.nodeID ?? '');
    const disk = readDiskCandidate(schedule, node, capacitySettings(this.#objects));
    this.#disks.set(uuid, disk);
    return { disk, before };
  }
}

/** Whether the disk is new, or may accept requests that it would have rejected before. */
export function mayAcceptMore({ disk, before }: DiskChange): boolean {
  if (before === undefined) return true;
  const isOpen = ({ state }: DiskCandidate) => state.kind === 'ready' && state.closed === undefined;
  if (!isOpen(disk)) return false;
  const tags = ({ nodeTags, diskTags, zone, nodeName }: DiskCandidate) =>
    JSON.stringify([nodeTags, diskTags, zone, nodeName]);
  return !isOpen(before) || freeBytesOf(disk) > freeBytesOf(before) || tags(disk) !== tags(before);
}
