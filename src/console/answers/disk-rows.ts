import type { PersistentVolume } from '../../kube/api/core.ts';
import { ownedEntries } from '../../queries/disks/disk-entries.ts';
import { diskLine } from '../../queries/disks/disk-lines.ts';
import { type DiskObjects, diskObjectsOf } from '../../queries/disks/disk-objects.ts';
import { VolumesOnDisks } from '../../queries/disks/disk-volume-lines.ts';
import { diskLabel, type KnownDisk, knownDisks } from '../../queries/disks/known-disks.ts';
import type { DiskView } from '../../queries/view/disk-view.ts';
import type { AnswerView } from '../state/answer-view.ts';
import type { DiskAnswer, WaitingVolumesAnswer } from '../wire/answers.ts';
import type { ConsoleDisk } from '../wire/rows.ts';

/** Every disk for the console, as `stowage disks list` shows it. */
export function diskRows(disks: AnswerView['disks']): readonly ConsoleDisk[] {
  return knownDisks(objectsOf(disks, [])).map(diskRow);
}

/** Every request for the bytes of a disk, as `stowage disks describe` shows them. */
export function diskAnswer({ disks, snapshot }: AnswerView, id: string): DiskAnswer | undefined {
  const objects = objectsOf(disks, [...snapshot.values('PersistentVolume')]);
  const found = knownDisks(objects).find((disk) => idOf(disk) === id);
  return found && { entries: ownedEntries(found, objects) };
}

/** One screen of them; `stowage disks list --volumes` has all. */
const waitingMax = 100;

/** Volumes whose replicas have no place, or not all of them, or are not all healthy. */
export function waitingVolumes({ disks }: AnswerView): WaitingVolumesAnswer {
  const waiting = new VolumesOnDisks(objectsOf(disks, [])).lines.filter(
    ({ state, robustness }) => state !== 'Allocated' || robustness === 'degraded' || robustness === 'faulted',
  );
  const volumes = waiting.slice(0, waitingMax).map((line) => ({
    volume: line.volume,
    sizeBytes: line.sizeBytes,
    replicasWanted: line.replicasWanted,
    replicasPlaced: line.replicasPlaced,
    state: line.state === 'Allocated' ? line.robustness : line.state,
    message: line.message,
  }));
  return { volumes, leftOut: waiting.length - volumes.length };
}

function diskRow(known: KnownDisk): ConsoleDisk {
  const line = diskLine(known);
  return {
    id: idOf(known),
    node: line.node,
    disk: line.disk,
    zone: line.zone ?? '',
    state: line.state,
    message: line.message ?? '',
    limitBytes: line.limitBytes ?? null,
    scheduledBytes: line.scheduledBytes,
    pendingBytes: line.pendingBytes,
    replicas: line.replicaCount,
    images: line.imageCount,
    pending: line.pendingCount,
    rejected: line.rejectedCount,
  };
}

function idOf(disk: KnownDisk): string {
  return `${diskLabel(disk)} ${disk.uuid ?? ''}`;
}

function objectsOf(disks: AnswerView['disks'], persistentVolumes: readonly PersistentVolume[]): DiskObjects {
  return diskObjectsOf(diskViewOf(disks), persistentVolumes);
}

/** The disks that the console follows. It does not follow images. */
export function diskViewOf(disks: AnswerView['disks']): DiskView {
  return {
    nodes: [...disks.StorageNode.values()],
    schedules: [...disks.DiskSchedule.values()],
    settings: [...disks.DiskSettings.values()],
    volumes: [...disks.DiskVolume.values()],
    replicas: [...disks.Replica.values()],
  };
}
