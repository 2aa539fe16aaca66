import { type DiskState, diskState } from '../../engine/disks/disk-state.ts';
import { scheduleState } from '../../engine/disks/schedule-state.ts';
import { ownValue } from '../../kube/go/json-value.ts';
import type { DiskSchedule } from '../../kube/stowage/disk-schedule.ts';
import { type DiskCapacitySettings, diskSettingsName } from '../../kube/stowage/disk-settings.ts';
import type { StorageDisk, StorageDiskStatus, StorageNode } from '../../kube/stowage/storage-node.ts';
import { textOf } from '../../kube/wire.ts';
import type { DiskObjects } from './disk-objects.ts';

/** A disk with everything that is stored about it: in the spec or the status of its StorageNode, and its DiskSchedule. */
export interface KnownDisk {
  readonly nodeName: string;
  /** The name in the StorageNode. */
  readonly name: string;
  readonly uuid: string | undefined;
  readonly node: StorageNode | undefined;
  readonly wanted: StorageDisk | undefined;
  readonly seen: StorageDiskStatus | undefined;
  readonly schedule: DiskSchedule | undefined;
  readonly state: DiskState;
}

/** All disks by node and name. A schedule whose disk no node reports any more is one, too. */
export function knownDisks(
  objects: Pick<DiskObjects, 'nodes' | 'schedules' | 'settings'>,
): readonly KnownDisk[] {
  const schedules = new Map(objects.schedules.map((schedule) => [schedule.metadata?.name ?? '', schedule]));
  const found = objects.nodes.flatMap((node) =>
    diskNames(node).map((name) => {
      const uuid = textOf(ownValue(node.status?.diskStatus, name)?.diskUUID) || undefined;
      return knownDisk(objects, { node, name, uuid, schedule: schedules.get(uuid ?? '') });
    }),
  );
  const shown = new Set(found.map(({ uuid }) => uuid));
  const orphans = objects.schedules
    .filter(({ metadata }) => !shown.has(metadata?.name))
    .map((schedule) => {
      const node = objects.nodes.find(({ metadata }) => metadata?.name === schedule.spec?.nodeID);
      const { name } = schedule.metadata ?? {};
      return knownDisk(objects, { node, name: schedule.spec?.name ?? '', uuid: name, schedule });
    });
  return [...found, ...orphans].toSorted(
    (a, b) => compareText(a.nodeName, b.nodeName) || compareText(a.name, b.name),
  );
}

function diskNames({ spec, status }: StorageNode): readonly string[] {
  return [...new Set([...Object.keys(spec?.disks ?? {}), ...Object.keys(status?.diskStatus ?? {})])];
}

type FoundDisk = Pick<KnownDisk, 'node' | 'name' | 'uuid' | 'schedule'>;

function knownDisk({ settings }: Pick<DiskObjects, 'settings'>, found: FoundDisk): KnownDisk {
  const { node, name, uuid, schedule } = found;
  const nodeName = node?.metadata?.name ?? schedule?.spec?.nodeID ?? '';
  const wanted = ownValue(node?.spec?.disks, name);
  const seen = ownValue(node?.status?.diskStatus, name);
  return {
    ...found,
    nodeName,
    wanted,
    seen: seen?.diskUUID === uuid ? seen : undefined,
    state: stateOf({ ...found, nodeName }, commonSettings(settings)),
  };
}

function stateOf(
  { node, name, uuid, nodeName, schedule }: FoundDisk & Pick<KnownDisk, 'nodeName'>,
  settings: DiskCapacitySettings | undefined,
): DiskState {
  if (uuid === undefined)
    return {
      kind: 'unknown',
      message: `StorageNode ${nodeName} has not reported the disk; check that its agent runs`,
    };
  const { nodeID, name: scheduled } = schedule?.spec ?? {};
  const isOwn = nodeID === nodeName && scheduled === name;
  return schedule !== undefined && isOwn
    ? scheduleState(schedule, node, settings)
    : diskState(node, { uuid, name, nodeName }, settings);
}

/** The settings of all disks, in the only object that is acted on. */
export function commonSettings(settings: DiskObjects['settings']): DiskCapacitySettings | undefined {
  return settings?.find(({ metadata }) => metadata?.name === diskSettingsName)?.spec;
}

/** For tables and errors: `NODE/DISK`. */
export function diskLabel({ nodeName, name }: Pick<KnownDisk, 'nodeName' | 'name'>): string {
  return `${nodeName}/${name}`;
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
