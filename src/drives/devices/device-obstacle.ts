import type { BlockDevice } from './block-device.ts';
import { driveLabel } from './format-drive.ts';

/** Smaller devices are not worth a drive, and mkfs.xfs refuses those below 300 MiB. */
const deviceSizeMin = 512 * 2 ** 20;

/** Why a device cannot become a drive. */
export interface DeviceObstacle {
  readonly kind: DeviceObstacleKind;
  /** The end of a sentence about the device. */
  readonly text: string;
}

export type DeviceObstacleKind =
  | 'Hidden'
  | 'CDROM'
  | 'ReadOnly'
  | 'TooSmall'
  | 'Mounted'
  | 'Swap'
  | 'Held'
  | 'Unreadable'
  | 'UsedByStowage'
  | 'Partitioned'
  | 'Data';

/** Obstacles that `--force` overcomes, by erasing what is there. */
const forceable: ReadonlySet<DeviceObstacleKind> = new Set(['UsedByStowage', 'Partitioned', 'Data']);

export function isForceable({ kind }: DeviceObstacle): boolean {
  return forceable.has(kind);
}

/** The first obstacle, those that can't be overcome before the others; undefined if the device is available. */
export function obstacleOf(device: BlockDevice): DeviceObstacle | undefined {
  const { signature, mounts, holders, partitions } = device;
  if (device.isHidden) return { kind: 'Hidden', text: 'is hidden by the kernel' };
  if (device.isCdrom) return { kind: 'CDROM', text: 'is a CD-ROM' };
  if (device.isReadOnly) return { kind: 'ReadOnly', text: 'is read-only' };
  if (device.sizeBytes < deviceSizeMin)
    return { kind: 'TooSmall', text: 'is too small: it has less than 512 MiB' };
  const [mount] = mounts;
  const isOurs = signature.type === 'xfs' && signature.label === driveLabel;
  if (mount !== undefined)
    return {
      kind: 'Mounted',
      text: `${isOurs ? 'is used by Stowage: it ' : ''}is mounted at ${mount.mountPoint}`,
    };
  if (device.isSwap) return { kind: 'Swap', text: 'is used as swap' };
  if (holders.length > 0) return { kind: 'Held', text: `is held by ${holders.join(', ')}` };
  if (signature.error !== undefined)
    return { kind: 'Unreadable', text: `cannot be read: ${signature.error}` };
  if (isOurs) return { kind: 'UsedByStowage', text: 'is used by Stowage' };
  if (partitions.length > 0)
    return { kind: 'Partitioned', text: `has the partitions ${partitions.join(', ')}` };
  if (signature.partitionTable !== '')
    return { kind: 'Partitioned', text: `has a partition table (${signature.partitionTable})` };
  return signature.type === '' ? undefined : { kind: 'Data', text: dataText(signature.type) };
}

function dataText(type: string): string {
  return type === 'unknown' ? 'carries data of an unknown kind' : `carries data of ${type}`;
}
