import { createHash } from 'node:crypto';
import { labels } from '../kube/well-known.ts';

const labelLengthMax = 63;
const objectNameLengthMax = 253;

/** Identifies the objects of one publisher: all publishers of one driver and mode, or the one of a node. */
export function publisherLabels(driver: string, nodeName: string | undefined): Record<string, string> {
  return { [labels.driverName]: driver, [labels.managedBy]: managedBy(nodeName) };
}

/** `stowage`, or `stowage-NODE` for a publisher that is responsible for one node. */
function managedBy(nodeName: string | undefined): string {
  return nodeName === undefined ? publisherName : shortened(`${publisherName}-${nodeName}`, labelLengthMax);
}

/** Whether the value of the label `managed-by` is one of ours. */
export function isManagedByStowage(value: string | undefined): boolean {
  return value === publisherName || value?.startsWith(`${publisherName}-`) === true;
}

const publisherName = 'stowage';

/**
 * The name of a CSIStorageCapacity. It looks like the random names of external-provisioner, but depends only on what the object is about: a
 * creation that is repeated after its reply was lost finds the object, and does not create a second one.
 */
export function capacityName(
  driver: string,
  nodeName: string | undefined,
  capacityReportKey: string,
): string {
  return `csisc-${digest(JSON.stringify([driver, nodeName ?? '', capacityReportKey]))}`;
}

/** The name of a DriverCapacity: one for each topology segment, or for each node if each node has its publisher. */
export function shardName(driver: string, nodeName: string | undefined, segmentKey: string): string {
  return shortened(`${driver}-${nodeName ?? digest(segmentKey)}`, objectNameLengthMax);
}

/** The owner of the fields of one class in a DriverCapacity. */
export function fieldManager(storageClassName: string): string {
  return `stowage-capacity-${digest(storageClassName)}`;
}

function shortened(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const hash = digest(text);
  return `${text.slice(0, lengthMax - hash.length - 1)}-${hash}`;
}

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
