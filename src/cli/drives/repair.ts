import { type BlockDevice, readNamedBlockDevice } from '../../drives/devices/block-device.ts';
import { openExclusively } from '../../drives/devices/format-drive.ts';
import type { DeviceMount } from '../../drives/devices/mounted-devices.ts';
import { type RepairOutcome, repairDrive } from '../../drives/devices/repair-drive.ts';
import { realSystemCommands, SystemCommandError } from '../../drives/devices/system-commands.ts';
import { unmountLeftovers } from '../../drives/devices/temporary-mount.ts';
import { type Drive, isSameUuid } from '../../kube/stowage/drive.ts';
import { realClock } from '../../runtime/clock.ts';
import { CliError } from '../errors/cli-error.ts';
import { logForReading } from '../flags/log-flags.ts';
import { progressOf } from '../output/progress-of.ts';
import { type DrivesFlags, withDrives } from '../source/with-own-kinds.ts';
import { allDevices } from './discover.ts';
import { driveNamed, drivePrefix } from './named-drives.ts';

export interface RepairFlags extends DrivesFlags {
  readonly discardLog?: boolean;
}

/** How long the node service may take to unmount a drive, and the polling interval. */
const unmountMsMax = 60_000;
const pollMs = 250;

/** `stowage drives repair`: runs xfs_repair on a drive of this machine whose volumes are not in use. */
export async function repair(name: string, flags: RepairFlags): Promise<void> {
  const commands = realSystemCommands;
  const progress = progressOf(logForReading(flags));
  await withDrives(flags, async (cluster) => {
    const drive = await driveNamed(cluster, name);
    const device = repairableDevice(drive, await allDevices({ commands }));
    progress.tell(`repairing ${device.path}`);
    const options = {
      cluster,
      commands,
      requireUnused: (path: string) => openExclusively(path, realClock),
      untilUnmounted: async () => (await mountsLeft(device.name)).length === 0,
      discardsLog: flags.discardLog === true,
    };
    const outcome = await repairDrive(drive, device, options)
      .catch((error: unknown) => {
        if (error instanceof SystemCommandError) throw new CliError(error.message, 1, { cause: error });
        throw error;
      })
      .finally(() => progress.end());
    process.stdout.write(resultText(drive, device, outcome));
  });
}

/** The device that has the drive's filesystem, if it is not in use. */
export function repairableDevice(drive: Drive, all: readonly BlockDevice[]): BlockDevice {
  const device = deviceOf(drive, all);
  requireUnmountable(drive, device);
  return device;
}

/** The device of this machine that has the drive's filesystem. */
export function deviceOf(drive: Drive, all: readonly BlockDevice[]): BlockDevice {
  const { metadata, spec } = drive;
  const name = metadata?.name ?? '';
  const found = all.filter(({ signature }) => isSameUuid(signature.uuid, spec?.filesystemUUID));
  const [device] = found;
  if (device === undefined)
    throw new CliError(
      `drive ${name}: no device of this machine has the filesystem ${spec?.filesystemUUID}; run it on node ${spec?.nodeName}`,
    );
  if (found.length > 1)
    throw new CliError(
      `drive ${name}: several devices have its filesystem: ${found.map(({ path }) => path).join(', ')}; detach the copies first`,
    );
  return device;
}

/** The node service unmounts a drive that it has mounted itself, unless volumes on it are in use. */
function requireUnmountable({ metadata, spec, status }: Drive, { path, mounts }: BlockDevice): void {
  const name = metadata?.name ?? '';
  const volumes = mounts.filter(({ root }) => root !== '/');
  if (volumes.length > 0)
    throw new CliError(
      `drive ${name}: volumes of ${path} are in use at ${volumes[0]!.mountPoint}; run stowage drives cordon ${name}, end the pods that use its volumes (stowage drives list volumes --node ${spec?.nodeName}), and call the command again`,
    );
  const isServed = status?.conditions?.some(({ type }) => type === 'Mounted') === true;
  if (mounts.length > 0 && !isServed)
    throw new CliError(
      `drive ${name}: ${path} is mounted at ${mounts[0]!.mountPoint}, and no node service has reported that; unmount it with umount ${mounts[0]!.mountPoint}, and call the command again`,
    );
}

/**
 * Waits until the node service has unmounted a device, and unmounts what a command that was stopped has left. Returns the mounts that are there after
 * some time.
 */
export async function mountsLeft(name: string): Promise<readonly DeviceMount[]> {
  const commands = realSystemCommands;
  const endMs = realClock.monotonicMs() + unmountMsMax;
  for (;;) {
    const device = await readNamedBlockDevice(name, { commands });
    if (device === undefined || device.mounts.length === 0) return [];
    // It fails while a process of that command runs.
    const isChanged = await unmountLeftovers(device, commands).catch(() => false);
    if (isChanged) continue;
    if (realClock.monotonicMs() > endMs) return device.mounts;
    await realClock.sleep(pollMs, new AbortController().signal);
  }
}

function resultText(drive: Drive, { path }: BlockDevice, outcome: RepairOutcome): string {
  const name = drive.metadata?.name ?? '';
  switch (outcome.kind) {
    case 'repaired':
      return `${drivePrefix}${name} repaired\n`;
    case 'mounted':
      throw new CliError(
        `drive ${name}: ${path} is still mounted, because the node service has not unmounted it; check that stowage csi runs on node ${drive.spec?.nodeName}, or unmount it, and call the command again`,
      );
    case 'dirty-log':
      throw new CliError(
        `drive ${name}: the log of ${path} has not been replayed; mount and unmount the device once, and call the command again. If it can't be mounted, --discard-log repairs it without the last writes`,
      );
    case 'failed':
      throw new CliError(`drive ${name}: ${outcome.text}`);
  }
}
