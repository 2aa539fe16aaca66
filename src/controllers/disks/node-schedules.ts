import type { Projected } from '../../cluster/cluster.ts';
import type { DiskSchedule } from '../../kube/stowage/disk-schedule.ts';
import type { StorageNode } from '../../kube/stowage/storage-node.ts';
import { type DiskCaches, reportedDisks } from './disk-caches.ts';

/** Names of DiskSchedules by the StorageNode in their spec, whether that node reports the disk or not. */
export class NodeSchedules {
  readonly #schedules: DiskCaches['schedules'];
  readonly #names = new Map<string, Set<string>>();

  constructor({ schedules }: Pick<DiskCaches, 'schedules'>) {
    this.#schedules = schedules;
  }

  /** Follows the cache. A loop adds this handler first, so that its other handlers find the index up to date. */
  listen(): () => void {
    return this.#schedules.addHandler({
      added: (schedule) => this.#add(schedule),
      updated: (schedule, old) => {
        if (schedule.spec?.nodeID !== old.spec?.nodeID) this.#delete(old);
        this.#add(schedule);
      },
      deleted: (schedule) => this.#delete(schedule),
    });
  }

  /** Of the disks that name the node. */
  of(nodeName: string): readonly string[] {
    return [...(this.#names.get(nodeName) ?? [])];
  }

  /** Of the disks that the node reports, and of those that name it. */
  affectedBy(node: Pick<StorageNode, 'metadata' | 'status'>): ReadonlySet<string> {
    return new Set([...reportedDisks(node).keys(), ...this.of(node.metadata?.name ?? '')]);
  }

  #add({ metadata, spec }: Projected<DiskSchedule>): void {
    const nodeName = spec?.nodeID ?? '';
    const names = this.#names.get(nodeName) ?? new Set();
    this.#names.set(nodeName, names.add(metadata?.name ?? ''));
  }

  #delete({ metadata, spec }: Projected<DiskSchedule>): void {
    const nodeName = spec?.nodeID ?? '';
    const names = this.#names.get(nodeName);
    names?.delete(metadata?.name ?? '');
    if (names?.size === 0) this.#names.delete(nodeName);
  }
}
