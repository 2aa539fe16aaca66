import { CsiStatusError } from '../../csi/csi-errors.ts';
import type { DriveHost } from '../host/drive-host.ts';
import type { HostMount } from '../host/mount-table.ts';
import { makeTarget, removeTarget, resolvedTarget } from '../host/safe-paths.ts';

/** Mounts on top of each other at one path that are removed; more come from something else than repeated calls. */
const stackedMax = 32;

/** A directory that is to be visible at a path of a request. */
export interface WantedMount {
  readonly volume: string;
  readonly source: string;
  /** Major and minor number of the drive. */
  readonly device: string;
  /** Such as `ro`. */
  readonly options: readonly string[];
}

/**
 * Bind mounts of volumes at the paths that the kubelet names. The kernel's mount table is the only record: after a crash or a reboot it says
 * what is left, and each call goes on from there. A mount that does not show the volume is never touched.
 */
export class VolumeMounts {
  readonly #host: DriveHost;
  readonly #drivesRoot: string;

  constructor(host: DriveHost, drivesRoot: string) {
    this.#host = host;
    this.#drivesRoot = drivesRoot;
  }

  /** The mounts that show the volume, the drive's own mount aside. */
  async of(volume: string): Promise<readonly HostMount[]> {
    const { mounts } = await this.#host.mounts();
    return mounts.filter((mount) => shows(mount, volume));
  }

  /** The mount at a path of a request, if it shows the volume. */
  async at(path: string, volume: string): Promise<HostMount | undefined> {
    const target = await resolvedTarget(path, this.#drivesRoot);
    const mount = target === undefined ? undefined : (await this.#host.mounts()).at(target);
    return mount !== undefined && shows(mount, volume) ? mount : undefined;
  }

  /**
   * 1. The directory of the mount is made. 2. The volume is mounted. 3. The mount is restricted, if options are wanted. After a crash behind
   * any step the repeated call finds the mount, and does what is missing.
   */
  async mount(path: string, wanted: WantedMount): Promise<void> {
    const target = await resolvedTarget(path, this.#drivesRoot);
    if (target === undefined)
      throw new CsiStatusError('InvalidArgument', `the directory that ${path} is in does not exist`);
    const existing = await this.#reusable(target, (await this.#host.mounts()).at(target), wanted);
    if (existing === undefined) {
      await makeTarget(target);
      await this.#host.bind(wanted.source, target);
    }
    const missing = wanted.options.filter((option) => existing?.options.includes(option) !== true);
    if (missing.length > 0) await this.#host.restrict(target, wanted.options);
  }

  /** Nothing mounted there, or no such directory: done already. */
  async unmount(path: string, volume: string, { removes }: { readonly removes: boolean }): Promise<void> {
    const target = await resolvedTarget(path, this.#drivesRoot);
    if (target === undefined) return;
    for (let left = stackedMax; left > 0; left -= 1) {
      const table = await this.#host.mounts();
      const mount = table.at(target);
      if (mount === undefined) break;
      if (!shows(mount, volume)) throw otherMount(target, volume);
      // The device of a lost drive does not answer, so that only a lazy unmount succeeds.
      await this.#host.unmount(target, { lazy: !(await this.#host.hasDevice(mount.device)) });
    }
    if (removes) await removeTarget(target);
  }

  /** A mount of the volume's old device, which was lost and came back, is removed: the pods that saw it have ended. */
  async #reusable(
    target: string,
    mount: HostMount | undefined,
    wanted: WantedMount,
  ): Promise<HostMount | undefined> {
    if (mount === undefined) return undefined;
    if (!shows(mount, wanted.volume)) throw otherMount(target, wanted.volume);
    if (mount.device !== wanted.device || mount.root.endsWith(removedMark)) {
      await this.#host.unmount(target, { lazy: true });
      return undefined;
    }
    if (mount.options.includes('ro') && !wanted.options.includes('ro'))
      throw new CsiStatusError(
        'AlreadyExists',
        `volume ${wanted.volume} is mounted read-only at ${target}, and was asked for writing`,
      );
    return mount;
  }
}

/** The kernel's mark of a directory that was removed while it was mounted. */
const removedMark = '//deleted';

function shows({ type, root }: HostMount, volume: string): boolean {
  const path = root.endsWith(removedMark) ? root.slice(0, -removedMark.length) : root;
  return type === 'xfs' && (path === `/volumes/${volume}` || path === `/deleted/${volume}`);
}

function otherMount(target: string, volume: string): CsiStatusError {
  return new CsiStatusError(
    'FailedPrecondition',
    `what is mounted at ${target} is not volume ${volume}; it stays as it is`,
  );
}
