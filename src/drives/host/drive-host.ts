import type { MountTable } from './mount-table.ts';
import type { ProjectQuota } from './project-quota.ts';
import type { VolumeDirectories } from './volume-directories.ts';

/**
 * The operations of the node's operating system on drives. `LinuxHost` is the real one; tests have one without mounts and root.
 *
 * Paths are absolute and checked by the caller (`safe-paths.ts`); no method runs a shell. Methods reject with an `Error` whose message names
 * the path. After a rejection the operation may have taken effect: callers read `mounts` again.
 */
export interface DriveHost {
  /** Every mount that this process sees. */
  mounts(): Promise<MountTable>;
  /** The block devices whose filesystem has this UUID, as they are called now; a device that another one uses is left out. */
  devicesWith(filesystemUuid: string): Promise<readonly HostDevice[]>;
  /** Whether the kernel still has the device, such as `8:16`. */
  hasDevice(number: string): Promise<boolean>;
  /** Makes the directory `path` if it is not there. */
  mountFilesystem(device: HostDevice, path: string): Promise<void>;
  /** Makes the directory `source` visible at `target`. */
  bind(source: string, target: string): Promise<void>;
  /** Sets options such as `ro` on a bind mount; other mounts of the filesystem keep theirs. */
  restrict(target: string, options: readonly string[]): Promise<void>;
  /** `lazy` also detaches a mount that is in use; its users keep it until they end. */
  unmount(path: string, options?: { readonly lazy?: boolean }): Promise<void>;
  /** Returns the usage of the filesystem, or of the quota if the directory has one. Rejects with `EIO` if the device fails. */
  usage(path: string): Promise<FilesystemUsage>;
  readonly directories: Pick<VolumeDirectories, keyof VolumeDirectories>;
  readonly quota: ProjectQuota;
}

export interface HostDevice {
  /** Such as `/dev/sdb`. */
  readonly path: string;
  /** Major and minor number, such as `8:16`. */
  readonly number: string;
  /** Maker and model, if the kernel knows them. */
  readonly make?: string | undefined;
}

export interface FilesystemUsage {
  readonly totalBytes: number;
  readonly availableBytes: number;
  readonly usedBytes: number;
  readonly totalFiles: number;
  readonly freeFiles: number;
}
