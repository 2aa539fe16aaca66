import { mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { BlockDevice } from './block-device.ts';
import type { DeviceMount } from './mounted-devices.ts';
import { runSuccessfully, type SystemCommands } from './system-commands.ts';

const folderPrefix = 'stowage-init-';

/** Mounts an XFS filesystem at a new directory while `use` runs. */
export async function withTemporaryMount<T>(
  path: string,
  mode: 'read' | 'write',
  commands: SystemCommands,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await temporaryMountFolder();
  // Reading changes nothing on the device, not even its log.
  const options = mode === 'read' ? 'ro,norecovery,nouuid' : 'noatime';
  try {
    await runSuccessfully(commands, 'mount', ['-t', 'xfs', '-o', options, path, folder]);
  } catch (error) {
    await rmdir(folder);
    throw error;
  }
  try {
    return await use(folder);
  } finally {
    // If it fails, the directory stays: the next call unmounts it.
    await runSuccessfully(commands, 'umount', [folder]);
    await rmdir(folder);
  }
}

/** A new directory that a command which was stopped is recognized by. */
export async function temporaryMountFolder(): Promise<string> {
  return await mkdtemp(join(tmpdir(), folderPrefix));
}

/** Whether a command that was stopped left this mount. */
function isTemporaryMount({ mountPoint }: DeviceMount): boolean {
  return basename(mountPoint).startsWith(folderPrefix);
}

/** Unmounts what a command that was stopped left mounted; rejects if a process still uses it. Returns whether there was any. */
export async function unmountLeftovers(
  { mounts }: Pick<BlockDevice, 'mounts'>,
  commands: SystemCommands,
): Promise<boolean> {
  const left = mounts.filter(isTemporaryMount);
  for (const { mountPoint } of left) {
    await runSuccessfully(commands, 'umount', [mountPoint]);
    await rmdir(mountPoint).catch(() => undefined);
  }
  return left.length > 0;
}
