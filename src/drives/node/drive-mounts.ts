import { join } from 'node:path';
import { messageOf } from '../../runtime/error-message.ts';
import { KeyedQueue } from '../../runtime/keyed-queue.ts';
import type { DriveHost, FilesystemUsage, HostDevice } from '../host/drive-host.ts';
import type { HostMount, MountTable } from '../host/mount-table.ts';
import { codeOf } from '../host/safe-paths.ts';

export interface DriveMountsOptions {
  readonly host: DriveHost;
  /** Each drive is mounted in it, by the UUID of its filesystem. */
  readonly drivesRoot: string;
}

/** The observation of a drive by its node. */
export type DriveObservation =
  | {
      readonly kind: 'mounted';
      readonly path: string;
      readonly device: HostDevice;
      readonly usage: FilesystemUsage;
      /** Whether there are neither volumes nor remains of them on it. */
      readonly isEmpty: boolean;
      /** The directories of volumes. */
      readonly directories: readonly string[];
    }
  /** No device has the filesystem. */
  | { readonly kind: 'lost'; readonly message: string }
  | { readonly kind: 'failed'; readonly reason: MountFailure; readonly message: string };

/** The facts about a mounted drive that calls use. */
export interface MountedDrive {
  readonly kind: 'mounted';
  readonly path: string;
  readonly device: Pick<HostDevice, 'number'>;
}

export type MountFailure =
  | 'InvalidUUID'
  | 'DuplicateFilesystem'
  | 'MultipleDevices'
  | 'MountFailed'
  | 'QuotaNotEnforced'
  | 'InputOutputError';

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Mounts drives by the UUID of their filesystem, whatever the device is called today. Every call starts from what the kernel reports, so that
 * it may be repeated after a crash or a reboot. Calls for one drive run one after the other.
 */
export class DriveMounts {
  readonly #host: DriveHost;
  readonly #root: string;
  readonly #queue = new KeyedQueue();

  constructor({ host, drivesRoot }: DriveMountsOptions) {
    this.#host = host;
    this.#root = drivesRoot;
  }

  pathOf(uuid: string): string {
    return join(this.#root, uuid.toLowerCase());
  }

  /** Runs a task that changes the directories of a mounted drive; no other one, and no mount or unmount, runs meanwhile. */
  exclusively<R>(uuid: string, task: () => Promise<R>): Promise<R> {
    return this.#queue.run(uuid.toLowerCase(), task);
  }

  /** Mounts the drive unless it is mounted, and looks how it is. Never rejects because of the drive. */
  ensure(uuid: string): Promise<DriveObservation> {
    if (!isUuid(uuid))
      return Promise.resolve(
        failed('InvalidUUID', 'spec.filesystemUUID is not a UUID; create the Drive again'),
      );
    return this.exclusively(uuid, async () => {
      try {
        return await this.#ensure(uuid.toLowerCase());
      } catch (error) {
        if (isDeviceError(error)) return failed('InputOutputError', brokenText(messageOf(error)));
        return failed('MountFailed', `${messageOf(error)}; see the kernel's messages (dmesg)`);
      }
    });
  }

  /**
   * Where the drive is mounted and its device, for a call: if it is mounted, no other device is read, so that a broken one does not keep the
   * volumes of other drives waiting.
   */
  async mounted(uuid: string): Promise<MountedDrive | Exclude<DriveObservation, { kind: 'mounted' }>> {
    const path = this.pathOf(uuid);
    const mount = isUuid(uuid) ? (await this.#host.mounts()).at(path) : undefined;
    if (mount !== undefined && this.#hasQuota(mount) && (await this.#host.hasDevice(mount.device)))
      return { kind: 'mounted', path, device: { number: mount.device } };
    return await this.ensure(uuid);
  }

  /** Unmounts the drive unless volumes on it are in use; returns whether it is unmounted. */
  unmount(uuid: string): Promise<boolean> {
    if (!isUuid(uuid)) return Promise.resolve(true);
    return this.exclusively(uuid, async () => {
      const path = this.pathOf(uuid);
      const table = await this.#host.mounts();
      const mount = table.at(path);
      if (mount === undefined) return true;
      if (usersOf(table, mount).length > 0) return false;
      await this.#host.unmount(path);
      return true;
    });
  }

  async #ensure(uuid: string): Promise<DriveObservation> {
    const devices = await this.#host.devicesWith(uuid);
    const [device] = devices;
    if (devices.length > 1) return failed('MultipleDevices', multipleText(devices, uuid));
    const path = this.pathOf(uuid);
    const table = await this.#host.mounts();
    const mount = table.at(path);
    if (device === undefined) return await this.#withoutDevice(uuid, mount);
    if (mount === undefined) return await this.#mount(device, path);
    if (mount.device !== device.number) {
      // The device came back under another number: the filesystem that is mounted here has lost its device.
      await this.#host.unmount(path, { lazy: true });
      return await this.#mount(device, path);
    }
    return await this.#inspect(device, path, table);
  }

  /** The mount stays as it is: volumes on it may still be readable, and nothing is released. */
  async #withoutDevice(uuid: string, mount: HostMount | undefined): Promise<DriveObservation> {
    if (mount !== undefined && (await this.#host.hasDevice(mount.device)))
      return failed('InputOutputError', brokenText(`device ${mount.device} cannot be read`));
    return {
      kind: 'lost',
      message: `No device of this node has a filesystem with the UUID ${uuid}. Connect the drive again; its volumes stay in the ledger, and their pods start when it is back`,
    };
  }

  async #mount(device: HostDevice, path: string): Promise<DriveObservation> {
    await this.#host.mountFilesystem(device, path);
    return await this.#inspect(device, path, await this.#host.mounts());
  }

  async #inspect(device: HostDevice, path: string, table: MountTable): Promise<DriveObservation> {
    const mount = table.at(path);
    if (mount === undefined) return failed('MountFailed', `nothing is mounted at ${path}`);
    const users = usersOf(table, mount);
    if (!this.#hasQuota(mount)) return await this.#withoutQuota(device, path, users);
    try {
      return await this.#observe(device, path);
    } catch (error) {
      if (!isDeviceError(error) || users.length > 0) throw error;
      // XFS shuts a filesystem down after an error; a new mount recovers it, if the device works again.
      await this.#mountAgain(device, path);
      return await this.#observe(device, path);
    }
  }

  /** XFS enables quota only with the first mount of a filesystem. */
  async #withoutQuota(
    device: HostDevice,
    path: string,
    users: readonly HostMount[],
  ): Promise<DriveObservation> {
    const elsewhere = users.map((mount) => mount.path);
    if (elsewhere.length > 0)
      return failed(
        'QuotaNotEnforced',
        `the filesystem is mounted without project quota, and in use at ${elsewhere.join(', ')}; move these pods to another node, or unmount it there`,
      );
    await this.#mountAgain(device, path);
    const mount = (await this.#host.mounts()).at(path);
    if (mount === undefined || !this.#hasQuota(mount))
      return failed('QuotaNotEnforced', 'the kernel mounts the filesystem without project quota');
    return await this.#observe(device, path);
  }

  #hasQuota({ filesystemOptions }: HostMount): boolean {
    const { mountOption } = this.#host.quota;
    return mountOption === undefined || filesystemOptions.includes(mountOption);
  }

  async #mountAgain(device: HostDevice, path: string): Promise<void> {
    await this.#host.unmount(path);
    await this.#host.mountFilesystem(device, path);
  }

  async #observe(device: HostDevice, path: string): Promise<DriveObservation> {
    const { directories } = this.#host;
    await directories.prepare(path);
    const isEmpty = await directories.isEmpty(path);
    const names = await directories.names(path);
    return {
      kind: 'mounted',
      path,
      device,
      usage: await this.#host.usage(path),
      isEmpty,
      directories: names,
    };
  }
}

/** It becomes part of a path. */
function isUuid(text: string): boolean {
  return uuidPattern.test(text.toLowerCase());
}

/** Other mounts of the same filesystem. */
function usersOf(table: MountTable, mount: HostMount): readonly HostMount[] {
  return table.of(mount.device).filter(({ path }) => path !== mount.path);
}

function multipleText(devices: readonly HostDevice[], uuid: string): string {
  const paths = devices.map(({ path }) => path).join(' and ');
  return `${paths} have the same filesystem UUID ${uuid}; disconnect the copy, or give it another UUID with xfs_admin -U generate`;
}

/** The remedy for a drive that is not mounted. A drive that cannot be read may have failed. */
export function adviceAbout(drive: string, seen: Exclude<DriveObservation, { kind: 'mounted' }>): string {
  const isDead = seen.kind === 'lost' || seen.reason === 'InputOutputError' || seen.reason === 'MountFailed';
  const advice = `If it is dead, stowage drives forget ${drive} lists what is lost, and gives it up`;
  return isDead ? `${seen.message}. ${advice}` : seen.message;
}

/** The status of a Drive whose filesystem belongs to an older Drive. The node neither mounts nor unmounts anything for it. */
export function duplicateOf(owner: string): DriveObservation {
  return failed(
    'DuplicateFilesystem',
    `Drive ${owner}, which is older, has the same spec.filesystemUUID: the bytes count there. The volumes in this ledger can be used, and no new ones are put here. Delete their claims, then remove this Drive with stowage drives remove.`,
  );
}

function brokenText(problem: string): string {
  return `${problem}; see the kernel's messages (dmesg), and replace the device or repair its filesystem`;
}

function isDeviceError(error: unknown): boolean {
  return ['EIO', 'ENODEV', 'ENXIO', 'ESTALE', 'EUCLEAN', 'EROFS'].includes(codeOf(error));
}

function failed(reason: MountFailure, message: string): DriveObservation {
  return { kind: 'failed', reason, message };
}
