import { readFile, stat } from 'node:fs/promises';
import type { Cluster } from '../../cluster/cluster.ts';
import type { BlockDevice, DeviceSources } from '../../drives/devices/block-device.ts';
import { deviceId } from '../../drives/devices/device-id.ts';
import { DeviceListError, parseDeviceList } from '../../drives/devices/device-list-file.ts';
import { openExclusively } from '../../drives/devices/format-drive.ts';
import { realSystemCommands } from '../../drives/devices/system-commands.ts';
import { fileSystemReason } from '../../io/files/file-system-reason.ts';
import { nodes } from '../../kube/resources.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import { realClock } from '../../runtime/clock.ts';
import { systemIds } from '../../runtime/ids.ts';
import { CliError, usage } from '../errors/cli-error.ts';
import { logForReading } from '../flags/log-flags.ts';
import { confirm } from '../output/confirm.ts';
import { type OutputFormat, outputFormatOf, structured } from '../output/output-format.ts';
import { progressOf } from '../output/progress-of.ts';
import { type DrivesFlags, withDrives } from '../source/with-own-kinds.ts';
import { allDevices, devicesNamed } from './discover.ts';
import { type InitDevicesOptions, initDevices, type PlannedDevice, planDevices } from './init-devices.ts';
import { accessTierOf, labelsIn } from './label-flags.ts';
import { drivesReportOf, renderOptions } from './list.ts';
import { nodeNameOf } from './node-name.ts';
import { type InitReport, renderInit } from './render-devices.ts';

export interface InitFlags extends DrivesFlags {
  readonly nodeName?: string;
  readonly tier?: string;
  readonly label?: readonly string[];
  readonly force?: boolean;
  readonly yes?: boolean;
  readonly output: string;
}

/** `stowage drives init`: formats devices of this machine, and registers them as drives. */
export async function init(args: readonly string[], flags: InitFlags): Promise<void> {
  const format = outputFormatOf(flags.output);
  const sources: DeviceSources = { commands: realSystemCommands };
  const labels = labelsIn(flags.label);
  const tier = flags.tier === undefined ? undefined : accessTierOf(flags.tier, '--tier');
  const nodeName = nodeNameOf(flags.nodeName);
  const devices = await devicesFor(args, nodeName, await allDevices(sources));
  const progress = progressOf(logForReading(flags));
  const report = await withDrives(flags, async (cluster): Promise<InitReport> => {
    await requireNode(cluster, nodeName, flags.nodeName === undefined);
    const options: InitDevicesOptions = {
      ...{ cluster, sources, nodeName, tier, labels, ids: systemIds },
      requireUnused: (path) => openExclusively(path, realClock),
      isForced: flags.force === true,
      onProgress: (text) => progress.tell(`formatting ${text}`),
    };
    const planned = await planDevices(devices, options);
    await confirmErasure(planned, flags.yes);
    const results = await initDevices(planned, options).finally(() => progress.end());
    return { ...drivesReportOf('InitReport'), node: nodeName, devices: results };
  });
  process.stdout.write(initText(report, format));
  const undone = report.devices.filter(({ error }) => error !== undefined).length;
  if (undone > 0)
    throw new CliError(`${undone} of ${report.devices.length} devices are no drives; the list says why`);
}

/** The arguments are devices, or one file of `discover`. */
async function devicesFor(
  args: readonly string[],
  nodeName: string,
  all: readonly BlockDevice[],
): Promise<readonly BlockDevice[]> {
  const [first = ''] = args;
  const isFile = (await stat(first).catch(() => undefined))?.isFile() === true;
  if (!isFile) return await devicesNamed(all, args);
  if (args.length > 1) throw usage(`${first} is a file; give one file, or devices`);
  return listedDevices(first, await readList(first), nodeName, all);
}

async function readList(path: string): Promise<ReturnType<typeof parseDeviceList>> {
  try {
    return parseDeviceList(await readFile(path, 'utf8'));
  } catch (error) {
    const reason = error instanceof DeviceListError ? error.message : fileSystemReason(error);
    throw new CliError(`${path}: ${reason}`, 1, { cause: error });
  }
}

/** Only what was reviewed is formatted: a device with another id is refused before anything is changed. */
export function listedDevices(
  path: string,
  lists: ReturnType<typeof parseDeviceList>,
  nodeName: string,
  all: readonly BlockDevice[],
): readonly BlockDevice[] {
  const listed = lists.get(nodeName);
  if (listed === undefined)
    throw new CliError(
      `${path}: nodes: does not have node ${nodeName}, but ${[...lists.keys()].join(', ') || 'none'}; run it on that node, or set --node-name`,
    );
  const selected = listed.filter(({ isSelected }) => isSelected);
  if (selected.length === 0)
    throw new CliError(`${path}: no device of node ${nodeName} is selected; set select to "yes"`);
  return selected.map(({ id, name }) => {
    const device = all.find((one) => one.name === name);
    if (device === undefined || deviceId(device) !== id)
      throw new CliError(
        `${path}: device ${name} has changed since the file was written; run stowage drives discover again, and review the new file`,
      );
    return device;
  });
}

async function requireNode(cluster: Cluster, name: string, isGuessed: boolean): Promise<void> {
  if ((await undefinedIfNotFound(cluster.resource(nodes).get({ name }))) !== undefined) return;
  const guess = isGuessed ? ', which is the name of this machine' : '';
  throw new CliError(`there is no Node ${name}${guess}; set --node-name to the name in kubectl get nodes`);
}

async function confirmErasure(
  planned: readonly PlannedDevice[],
  isConfirmed: boolean | undefined,
): Promise<void> {
  const erased = planned.flatMap(({ device, plan }) => {
    if (plan.kind !== 'format') return [];
    return [`  ${device.path}${plan.erases === undefined ? '' : `, which ${plan.erases}`}\n`];
  });
  if (erased.length === 0) return;
  if (isConfirmed !== true) process.stderr.write(`These devices will be formatted:\n${erased.join('')}`);
  await confirm('Everything on them is erased. Continue?', isConfirmed);
}

function initText(report: InitReport, format: OutputFormat): string {
  if (format === 'json' || format === 'yaml') return structured(report, format);
  if (format === 'name')
    return report.devices
      .flatMap(({ drive }) => (drive === undefined ? [] : [`drive.stowage.dev/${drive}\n`]))
      .join('');
  return renderInit(report, renderOptions(format));
}
