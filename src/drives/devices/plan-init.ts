import { type Drive, isSameUuid } from '../../kube/stowage/drive.ts';
import type { BlockDevice } from './block-device.ts';
import { isForceable, obstacleOf } from './device-obstacle.ts';
import { type DriveContent, readDriveContent } from './drive-mark.ts';
import { driveLabel } from './format-drive.ts';
import type { SystemCommands } from './system-commands.ts';
import { withTemporaryMount } from './temporary-mount.ts';

/** The action of `init` on a device. */
export type InitPlan =
  /** Format it. `erases` says what is lost; undefined if the device is empty. */
  | { readonly kind: 'format'; readonly erases: string | undefined }
  /** Write the mark into a filesystem that an earlier call made, and register it. */
  | { readonly kind: 'mark'; readonly uuid: string }
  /** Register a drive that an earlier call formatted. */
  | { readonly kind: 'register'; readonly uuid: string }
  | { readonly kind: 'registered'; readonly drive: string }
  | { readonly kind: 'refuse'; readonly reason: string };

export interface PlanInitOptions {
  readonly nodeName: string;
  readonly isForced: boolean;
  /** All Drive objects. */
  readonly drives: readonly Drive[];
  readonly commands: SystemCommands;
}

/** Looks at the device, also into an XFS filesystem, and changes nothing. */
export async function planInit(device: BlockDevice, options: PlanInitOptions): Promise<InitPlan> {
  const registered = registeredPlan(device, options);
  if (registered !== undefined) return registered;
  const obstacle = obstacleOf(device);
  if (obstacle === undefined) return { kind: 'format', erases: undefined };
  if (!isForceable(obstacle)) return refusal(`${device.path} ${obstacle.text}`);
  const { type } = device.signature;
  const content = type === 'xfs' ? await contentOf(device, options.commands) : undefined;
  const ours = content === undefined ? undefined : planForOurs(device, content, options);
  if (ours !== undefined && ours.kind !== 'refuse') return ours;
  if (options.isForced) return { kind: 'format', erases: obstacle.text };
  return ours ?? refusal(`${device.path} ${obstacle.text}; --force erases it`);
}

function refusal(reason: string): InitPlan {
  return { kind: 'refuse', reason };
}

/** A drive with an object is never formatted: its ledger may have volumes. */
function registeredPlan(
  { path, signature: { type, uuid } }: BlockDevice,
  { drives, nodeName }: PlanInitOptions,
): InitPlan | undefined {
  const drive = type === 'xfs' && drives.find(({ spec }) => isSameUuid(spec?.filesystemUUID, uuid));
  if (!drive) return undefined;
  const name = drive.metadata?.name ?? '';
  if (drive.spec?.nodeName === nodeName) return { kind: 'registered', drive: name };
  return refusal(
    `${path} is the drive ${name} of node ${drive.spec?.nodeName}; if that node is gone, run stowage drives forget ${drive.spec?.nodeName} first`,
  );
}

async function contentOf({ path }: BlockDevice, commands: SystemCommands): Promise<DriveContent | undefined> {
  try {
    return await withTemporaryMount(path, 'read', commands, readDriveContent);
  } catch {
    // A broken filesystem is data, too: only --force erases it.
    return undefined;
  }
}

/** Undefined for a filesystem that Stowage did not make. */
function planForOurs(
  { path, signature }: BlockDevice,
  { mark, isEmpty, volumes }: DriveContent,
  { nodeName }: PlanInitOptions,
): InitPlan | undefined {
  if (mark === undefined)
    return signature.label === driveLabel && isEmpty ? { kind: 'mark', uuid: signature.uuid } : undefined;
  if (mark.uuid !== signature.uuid)
    return refusal(
      `${path} is a copy: its file stowage-drive.json names the filesystem ${mark.uuid}; --force erases it`,
    );
  if (mark.node !== nodeName)
    return refusal(`${path} was formatted for node ${mark.node}, not ${nodeName}; --force erases it`);
  if (volumes.length > 0)
    return refusal(
      `${path} has data of the volumes ${volumes.slice(0, 3).join(', ')}${volumes.length > 3 ? ` and ${volumes.length - 3} more` : ''}, and no Drive object; --force erases it`,
    );
  return { kind: 'register', uuid: signature.uuid };
}
