import { mkdir, readFile, stat, statfs } from 'node:fs/promises';
import type { DriveHost, FilesystemUsage, HostDevice } from './drive-host.ts';
import { MountTable } from './mount-table.ts';
import type { ProjectQuota } from './project-quota.ts';
import { runProgram } from './run-program.ts';
import { VolumeDirectories } from './volume-directories.ts';
import { xfsDevices } from './xfs-devices.ts';

/** The machine that this process runs on: Linux, with mount(8), umount(8) and xfsprogs. The process needs to be root. */
export class LinuxHost implements DriveHost {
  readonly directories = new VolumeDirectories();
  readonly quota: ProjectQuota;
  /** The scan in progress: concurrent checks of drives share it. */
  #scan: ReturnType<typeof xfsDevices> | undefined;

  constructor(quota: ProjectQuota) {
    this.quota = quota;
  }

  async mounts(): Promise<MountTable> {
    return MountTable.parse(await readFile('/proc/self/mountinfo', 'utf8'));
  }

  async devicesWith(filesystemUuid: string): Promise<readonly HostDevice[]> {
    this.#scan ??= xfsDevices().finally(() => {
      this.#scan = undefined;
    });
    return (await this.#scan).get(filesystemUuid.toLowerCase()) ?? [];
  }

  async hasDevice(number: string): Promise<boolean> {
    return await stat(`/sys/dev/block/${number}`).then(
      () => true,
      () => false,
    );
  }

  async mountFilesystem({ path: device }: HostDevice, path: string): Promise<void> {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const options = ['noatime', this.quota.mountOption].filter((option) => option !== undefined);
    await runProgram('mount', ['-t', 'xfs', '-o', options.join(','), device, path]);
  }

  async bind(source: string, target: string): Promise<void> {
    await runProgram('mount', ['-o', 'bind', source, target]);
  }

  async restrict(target: string, options: readonly string[]): Promise<void> {
    await runProgram('mount', ['-o', ['remount', 'bind', ...options].join(','), target]);
  }

  async unmount(path: string, { lazy = false }: { readonly lazy?: boolean } = {}): Promise<void> {
    await runProgram('umount', [...(lazy ? ['-l'] : []), path]);
  }

  async usage(path: string): Promise<FilesystemUsage> {
    const { bsize, blocks, bfree, bavail, files, ffree } = await statfs(path);
    return {
      totalBytes: blocks * bsize,
      availableBytes: bavail * bsize,
      usedBytes: (blocks - bfree) * bsize,
      totalFiles: files,
      freeFiles: ffree,
    };
  }
}
