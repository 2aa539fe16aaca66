import { posix } from 'node:path';
import type { DriveHost, FilesystemUsage } from '../drives/host/drive-host.ts';
import { type HostMount, MountTable } from '../drives/host/mount-table.ts';
import type { Clock } from '../runtime/clock.ts';

/** Where the node service mounts drives. */
export const drivesRoot = '/drives';
/** How long an operation of the machine takes. */
const operationMs = 5;
const quotaOption = 'prjquota';

interface SimulatedFilesystem {
  readonly number: string;
  totalBytes: number;
  isConnected: boolean;
  /** The directories of volumes, and of those that are being removed. */
  readonly active: Set<string>;
  readonly retired: Set<string>;
}

/**
 * The machine of one node: filesystems by their UUID, and mounts. It outlives the node service, which may end before or after any operation. Pods
 * are not mounted by that service here: `publish` and `unpublish` stand for its calls by a kubelet.
 */
export class SimulatedDriveHost {
  readonly #filesystems = new Map<string, SimulatedFilesystem>();
  #mounts: HostMount[] = [];
  readonly #removedInUse: string[] = [];
  readonly #onRemoved: (uuid: string, volume: string) => void;

  /** `onRemoved` is called when the data of a volume is gone. */
  constructor(onRemoved: (uuid: string, volume: string) => void) {
    this.#onRemoved = onRemoved;
  }

  /** Volumes whose data was removed although a pod used it. */
  get removedInUse(): readonly string[] {
    return this.#removedInUse;
  }

  /** Connects a device; a filesystem that was connected before keeps its content. */
  connect(uuid: string, totalBytes: number): void {
    const known = this.#filesystems.get(uuid);
    const number = `8:${this.#filesystems.size}`;
    this.#filesystems.set(uuid, {
      ...(known ?? { number, active: new Set(), retired: new Set() }),
      totalBytes,
      isConnected: true,
    });
  }

  reconnect(uuid: string): void {
    const filesystem = this.#filesystems.get(uuid);
    if (filesystem !== undefined) filesystem.isConnected = true;
  }

  disconnect(uuid: string): void {
    const filesystem = this.#filesystems.get(uuid);
    if (filesystem !== undefined) filesystem.isConnected = false;
  }

  isConnected(uuid: string): boolean {
    return this.#filesystems.get(uuid.toLowerCase())?.isConnected === true;
  }

  hasData(uuid: string, volume: string): boolean {
    const filesystem = this.#filesystems.get(uuid.toLowerCase());
    return filesystem?.active.has(volume) === true || filesystem?.retired.has(volume) === true;
  }

  /** A pod starts with the volume. */
  publish(uuid: string, volume: string, pod: string): void {
    const filesystem = this.#filesystems.get(uuid.toLowerCase());
    const path = targetOf(volume, pod);
    if (filesystem === undefined || !filesystem.isConnected) return;
    if (this.#mounts.some((mount) => mount.path === path)) return;
    filesystem.active.add(volume);
    this.#mounts.push(mountOf(path, `/volumes/${volume}`, filesystem.number));
  }

  /** A pod that used the volume has ended. */
  unpublish(volume: string, pod: string): void {
    this.#mounts = this.#mounts.filter(({ path }) => path !== targetOf(volume, pod));
  }

  /** The machine as one run of the node service sees it; after the end of that run nothing happens any more. */
  forProcess(clock: Clock, ended: AbortSignal): DriveHost {
    const during = async <R>(work: () => R): Promise<R> => {
      await clock.sleep(operationMs, ended);
      ended.throwIfAborted();
      return work();
    };
    return {
      mounts: () => during(() => new MountTable([...this.#mounts])),
      devicesWith: (uuid) =>
        during(() => {
          const filesystem = this.#filesystems.get(uuid);
          return filesystem?.isConnected ? [{ path: `/dev/${uuid}`, number: filesystem.number }] : [];
        }),
      hasDevice: (number) =>
        during(() =>
          [...this.#filesystems.values()].some((each) => each.number === number && each.isConnected),
        ),
      mountFilesystem: ({ number }, path) => during(() => void this.#mounts.push(mountOf(path, '/', number))),
      bind: () => Promise.reject(new Error('the simulated kubelet calls no node service')),
      restrict: () => Promise.reject(new Error('the simulated kubelet calls no node service')),
      unmount: (path) =>
        during(() => {
          this.#mounts = this.#mounts.filter((mount) => mount.path !== path);
        }),
      usage: (path) => during(() => usageOf(this.#mounted(path))),
      directories: {
        prepare: (mount) => during(() => void this.#mounted(mount)),
        isEmpty: (mount) => during(() => isEmpty(this.#mounted(mount))),
        names: (mount) => during(() => [...this.#mounted(mount).active]),
        remains: (mount) => during(() => [...this.#mounted(mount).retired]),
        find: (mount, volume) =>
          during(() =>
            this.#mounted(mount).active.has(volume) ? posix.join(mount, 'volumes', volume) : undefined,
          ),
        begin: (mount, volume) =>
          during(() => {
            this.#mounted(mount).retired.add(volume);
            return posix.join(mount, 'deleted', volume);
          }),
        finish: (mount, volume) =>
          during(() => {
            const filesystem = this.#mounted(mount);
            filesystem.retired.delete(volume);
            filesystem.active.add(volume);
            return posix.join(mount, 'volumes', volume);
          }),
        retire: (mount, volume) =>
          during(() => {
            const filesystem = this.#mounted(mount);
            if (filesystem.active.delete(volume)) filesystem.retired.add(volume);
            return filesystem.retired.has(volume) ? posix.join(mount, 'deleted', volume) : undefined;
          }),
        remove: (mount, volume) => during(() => this.#remove(this.#mounted(mount), volume)),
      },
      quota: {
        mountOption: quotaOption,
        assign: () => during(() => {}),
        limit: () => during(() => {}),
        lift: () => during(() => {}),
      },
    };
  }

  #remove(filesystem: SimulatedFilesystem, volume: string): void {
    if (!filesystem.retired.delete(volume)) return;
    if (this.#mounts.some(({ root }) => root === `/volumes/${volume}`)) this.#removedInUse.push(volume);
    for (const [uuid, known] of this.#filesystems) if (known === filesystem) this.#onRemoved(uuid, volume);
  }

  /** The filesystem that is mounted at the path. */
  #mounted(path: string): SimulatedFilesystem {
    const mount = this.#mounts.find((each) => each.path === path);
    const filesystem = [...this.#filesystems.values()].find(({ number }) => number === mount?.device);
    if (filesystem === undefined) throw new Error(`nothing is mounted at ${path} (simulated)`);
    if (!filesystem.isConnected)
      throw Object.assign(new Error(`${path}: i/o error (simulated)`), { code: 'EIO' });
    return filesystem;
  }
}

function mountOf(path: string, root: string, device: string): HostMount {
  return { path, root, device, type: 'xfs', options: ['rw'], filesystemOptions: ['rw', quotaOption] };
}

function targetOf(volume: string, pod: string): string {
  return `/pods/${pod}/${volume}`;
}

function isEmpty({ active, retired }: SimulatedFilesystem): boolean {
  return active.size === 0 && retired.size === 0;
}

function usageOf({ totalBytes }: SimulatedFilesystem): FilesystemUsage {
  return { totalBytes, availableBytes: totalBytes, usedBytes: 0, totalFiles: 1000, freeFiles: 990 };
}
