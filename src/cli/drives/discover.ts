import { realpath } from 'node:fs/promises';
import { type BlockDevice, type DeviceSources, readBlockDevices } from '../../drives/devices/block-device.ts';
import { deviceListFile } from '../../drives/devices/device-list-file.ts';
import { obstacleOf } from '../../drives/devices/device-obstacle.ts';
import { realSystemCommands, SystemCommandError } from '../../drives/devices/system-commands.ts';
import { fileSystemReason } from '../../io/files/file-system-reason.ts';
import { writePrivateFile } from '../../io/files/private-files.ts';
import { CliError } from '../errors/cli-error.ts';
import { logForReading } from '../flags/log-flags.ts';
import { type OutputFormat, outputFormatOf, structured } from '../output/output-format.ts';
import { progressOf } from '../output/progress-of.ts';
import { drivesReportOf, renderOptions } from './list.ts';
import { nodeNameOf } from './node-name.ts';
import { type DeviceLine, type DevicesReport, deviceLine, renderDevices } from './render-devices.ts';

export interface DiscoverFlags {
  readonly nodeName?: string;
  readonly includeLoop?: boolean;
  readonly outputFile?: string;
  readonly output: string;
  readonly verbose?: boolean;
}

/** `stowage drives discover`: the block devices of this machine, and which of them can become drives. It changes nothing. */
export async function discoverDevices(paths: readonly string[], flags: DiscoverFlags): Promise<void> {
  // As in DirectPV, `--output` may name the file, too.
  const isFile = /[./]/.test(flags.output);
  const format = outputFormatOf(isFile ? 'table' : flags.output);
  const file = flags.outputFile ?? (isFile ? flags.output : undefined);
  const node = nodeNameOf(flags.nodeName);
  const progress = progressOf(logForReading(flags));
  progress.tell('reading block devices');
  const all = await allDevices({ commands: realSystemCommands }).finally(() => progress.end());
  const devices =
    paths.length > 0
      ? await devicesNamed(all, paths)
      : all.filter(({ isLoop }) => !isLoop || flags.includeLoop === true);
  const lines = devices.map(deviceLine);
  process.stdout.write(reportText({ ...drivesReportOf('DevicesReport'), node, devices: lines }, format));
  if (file === undefined) return;
  const available = devices.filter((device) => obstacleOf(device) === undefined);
  await writeFileNamed(file, deviceListFile(node, available));
  process.stderr.write(
    `${available.length} available devices are in ${file}; review it, then run stowage drives init ${file}\n`,
  );
}

/** The devices behind paths, which may be links such as /dev/disk/by-id/… */
export async function devicesNamed(
  all: readonly BlockDevice[],
  paths: readonly string[],
): Promise<readonly BlockDevice[]> {
  const found: BlockDevice[] = [];
  for (const path of paths) {
    const real = await realpath(path).catch(() => path);
    const device = all.find((one) => one.path === real);
    if (device === undefined)
      throw new CliError(`${path} is no block device of this machine; stowage drives discover lists them`);
    if (!found.includes(device)) found.push(device);
  }
  return found;
}

export async function allDevices(sources: DeviceSources): Promise<readonly BlockDevice[]> {
  try {
    return await readBlockDevices(sources);
  } catch (error) {
    if (error instanceof SystemCommandError) throw new CliError(error.message, 1, { cause: error });
    throw new CliError(
      `block devices cannot be read: ${fileSystemReason(error)}; run it as root on Linux`,
      1,
      {
        cause: error,
      },
    );
  }
}

export async function writeFileNamed(path: string, text: string): Promise<void> {
  try {
    await writePrivateFile(path, text);
  } catch (error) {
    throw new CliError(`${path} cannot be written: ${fileSystemReason(error)}`, 1, { cause: error });
  }
}

function reportText(report: DevicesReport, format: OutputFormat): string {
  if (format === 'json' || format === 'yaml') return structured(report, format);
  if (format === 'name')
    return report.devices
      .filter(isAvailable)
      .map(({ device }) => `${device}\n`)
      .join('');
  return renderDevices(report, renderOptions(format));
}

function isAvailable({ available }: DeviceLine): boolean {
  return available;
}
