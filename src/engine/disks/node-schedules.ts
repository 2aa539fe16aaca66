import type { DiskSchedule } from '../../kube/stowage/disk-schedule.ts';
import type { StorageNode } from '../../kube/stowage/storage-node.ts';
import { addTo, removeFrom } from '../maps.ts';
import { reportedDisks } from './disk-objects.ts';

/** Names of DiskSchedules by the StorageNode in their spec, whether that node reports the disk or not. */
export class NodeSchedules {
  readonly #names = new Map<string, Set<string>>();

  /** Adds a schedule, or replaces its previous version `old`. */
  update(schedule: DiskSchedule, old?: DiskSchedule): void {
    if (old !== undefined && schedule.spec?.nodeID !== old.spec?.nodeID) this.delete(old);
    addTo(this.#names, schedule.spec?.nodeID ?? '', schedule.metadata?.name ?? '');
  }

  delete({ metadata, spec }: DiskSchedule): void {
    removeFrom(this.#names, spec?.nodeID ?? '', metadata?.name ?? '');
  }

  /** Names of the schedules that name the node. */
  of(nodeName: string): readonly string[] {
    return [...(this.#names.get(nodeName) ?? [])];
  }

  /** UUIDs of the disks that the node reports, and of those whose schedule names it. */
  affectedBy(node: Pick<StorageNode, 'metadata' | 'status'>): ReadonlySet<string> {
    return new Set([...reportedDisks(node).keys(), ...this.of(node.metadata?.name ?? '')]);
  }
}
