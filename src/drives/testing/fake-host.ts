import { access, mkdir, rmdir, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { DriveHost, FilesystemUsage, HostDevice } from '../host/drive-host.ts';
import { type HostMount, MountTable } from '../host/mount-table.ts';
import type { ProjectQuota, VolumeDirectory } from '../host/project-quota.ts';
import { VolumeDirectories } from '../host/volume-directories.ts';

/** A device of a `FakeHost`: the content of its filesystem is a folder. */
export interface FakeDevice extends HostDevice {
  readonly uuid: string;
  readonly totalBytes: number;
  /** Operations on the filesystem fail with EIO. */
  isBroken: boolean;
}

/**
 * A machine without mounts and without root: directories are real, devices are folders, and mounts are a table. A mounted drive is a symbolic
 * link to the folder of its device; bind mounts are in the table only, and `shownAt` says where their data is. The table, the limits and the
 * folders survive a restart of the service under test; `reboot` clears the table.
 */
export class FakeHost implements DriveHost {
  readonly folder: string;
  readonly devices = new Map<string, FakeDevice>();
  readonly directories = new VolumeDirectories();
  /** Limits by the volume's name. */
  readonly limits = new Map<string, number>();
  /** Used bytes by the volume's name. */
  readonly used = new Map<string, number>();
  quota: ProjectQuota;
  #mounts: HostMount[] = [];
  #numbers = 0;

  constructor(folder: string) {
    this.folder = folder;
    this.quota = {
      mountOption: 'prjquota',
      assign: async () => {},
      limit: async ({ volume }: VolumeDirectory, bytes: number) => void this.limits.set(volume, bytes),
      lift: async ({ volume }: VolumeDirectory) => void this.limits.delete(volume),
    };
  }

  /** Connects a device; a filesystem that was connected before keeps its content. */
  async connect(path: string, uuid: string, totalBytes: number): Promise<FakeDevice> {
    await mkdir(this.#contentOf(uuid), { recursive: true });
    this.#numbers += 1;
    const device: FakeDevice = {
      path,
      uuid,
      totalBytes,
      number: `8:${this.#numbers}`,
      make: 'Example SSD',
      isBroken: false,
    };
    this.devices.set(path, device);
    return device;
  }

  disconnect(path: string): void {
    this.devices.delete(path);
  }

  /** Removes all mounts, and keeps everything else. */
  async reboot(): Promise<void> {
    for (const { path, root } of this.#mounts) if (root === '/') await this.#hide(path);
    this.#mounts = [];
  }

  /** The real directory that a path shows. */
  shownAt(path: string): string | undefined {
    const mount = new MountTable(this.#mounts).at(path);
    const device = [...this.devices.values()].find(({ number }) => number === mount?.device);
    return mount === undefined || device === undefined
      ? undefined
      : join(this.#contentOf(device.uuid), mount.root);
  }

  /** A mount that is none of the service's. */
  addMount(mount: Partial<HostMount> & Pick<HostMount, 'path'>): void {
    const defaults = { device: '0:99', root: '/', options: ['rw'], type: 'ext4', filesystemOptions: [] };
    this.#mounts.push({ ...defaults, ...mount });
  }

  async mounts(): Promise<MountTable> {
    return new MountTable([...this.#mounts]);
  }

  async devicesWith(filesystemUuid: string): Promise<readonly HostDevice[]> {
    return [...this.devices.values()].filter(({ uuid }) => uuid === filesystemUuid);
  }

  async hasDevice(number: string): Promise<boolean> {
    return [...this.devices.values()].some((device) => device.number === number);
  }

  async mountFilesystem({ path: source }: HostDevice, path: string): Promise<void> {
    const device = this.devices.get(source);
    if (device === undefined || device.isBroken) throw new Error(`mount: cannot read ${source}`);
    await mkdir(path, { recursive: true });
    await rmdir(path);
    await symlink(this.#contentOf(device.uuid), path);
    const filesystemOptions = ['rw', ...(this.quota.mountOption === undefined ? ['noquota'] : ['prjquota'])];
    this.addMount({ path, device: device.number, type: 'xfs', filesystemOptions });
  }

  async bind(source: string, target: string): Promise<void> {
    const mount = this.#mounts.findLast(({ path }) => source === path || source.startsWith(`${path}/`));
    if (mount === undefined) throw new Error(`mount: ${source} is not on a mounted drive`);
    const root = join(mount.root, source.slice(mount.path.length));
    this.addMount({ ...mount, path: target, root, options: ['rw', 'noatime'] });
  }

  async restrict(target: string, options: readonly string[]): Promise<void> {
    const at = this.#mounts.findLastIndex(({ path }) => path === target);
    if (at === -1) throw new Error(`mount: ${target} is not mounted`);
    this.#mounts[at] = { ...this.#mounts[at]!, options };
  }

  async unmount(path: string): Promise<void> {
    const at = this.#mounts.findLastIndex((mount) => mount.path === path);
    if (at === -1) throw new Error(`umount: ${path} is not mounted`);
    const [mount] = this.#mounts.splice(at, 1);
    if (mount?.root === '/') await this.#hide(path);
  }

  async usage(path: string): Promise<FilesystemUsage> {
    const mount = this.#mounts.findLast((one) => path === one.path || path.startsWith(`${one.path}/`));
    const device = [...this.devices.values()].find(({ number }) => number === mount?.device);
    if (mount === undefined || device === undefined || device.isBroken)
      throw Object.assign(new Error('i/o error'), { code: 'EIO' });
    await access(path === mount.path ? this.#contentOf(device.uuid) : path);
    const volume = join(mount.root, path.slice(mount.path.length)).slice('/volumes/'.length);
    const totalBytes = this.limits.get(volume) ?? device.totalBytes;
    const usedBytes = this.used.get(volume) ?? 0;
    return {
      totalBytes,
      availableBytes: totalBytes - usedBytes,
      usedBytes,
      totalFiles: 1000,
      freeFiles: 990,
    };
  }

  #contentOf(uuid: string): string {
    return join(this.folder, 'content', uuid);
  }

  async #hide(path: string): Promise<void> {
    await unlink(path);
    await mkdir(path);
  }
}
