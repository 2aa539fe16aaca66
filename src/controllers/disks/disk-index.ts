import type { Projected } from '../../cluster/cluster.ts';
import { type DiskCandidate, roomOf } from '../../engine/disks/choose-disk.ts';
import { readDiskCandidate } from '../../engine/disks/disk-candidate.ts';
import type { DiskSchedule } from '../../kube/stowage/disk-schedule.ts';
import type { StorageNode } from '../../kube/stowage/storage-node.ts';
import { capacitySettings, type DiskCaches } from './disk-caches.ts';
import { NodeSchedules } from './node-schedules.ts';

export interface DiskListener {
  /** Called for a disk that is new, or that may take requests which it could not take before. */
  readonly gained?: (disk: DiskCandidate, before: DiskCandidate | undefined) => void;
  /** Called for a disk that is new, or that begins or ceases to answer. */
  readonly readinessChanged?: (disk: DiskCandidate) => void;
  /** Called after every change of a disk or of its schedule. */
  readonly changed?: (disk: DiskCandidate) => void;
}

/** All disks with their sums, kept up to date by events: a plan reads them without adding up every entry of every schedule. */
export class DiskIndex {
  readonly #caches: DiskCaches;
  readonly #nodeSchedules: NodeSchedules;
  readonly #disks = new Map<string, DiskCandidate>();

  constructor(caches: DiskCaches) {
    this.#caches = caches;
    this.#nodeSchedules = new NodeSchedules(caches);
  }

  get disks(): readonly DiskCandidate[] {
    return [...this.#disks.values()];
  }

  get(uuid: string): DiskCandidate | undefined {
    return this.#disks.get(uuid);
  }

  /** UUIDs of the disks that the node reports, and of those that it reported last. */
  affectedBy(node: Pick<StorageNode, 'metadata' | 'status'>): ReadonlySet<string> {
    return this.#nodeSchedules.affectedBy(node);
  }

  /** Follows the caches. */
  listen(listener: DiskListener): readonly (() => void)[] {
    const schedule = (object: Projected<DiskSchedule>) => this.#update(object, listener);
    const all = (uuids: Iterable<string>) => {
      for (const uuid of uuids) {
        const found = this.#caches.schedules.get(uuid);
        if (found !== undefined) this.#update(found, listener);
      }
    };
    const node = (object: Projected<StorageNode>) => all(this.#nodeSchedules.affectedBy(object));
    const settingsChanged = () => all([...this.#disks.keys()]);
    const { schedules, nodes, settings } = this.#caches;
    return [
      this.#nodeSchedules.listen(),
      schedules.addHandler({
        added: schedule,
        updated: schedule,
        deleted: ({ metadata }) => {
          this.#disks.delete(metadata?.name ?? '');
        },
      }),
      nodes.addHandler({
        added: node,
        updated: (object, old) => {
          node(old);
          node(object);
        },
        deleted: node,
      }),
      settings.addHandler({
        added: settingsChanged,
        updated: settingsChanged,
        deleted: settingsChanged,
      }),
    ];
  }

  #update(schedule: Projected<DiskSchedule>, { gained, readinessChanged, changed }: DiskListener): void {
    const uuid = schedule.metadata?.name ?? '';
    const before = this.#disks.get(uuid);
    const node = this.#caches.nodes.get(schedule.spec?.nodeID ?? '');
    const disk = readDiskCandidate(schedule, node, capacitySettings(this.#caches));
    this.#disks.set(uuid, disk);
    if (before === undefined || hasGained(disk, before)) gained?.(disk, before);
    if (before?.state.kind !== disk.state.kind) readinessChanged?.(disk);
    changed?.(disk);
  }
}

function hasGained(disk: DiskCandidate, before: DiskCandidate): boolean {
  const isOpen = ({ state }: DiskCandidate) => state.kind === 'ready' && state.closed === undefined;
  if (!isOpen(disk)) return false;
  const tags = ({ nodeTags, diskTags, zone, nodeName }: DiskCandidate) =>
    JSON.stringify([nodeTags, diskTags, zone, nodeName]);
  return !isOpen(before) || roomOf(disk) > roomOf(before) || tags(disk) !== tags(before);
}
