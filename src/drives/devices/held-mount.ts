import { type FileHandle, open, rmdir } from 'node:fs/promises';
import type { Clock } from '../../runtime/clock.ts';
import { type BlockDevice, readNamedBlockDevice } from './block-device.ts';
import { runSuccessfully, SystemCommandError, type SystemCommands } from './system-commands.ts';
import { temporaryMountFolder } from './temporary-mount.ts';

export interface HeldMountOptions {
  readonly commands: SystemCommands;
  readonly clock: Clock;
  /** Such as `prjquota`. */
  readonly mountOption: string | undefined;
  /** Whether others may use the filesystem at the same time, such as the node service and pods. */
  readonly isShared: boolean;
}

/** Programs that read all files, such as an indexer, keep a mount busy for a moment. */
const busyMsMax = 10_000;
const retryMs = 250;

/**
 * A drive that this process has mounted for itself, unless it is shared no other process uses the filesystem. As long as the process runs, an open directory keeps others from unmounting it; when the process is killed,
 * the mount stays, and `unmountLeftovers` of the next call ends it.
 */
export class HeldMount {
  readonly folder: string;
  readonly #device: BlockDevice;
  readonly #options: HeldMountOptions;
  #handle: FileHandle | undefined;

  static async open(device: BlockDevice, options: HeldMountOptions): Promise<HeldMount> {
    const mount = new HeldMount(await temporaryMountFolder(), device, options);
    try {
      await mount.#mount();
      if (!options.isShared) await mount.#requireOnly();
      return mount;
    } catch (error) {
      await mount[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(folder: string, device: BlockDevice, options: HeldMountOptions) {
    this.folder = folder;
    this.#device = device;
    this.#options = options;
  }

  /** If it cannot be unmounted, it stays until the next call. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.#unmount();
      await rmdir(this.folder);
    } catch {
      // The caller reports the outcome of the work, not a failed unmount.
    }
  }

  async #mount(): Promise<void> {
    const { commands, mountOption } = this.#options;
    const options = ['noatime', ...(mountOption === undefined ? [] : [mountOption])].join(',');
    await runSuccessfully(commands, 'mount', ['-t', 'xfs', '-o', options, this.#device.path, this.folder]);
    this.#handle = await open(this.folder, 'r');
  }

  /** Two calls that begin at the same time both mount it: at least one of them sees the mount of the other. */
  async #requireOnly(): Promise<void> {
    const { name, path } = this.#device;
    const { mounts = [] } = (await readNamedBlockDevice(name, this.#options)) ?? {};
    const other = mounts.find(({ mountPoint }) => mountPoint !== this.folder);
    if (other !== undefined)
      throw new SystemCommandError(
        `${path} is also mounted at ${other.mountPoint}; wait until it is unmounted`,
      );
  }

  async #unmount(): Promise<void> {
    if (this.#handle === undefined) return;
    await this.#handle.close();
    this.#handle = undefined;
    await unmountWhenFree(this.folder, this.#options);
  }
}

/** Rejects if a process uses the mount for longer than a moment. */
async function unmountWhenFree(
  folder: string,
  { commands, clock }: Pick<HeldMountOptions, 'commands' | 'clock'>,
): Promise<void> {
  const endMs = clock.monotonicMs() + busyMsMax;
  for (;;) {
    try {
      await runSuccessfully(commands, 'umount', [folder]);
      return;
    } catch (error) {
      if (clock.monotonicMs() >= endMs) throw error;
      await clock.sleep(retryMs, new AbortController().signal);
    }
  }
}
