import { effectivePolicy } from '../../engine/disks/disk-limit.ts';
import type { StorageNode } from '../../kube/stowage/storage-node.ts';
import { listOf, textOf } from '../../kube/wire.ts';
import { ownedEntries } from './disk-entries.ts';
import { diskLine, isEvicted, nodeReadiness } from './disk-lines.ts';
import type { DiskObjects } from './disk-objects.ts';
import type { DiskCapacity, DiskDescription, StorageNodeDescription } from './disks-report.ts';
import { evictionLines } from './eviction-lines.ts';
import { commonSettings, type KnownDisk, knownDisks } from './known-disks.ts';

/** Everything about a disk. */
export function describeDisk(disk: KnownDisk, objects: DiskObjects): DiskDescription {
  return {
    apiVersion: 'stowage.dev/disks/v1',
    kind: 'DiskDescription',
    ...diskLine(disk),
    capacity: capacityOf(disk, objects),
    entries: ownedEntries(disk, objects),
    notes: objects.notes,
  };
}

/** The policy of the disk itself, else that of the settings, else the default. */
function capacityOf({ wanted, seen }: KnownDisk, { settings }: DiskObjects): DiskCapacity {
  const common = commonSettings(settings);
  const { policy, percentage } = effectivePolicy(wanted, common);
  const policyFrom = wanted?.capacityPolicy ? 'disk' : common?.capacityPolicy ? 'settings' : 'default';
  return {
    policy,
    policyFrom,
    overProvisioningPercentage: policy === 'OverProvision' ? percentage : undefined,
    storageMaximumBytes: seen?.storageMaximum,
    storageAvailableBytes: seen?.storageAvailable,
    storageReservedBytes: wanted?.storageReserved ?? 0,
  };
}

/** A node with its disks, and what has not left those that are evicted. */
export function describeStorageNode(node: StorageNode, objects: DiskObjects): StorageNodeDescription {
  const all = knownDisks(objects);
  const own = all.filter(({ nodeName }) => nodeName === node.metadata?.name);
  const { spec, status } = node;
  return {
    apiVersion: 'stowage.dev/disks/v1',
    kind: 'StorageNodeDescription',
    node: node.metadata?.name ?? '',
    zone: textOf(status?.zone) || undefined,
    region: textOf(status?.region) || undefined,
    ...nodeReadiness(node),
    allowScheduling: spec?.allowScheduling !== false,
    evictionRequested: spec?.evictionRequested === true,
    tags: listOf(spec?.tags),
    uploadURL: status?.upload?.url,
    disks: own.map(diskLine),
    evictions: evictionLines(own.filter(isEvicted), objects, all),
    notes: objects.notes,
  };
}
