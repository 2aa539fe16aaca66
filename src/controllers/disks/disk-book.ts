import type { Projected } from '../../cluster/cluster.ts';
import { type DiskCandidate, roomOf } from '../../engine/disks/choose-disk.ts';
import { diskState } from '../../engine/disks/disk-state.ts';
import type { DiskSchedule, DiskVerdict } from '../../kube/disks/disk-schedule.ts';
import type { StorageNode } from '../../kube/disks/storage-node.ts';
import { ownValue } from '../../kube/go/json-value.ts';
import { type DiskCaches, reportedDisks } from './disk-caches.ts';

export type DiskGained = (disk: DiskCandidate, before: DiskCandidate | undefined) => void;

/** All disks with their sums, kept up to date by events: a plan reads them without adding up every entry of every schedule. */
export class DiskBook {
  readonly #caches: DiskCaches;
  readonly #disks = new Map<string, DiskCandidate>();

  constructor(caches: DiskCaches) {
    this.#caches = caches;
  }

  get disks(): readonly DiskCandidate[] {
    return [...this.#disks.values()];
  }

  get(uuid: string): DiskCandidate | undefined {
    return this.#disks.get(uuid);
  }

  /** Follows the caches. `gained` is called for a disk that is new, or that may take requests which it could not take before. */
  listen(gained: DiskGained): readonly (() => void)[] {
    const schedule = (object: Projected<DiskSchedule>) => this.#update(object, gained);
    const node = (object: Projected<StorageNode>) => {
      for (const uuid of reportedDisks(object).keys()) {
        const found = this.#caches.schedules.get(uuid);
        if (found !== undefined) this.#update(found, gained);
      }
    };
    const { schedules, nodes } = this.#caches;
    return [
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
    ];
  }

  #update(schedule: Projected<DiskSchedule>, gained: DiskGained): void {
    const uuid = schedule.metadata?.name ?? '';
    const before = this.#disks.get(uuid);
    const disk = this.#candidate(schedule);
    this.#disks.set(uuid, disk);
    if (before === undefined || hasGained(disk, before)) gained(disk, before);
  }

  #candidate({ metadata, spec, status }: Projected<DiskSchedule>): DiskCandidate {
    const uuid = metadata?.name ?? '';
    const { name = '', nodeID: nodeName = '' } = spec ?? {};
    const node = this.#caches.nodes.get(nodeName);
    const sums = [
      sumsOf(spec?.replicas, status?.replicas),
      sumsOf(spec?.backingImages, status?.backingImages),
    ];
    return {
      uuid,
      name,
      nodeName,
      zone: node?.status?.zone ?? '',
      nodeTags: node?.spec?.tags ?? [],
      diskTags: ownValue(node?.spec?.disks, name)?.tags ?? [],
      state: diskState(node, { uuid, name, nodeName }),
      demandBytes: sums.reduce((sum, { demand }) => sum + demand, 0),
      grantedBytes: sums.reduce((sum, { granted }) => sum + granted, 0),
    };
  }
}

function hasGained(disk: DiskCandidate, before: DiskCandidate): boolean {
  const isOpen = ({ state }: DiskCandidate) => state.kind === 'ready' && state.closed === undefined;
  if (!isOpen(disk)) return false;
  const tags = ({ nodeTags, diskTags, zone, nodeName }: DiskCandidate) =>
    JSON.stringify([nodeTags, diskTags, zone, nodeName]);
  return !isOpen(before) || roomOf(disk) > roomOf(before) || tags(disk) !== tags(before);
}

function sumsOf(
  asked: Readonly<Record<string, number>> = {},
  verdicts: Readonly<Record<string, DiskVerdict>> = {},
): { readonly demand: number; readonly granted: number } {
  let [demand, granted] = [0, 0];
  for (const [name, bytes] of Object.entries(asked))
    demand += Math.max(bytes, ownValue(verdicts, name)?.scheduledSize ?? 0);
  for (const [name, { scheduledSize = 0 }] of Object.entries(verdicts)) {
    granted += scheduledSize;
    if (!Object.hasOwn(asked, name)) demand += scheduledSize;
  }
  return { demand, granted };
}
