import type { KubeObject } from '../../kube/api/meta.ts';
import type { BackingImage } from '../../kube/stowage/backing-image.ts';
import type { DiskSchedule } from '../../kube/stowage/disk-schedule.ts';
import {
  type DiskCapacitySettings,
  type DiskSettings,
  diskSettingsName,
} from '../../kube/stowage/disk-settings.ts';
import type { Replica } from '../../kube/stowage/replica.ts';
import type { StorageNode } from '../../kube/stowage/storage-node.ts';
import type { DiskVolume } from '../../kube/stowage/volume.ts';

/** The objects of one kind by name: a `Map`, or the cache of a controller. */
export interface ObjectsByName<T> {
  get(name: string): T | undefined;
  values(): Iterable<T>;
}

/** The objects that decisions about disks read. */
export interface DiskObjectMaps {
  readonly volumes: ObjectsByName<DiskVolume>;
  readonly schedules: ObjectsByName<DiskSchedule>;
  readonly nodes: ObjectsByName<StorageNode>;
  readonly replicas: ObjectsByName<Replica>;
  readonly images: ObjectsByName<BackingImage>;
  readonly settings: ObjectsByName<DiskSettings>;
}

/** The same objects as lists, for example as an API server returns them. */
export type DiskObjectLists = {
  readonly [Kind in keyof DiskObjectMaps]?:
    | (DiskObjectMaps[Kind] extends ObjectsByName<infer T> ? readonly T[] : never)
    | undefined;
};

/** A kind without a list has no objects. */
export function diskObjectMaps(lists: DiskObjectLists): DiskObjectMaps {
  return {
    volumes: mapByName(lists.volumes),
    schedules: mapByName(lists.schedules),
    nodes: mapByName(lists.nodes),
    replicas: mapByName(lists.replicas),
    images: mapByName(lists.images),
    settings: mapByName(lists.settings),
  };
}

function mapByName<T extends KubeObject>(objects: readonly T[] = []): ReadonlyMap<string, T> {
  return new Map(objects.map((object) => [object.metadata?.name ?? '', object]));
}

/** The settings that apply to all disks. */
export function capacitySettings({
  settings,
}: Pick<DiskObjectMaps, 'settings'>): DiskCapacitySettings | undefined {
  return settings.get(diskSettingsName)?.spec;
}

/** Names of the disks that the node reports, by UUID. */
export function reportedDisks({ status }: Pick<StorageNode, 'status'>): ReadonlyMap<string, string> {
  const disks = Object.entries(status?.diskStatus ?? {});
  return new Map(disks.flatMap(([name, { diskUUID }]) => (diskUUID ? [[diskUUID, name] as const] : [])));
}

/** Whether the schedule has neither requests nor verdicts. */
export function isEmptySchedule({ spec, status }: Pick<DiskSchedule, 'spec' | 'status'>): boolean {
  const maps = [spec?.replicas, spec?.backingImages, status?.replicas, status?.backingImages];
  return maps.every((map) => Object.keys(map ?? {}).length === 0);
}
