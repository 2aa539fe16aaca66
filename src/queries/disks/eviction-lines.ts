import type { Condition } from '../../kube/api/meta.ts';
import { getCondition } from '../../kube/conditions.ts';
import type { Replica } from '../../kube/stowage/replica.ts';
import type { DiskVolume } from '../../kube/stowage/volume.ts';
import { textOf } from '../../kube/wire.ts';
import { diskEntries } from './disk-entries.ts';
import { isEvicted } from './disk-lines.ts';
import type { DiskObjects } from './disk-objects.ts';
import { healthOn, replicasByVolume } from './disk-volume-lines.ts';
import type { DiskEntryLine, EvictionLine } from './disks-report.ts';
import { copiesOf } from './image-lines.ts';
import { diskLabel, type KnownDisk, knownDisks } from './known-disks.ts';

type Progress = Pick<EvictionLine, 'state' | 'message' | 'volume'>;

/** The replicas and copies that are still on the disks, and the reason for each. `disks` are those that are to become empty. */
export function evictionLines(
  disks: readonly KnownDisk[],
  objects: DiskObjects,
  all: readonly KnownDisk[] = knownDisks(objects),
): readonly EvictionLine[] {
  const progress = new EvictionProgress(objects, all);
  return disks.flatMap((disk) =>
    diskEntries(disk).map((entry) => ({
      kind: entry.kind,
      name: entry.name,
      node: disk.nodeName,
      disk: disk.name,
      sizeBytes: Math.max(entry.requestedBytes, entry.scheduledBytes),
      ...progress.of(entry, disk),
    })),
  );
}

class EvictionProgress {
  readonly #objects: DiskObjects;
  readonly #disks: ReadonlyMap<string, KnownDisk>;
  readonly #replicas: ReadonlyMap<string, Replica>;
  readonly #siblings: ReadonlyMap<string, readonly Replica[]>;
  readonly #volumes: ReadonlyMap<string, DiskVolume>;
  readonly #healthOf: ReturnType<typeof healthOn>;

  constructor(objects: DiskObjects, all: readonly KnownDisk[]) {
    this.#objects = objects;
    this.#disks = new Map(all.map((disk) => [disk.uuid ?? '', disk]));
    this.#replicas = new Map(
      (objects.replicas ?? []).map((replica) => [replica.metadata?.name ?? '', replica]),
    );
    this.#siblings = replicasByVolume(objects);
    this.#healthOf = healthOn(all);
    this.#volumes = new Map((objects.volumes ?? []).map((volume) => [volume.metadata?.name ?? '', volume]));
  }

  of(entry: DiskEntryLine, disk: KnownDisk): Progress {
    if (entry.state === 'releasing') return { state: 'Leaving', message: 'its bytes are being released' };
    return entry.kind === 'replica' ? this.#replica(entry.name) : this.#image(entry.name, disk);
  }

  #replica(name: string): Progress {
    const { replicas, volumes } = this.#objects;
    if (replicas === undefined || volumes === undefined)
      return { state: 'Waiting', message: 'replicas or volumes could not be read' };
    const replica = this.#replicas.get(name);
    if (replica === undefined)
      return {
        state: 'Leaving',
        message: 'there is no Replica of this name; the request is removed after about a minute',
      };
    const volume = textOf(replica.spec?.volumeName);
    if (replica.metadata?.deletionTimestamp !== undefined)
      return { volume, state: 'Leaving', message: 'it is being deleted' };
    const owner = this.#volumes.get(volume);
    if (owner === undefined)
      return { volume, state: 'Blocked', message: `its Volume ${volume} does not exist; delete the Replica` };
    const refusal = refusalIn(owner.status?.conditions);
    if (refusal !== undefined) return { volume, state: 'Blocked', message: refusal };
    return { volume, ...this.#successor(volume) };
  }

  /** The state of the replicas that stay, and why they do not suffice yet. */
  #successor(volume: string): Progress {
    const staying = (this.#siblings.get(volume) ?? []).filter(
      (one) => one.metadata?.deletionTimestamp === undefined && !this.#isEvicted(one),
    );
    const [unplaced, waiting] = [
      staying.find((one) => one.spec?.diskID === undefined),
      staying.find((one) => one.spec?.diskID !== undefined && this.#healthOf(one) !== 'healthy'),
    ];
    if (waiting !== undefined) {
      const disk = this.#disks.get(waiting.spec?.diskID ?? '');
      const place = disk === undefined ? textOf(waiting.spec?.nodeID) : diskLabel(disk);
      const why = textOf(waiting.status?.message) || noDataText(disk, textOf(waiting.spec?.nodeID));
      return { state: 'Moving', message: `to ${waiting.metadata?.name} on ${place}: ${why}` };
    }
    if (unplaced !== undefined)
      return { state: 'Waiting', message: `${unplaced.metadata?.name} has no disk yet` };
    return { state: 'Waiting', message: 'the controller disks has not answered yet' };
  }

  #isEvicted({ spec }: Replica): boolean {
    const disk = this.#disks.get(spec?.diskID ?? '');
    return disk !== undefined && isEvicted(disk);
  }

  #image(name: string, from: KnownDisk): Progress {
    const image = this.#objects.images?.find(({ metadata }) => metadata?.name === name);
    if (this.#objects.images === undefined) return { state: 'Waiting', message: 'images could not be read' };
    if (image === undefined)
      return {
        state: 'Leaving',
        message: 'there is no BackingImage of this name; the request is removed after about a minute',
      };
    if (image.metadata?.deletionTimestamp !== undefined)
      return { state: 'Leaving', message: 'it is being deleted' };
    const refusal = refusalIn(image.status?.conditions);
    if (refusal !== undefined) return { state: 'Blocked', message: refusal };
    const coming = copiesOf(image, [...this.#disks.values()]).find(({ state, diskUUID }) => {
      const disk = this.#disks.get(diskUUID);
      return state !== 'ready' && disk !== undefined && !isEvicted(disk);
    });
    if (coming === undefined) {
      const staying = stayingReason(image.status?.conditions, from);
      return { state: 'Waiting', message: staying ?? 'the controller disks has not answered yet' };
    }
    const { node, disk, progressPercent = 0, message } = coming;
    return { state: 'Moving', message: `to ${node}/${disk}: ${message ?? `${progressPercent} % are there`}` };
  }
}

/** An agent that runs has reported where it is reached. */
function noDataText(disk: KnownDisk | undefined, nodeName: string): string {
  return disk?.node !== undefined && disk.node.status?.upload === undefined
    ? `no agent runs on node ${nodeName}: start the controller disk-agent there`
    : 'it does not have the data yet';
}

/** Reasons of a condition that last until something else changes. A refused expansion keeps no replica from moving. */
const refusals: readonly (string | undefined)[] = ['InsufficientStorage', 'DiskRemoved', 'CopyFailed'];

/** The message of the condition if no other disk fits. */
function refusalIn(conditions: readonly Condition[] | undefined): string | undefined {
  const found = getCondition(conditions, 'DiskAllocation');
  if (found?.status !== 'False' || !refusals.includes(found.reason)) return undefined;
  return textOf(found.message) || 'no disk fits';
}

/** The part of the condition's message about the copy on one disk, such as that a replica there needs it. */
function stayingReason(conditions: readonly Condition[] | undefined, disk: KnownDisk): string | undefined {
  const { message } = getCondition(conditions, 'DiskAllocation') ?? {};
  const place = `disk ${disk.name} on node ${disk.nodeName} `;
  return textOf(message)
    .split('; ')
    .find((part) => part.includes(place));
}
