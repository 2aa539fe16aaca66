import { constants, open } from 'node:fs/promises';
import type { Clock } from '../../runtime/clock.ts';
import type { BlockDevice } from './block-device.ts';
import { type DriveMark, writeDriveMark } from './drive-mark.ts';
import { runSuccessfully, SystemCommandError, type SystemCommands } from './system-commands.ts';
import { withTemporaryMount } from './temporary-mount.ts';

/** The label of every filesystem that Stowage makes; XFS permits twelve characters. */
export const driveLabel = 'stowage';

export interface FormatOptions {
  readonly commands: SystemCommands;
  /** Rejects if the device is in use; {@link openExclusively} except in tests. */
  readonly requireUnused: (path: string) => Promise<void>;
}

/**
 * Makes an XFS filesystem with this UUID, and marks it. What was on the device is erased only if `erases`; otherwise mkfs.xfs itself refuses a
 * device that carries anything it knows.
 */
export async function formatDrive(
  { path }: Pick<BlockDevice, 'path'>,
  mark: DriveMark,
  erases: boolean,
  { commands, requireUnused }: FormatOptions,
): Promise<void> {
  await requireUnused(path);
  // A second partition table at the end of a disk would bring its partitions back.
  if (erases) await runSuccessfully(commands, 'wipefs', ['--all', path]);
  const force = erases ? ['-f'] : [];
  await runSuccessfully(commands, 'mkfs.xfs', [
    '-q',
    ...force,
    '-L',
    driveLabel,
    '-m',
    `uuid=${mark.uuid}`,
    path,
  ]);
  await markDrive(path, mark, commands);
}

/** Writes the mark into a filesystem that Stowage made. */
export async function markDrive(path: string, mark: DriveMark, commands: SystemCommands): Promise<void> {
  await withTemporaryMount(path, 'write', commands, (folder) => writeDriveMark(folder, mark));
}

/** A filesystem that was just unmounted may be busy for a moment: a process that starts in its own mount namespace has a copy of each mount. */
const busyMsMax = 10_000;
const retryMs = 250;

/** The kernel refuses to open a block device exclusively that is mounted, swap, or part of another device. */
export async function openExclusively(path: string, clock: Clock): Promise<void> {
  const endMs = clock.monotonicMs() + busyMsMax;
  for (;;) {
    try {
      const file = await open(path, constants.O_RDWR | constants.O_EXCL);
      await file.close();
      return;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const isBusy = code === 'EBUSY';
      if (isBusy && clock.monotonicMs() < endMs) {
        await clock.sleep(retryMs, new AbortController().signal);
        continue;
      }
      const text = isBusy
        ? `${path} is in use, perhaps in another mount namespace; unmount it, or remove the device that is built on it`
        : `${path} cannot be opened: ${message}; run it as root`;
      throw new SystemCommandError(text, { cause: error });
    }
  }
}
