import type { Cluster } from '../../cluster/cluster.ts';
import {
  type BlockDevice,
  type DeviceSources,
  readNamedBlockDevice,
} from '../../drives/devices/block-device.ts';
import { deviceId } from '../../drives/devices/device-id.ts';
import { type FormatOptions, formatDrive, markDrive } from '../../drives/devices/format-drive.ts';
import { type InitPlan, planInit } from '../../drives/devices/plan-init.ts';
import { driveNameOf, type NewDrive, registerDrive } from '../../drives/devices/register-drive.ts';
import { SystemCommandError } from '../../drives/devices/system-commands.ts';
import { unmountLeftovers } from '../../drives/devices/temporary-mount.ts';
import { ApiError } from '../../kube/api-error.ts';
import { drives } from '../../kube/stowage/drive.ts';
import type { Ids } from '../../runtime/ids.ts';

/** A device, the id that was reviewed, and what will be done. */
export interface PlannedDevice {
  readonly device: BlockDevice;
  readonly plan: InitPlan;
}

export interface InitResult {
  readonly device: string;
  readonly drive?: string | undefined;
  readonly result: 'formatted' | 'registered' | 'already registered' | 'refused' | 'failed';
  readonly error?: string | undefined;
}

export interface InitDevicesOptions extends Omit<NewDrive, 'uuid'> {
  readonly cluster: Cluster;
  readonly sources: DeviceSources;
  readonly requireUnused: FormatOptions['requireUnused'];
  readonly ids: Ids;
  readonly isForced: boolean;
  readonly onProgress: (text: string) => void;
}

/** Decides for each device what to do. Nothing is changed, except that what an `init` that was stopped left mounted is unmounted. */
export async function planDevices(
  devices: readonly BlockDevice[],
  { cluster, sources, nodeName, isForced }: InitDevicesOptions,
): Promise<readonly PlannedDevice[]> {
  const { items } = await cluster.resource(drives).list();
  const planned: PlannedDevice[] = [];
  for (const found of devices) {
    const isUnmounted = await unmountLeftovers(found, sources.commands);
    const device = isUnmounted ? ((await readNamedBlockDevice(found.name, sources)) ?? found) : found;
    const options = { nodeName, isForced, drives: items, commands: sources.commands };
    planned.push({ device, plan: await planInit(device, options) });
  }
  return planned;
}

/** Carries the plans out, one device after the other. A failure of one does not stop the others. */
export async function initDevices(
  planned: readonly PlannedDevice[],
  options: InitDevicesOptions,
): Promise<readonly InitResult[]> {
  const results: InitResult[] = [];
  for (const [at, { device, plan }] of planned.entries()) {
    options.onProgress(`${device.path} (${at + 1} of ${planned.length})`);
    results.push({ device: device.path, ...(await outcomeOf(device, plan, options)) });
  }
  return results;
}

type Outcome = Omit<InitResult, 'device'>;

async function outcomeOf(device: BlockDevice, plan: InitPlan, options: InitDevicesOptions): Promise<Outcome> {
  if (plan.kind === 'refuse') return { result: 'refused', error: plan.reason };
  if (plan.kind === 'registered') return { result: 'already registered', drive: plan.drive };
  try {
    return await prepared(device, plan, options);
  } catch (error) {
    if (!(error instanceof SystemCommandError) && !(error instanceof ApiError)) throw error;
    const remedy =
      error instanceof ApiError ? '; run the command again, it registers the formatted drive' : '';
    return { result: 'failed', error: `${error.message}${remedy}` };
  }
}

/** First the filesystem, then its mark, then the object: after a crash between any two, another call goes on. */
async function prepared(
  device: BlockDevice,
  plan: Extract<InitPlan, { readonly kind: 'format' | 'mark' | 'register' }>,
  options: InitDevicesOptions,
): Promise<Outcome> {
  const { cluster, sources, requireUnused, nodeName, tier, labels } = options;
  const { commands } = sources;
  const now = await readNamedBlockDevice(device.name, sources);
  if (now === undefined || deviceId(now) !== deviceId(device))
    throw new SystemCommandError(`${device.path} has changed meanwhile; run stowage drives discover again`);
  const uuid = plan.kind === 'format' ? options.ids.uid() : plan.uuid;
  const mark = { version: 1, node: nodeName, uuid } as const;
  if (plan.kind === 'format')
    await formatDrive(device, mark, plan.erases !== undefined, { commands, requireUnused });
  if (plan.kind === 'mark') await markDrive(device.path, mark, commands);
  await registerDrive(cluster, { nodeName, uuid, tier, labels });
  const drive = driveNameOf({ nodeName, uuid });
  return { result: plan.kind === 'format' ? 'formatted' : 'registered', drive };
}
