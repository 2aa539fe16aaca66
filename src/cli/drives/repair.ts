import type { BlockDevice } from '../../drives/devices/block-device.ts';
import { openExclusively } from '../../drives/devices/format-drive.ts';
import { type RepairOutcome, repairDrive } from '../../drives/devices/repair-drive.ts';
import { realSystemCommands, SystemCommandError } from '../../drives/devices/system-commands.ts';
import type { Drive } from '../../kube/drive.ts';
import { CliError } from '../cli-error.ts';
import { logForReading } from '../log-flags.ts';
import { progressOf } from '../output/progress-of.ts';
import { allDevices } from './discover.ts';
import { driveNamed, drivePrefix } from './named-drives.ts';
import { type DrivesFlags, withDrives } from './with-drives.ts';

export interface RepairFlags extends DrivesFlags {
  readonly discardLog?: boolean;
}

/** `stowage drives repair`: runs xfs_repair on an unmounted drive of this machine. */
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
      requireUnused: openExclusively,
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

/** The device that has the drive's filesystem, if it is not mounted. */
export function repairableDevice({ metadata, spec }: Drive, all: readonly BlockDevice[]): BlockDevice {
  const name = metadata?.name ?? '';
  const found = all.filter(({ signature }) => signature.uuid === spec?.filesystemUUID);
  const [device] = found;
  if (device === undefined)
    throw new CliError(
      `drive ${name}: no device of this machine has the filesystem ${spec?.filesystemUUID}; run it on node ${spec?.nodeName}`,
    );
  if (found.length > 1)
    throw new CliError(
      `drive ${name}: several devices have its filesystem: ${found.map(({ path }) => path).join(', ')}; detach the copies first`,
    );
  requireUnmounted(name, spec?.nodeName ?? '', device);
  return device;
}

function requireUnmounted(name: string, node: string, { path, mounts }: BlockDevice): void {
  if (mounts.length === 0) return;
  const volumes = mounts.filter(({ root }) => root !== '/').length;
  const users = volumes === 0 ? '' : `, and ${volumes} mounts of its volumes are in use`;
  throw new CliError(
    `drive ${name}: ${path} is mounted at ${mounts[0]!.mountPoint}${users}; run stowage drives cordon ${name}, end the pods that use its volumes (stowage drives list volumes --node ${node}), stop the node service of the node, unmount the drive, and call the command again`,
  );
}

function resultText(drive: Drive, { path }: BlockDevice, outcome: RepairOutcome): string {
  const name = drive.metadata?.name ?? '';
  switch (outcome.kind) {
    case 'repaired':
      return `${drivePrefix}${name} repaired\n`;
    case 'dirty-log':
      throw new CliError(
        `drive ${name}: the log of ${path} has not been replayed; mount and unmount the device once, and call the command again. If it can't be mounted, --discard-log repairs it without the last writes`,
      );
    case 'failed':
      throw new CliError(`drive ${name}: ${outcome.text}`);
  }
}
