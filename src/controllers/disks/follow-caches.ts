import { type DiskChange, type DiskIndex, mayAcceptMore } from '../../engine/disks/disk-index.ts';
import type { ImageEntries } from '../../engine/disks/images/image-entries.ts';
import type { ImageUse, ImageUsers } from '../../engine/disks/images/image-users.ts';
import type { NodeSchedules } from '../../engine/disks/node-schedules.ts';
import type { DiskCaches } from './disk-caches.ts';

/** The functions that end the updates of an index. */
type StopFollowing = readonly (() => void)[];

export interface DiskListener {
  /** Called for a disk that is new, or that may accept requests which it would have rejected before. */
  readonly gained?: (change: DiskChange) => void;
  /** Called for a disk that is new, or that becomes ready or not ready. */
  readonly readinessChanged?: (change: DiskChange) => void;
  /** Called after every change of a disk or of its schedule. */
  readonly changed?: (change: DiskChange) => void;
}

/** Updates the index with every event, and then calls the listener. */
export function followDisks(index: DiskIndex, caches: DiskCaches, listener: DiskListener): StopFollowing {
  const { schedules, nodes, settings } = caches;
  const report = (change: DiskChange | undefined) => {
    if (change === undefined) return;
    if (mayAcceptMore(change)) listener.gained?.(change);
    if (change.before?.state.kind !== change.disk.state.kind) listener.readinessChanged?.(change);
    listener.changed?.(change);
  };
  const refreshAll = (uuids: Iterable<string>) => {
    for (const uuid of uuids) report(index.refresh(uuid));
  };
  const node = (object: Parameters<DiskIndex['affectedBy']>[0]) => refreshAll(index.affectedBy(object));
  const settingsChanged = () => refreshAll(index.disks.map(({ uuid }) => uuid));
  return [
    schedules.addHandler({
      added: (schedule) => report(index.update(schedule)),
      updated: (schedule, old) => report(index.update(schedule, old)),
      deleted: (schedule) => index.delete(schedule),
    }),
    nodes.addHandler({
      added: node,
      updated: (object, old) => {
        node(old);
        node(object);
      },
      deleted: node,
    }),
    settings.addHandler({ added: settingsChanged, updated: settingsChanged, deleted: settingsChanged }),
  ];
}

/** A loop adds these handlers first, so that its other handlers find the index up to date. */
export function followNodeSchedules(index: NodeSchedules, { schedules }: DiskCaches): StopFollowing {
  return [
    schedules.addHandler({
      added: (schedule) => index.update(schedule),
      updated: (schedule, old) => index.update(schedule, old),
      deleted: (schedule) => index.delete(schedule),
    }),
  ];
}

/** Calls `changed` if a Volume that uses an image, or one of its replicas, has changed. */
export function followImageUsers(
  users: ImageUsers,
  { volumes, replicas }: DiskCaches,
  changed: (use: ImageUse) => void,
): StopFollowing {
  const report = (use: ImageUse | undefined) => {
    if (use !== undefined) changed(use);
  };
  return [
    volumes.addHandler({
      added: (volume) => report(users.addVolume(volume)),
      updated: (volume) => report(users.addVolume(volume)),
      deleted: (volume) => report(users.deleteVolume(volume)),
    }),
    replicas.addHandler({
      added: (replica) => report(users.addReplica(replica)),
      updated: (replica) => report(users.addReplica(replica)),
      deleted: (replica) => report(users.deleteReplica(replica)),
    }),
  ];
}

/** Calls `changed` for each image whose request or verdict was added, changed or removed. */
export function followImageEntries(
  entries: ImageEntries,
  { schedules }: DiskCaches,
  changed: (image: string) => void,
): StopFollowing {
  const report = (images: readonly string[]) => {
    for (const image of images) changed(image);
  };
  return [
    schedules.addHandler({
      added: (schedule) => report(entries.update(schedule, {})),
      updated: (schedule, old) => report(entries.update(schedule, old)),
      deleted: (schedule) => report(entries.update({ metadata: schedule.metadata ?? {} }, schedule)),
    }),
  ];
}
