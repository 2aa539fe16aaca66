import { createHash } from 'node:crypto';
import type { BlockDevice } from './block-device.ts';

const digits = 32;

/**
 * A text that changes when the device changes: another disk under the same name, another filesystem, a new partition, a mount. `init` refuses a
 * device whose id is not the one that was reviewed.
 */
export function deviceId(device: BlockDevice): string {
  const { name, majorMinor, sizeBytes, make, serial, isReadOnly, isSwap } = device;
  const { type, uuid, label, partitionTable } = device.signature;
  const mounts = device.mounts.map(({ mountPoint }) => mountPoint);
  const facts = [
    [name, majorMinor, sizeBytes, make, serial, isReadOnly, isSwap],
    [type, uuid, label, partitionTable],
    [device.partitions, device.holders, mounts],
  ];
  return `${majorMinor}$${createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, digits)}`;
}
