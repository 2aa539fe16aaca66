import { bytesMax, gib, ledgerOf, poolOf, type Write } from './write.ts';

/** Writes that are just within a rule. */
export const acceptedWrites: Readonly<Record<string, Write>> = {
  'a drive with only its node and filesystem': {
    example: 'drive',
    by: 'create',
    change: { spec: { accessTier: null, volumes: null } },
  },
  'a drive with the ledger that it had, from a backup': { example: 'drive', by: 'create', change: {} },
  'a drive without free bytes': {
    example: 'drive',
    by: 'patch',
    change: ledgerOf(953_482_739_712),
  },
  'a ledger that is emptied': { example: 'drive', by: 'patch', change: { spec: { volumes: null } } },
  'a drive that is cordoned': { example: 'drive', by: 'patch', change: { spec: { unschedulable: true } } },
  'a drive that shrinks below the sum of its volumes': {
    example: 'drive',
    by: 'status',
    change: { status: { capacityBytes: 100, freeBytes: 100 - 161_061_273_600 } },
  },
  'a drive that is lost': {
    example: 'drive',
    by: 'status',
    change: { status: { state: 'Lost', device: null } },
  },
  'a driver with only capacityTracking': {
    example: 'driver-capacity',
    by: 'create',
    change: { spec: { capacityTracking: true } },
  },
  'a pool for every node, without expiry, of unknown size': {
    example: 'driver-capacity',
    by: 'status',
    change: poolOf({}),
  },
  'a pool for no node, with an empty list': {
    example: 'driver-capacity',
    by: 'status',
    change: poolOf({ nodeList: [], capacity: 1024, expiryTime: '2026-01-31t12:00:00.123456789+02:00' }),
  },
  'a pool of the smallest quantity': {
    example: 'driver-capacity',
    by: 'status',
    change: poolOf({ capacity: '1n' }),
  },
  'a disk with a capacity policy of its own': {
    example: 'storage-node',
    by: 'patch',
    change: {
      spec: {
        disks: { 'example-disk': { capacityPolicy: 'OverProvision', overProvisioningPercentage: 150 } },
      },
    },
  },
  'settings without a percentage': {
    example: 'disk-settings',
    by: 'patch',
    change: { spec: { capacityPolicy: 'Available', overProvisioningPercentage: null } },
  },
  'requests that exceed the disk': {
    example: 'disk-schedule',
    by: 'patch',
    change: { spec: { replicas: { r5: bytesMax } } },
  },
  'a request that is withdrawn before its grant': {
    example: 'disk-schedule',
    by: 'patch',
    change: { spec: { replicas: { r1: null } } },
  },
  'a disk that moves to another node': {
    example: 'disk-schedule',
    by: 'patch',
    change: { spec: { nodeID: 'other', name: 'moved' } },
  },
  'a disk without free bytes': {
    example: 'disk-schedule',
    by: 'status',
    change: {
      status: {
        replicas: { r4: { state: 'scheduled', scheduledSize: 200 * gib } },
        storageScheduled: 400 * gib,
      },
    },
  },
  'a limit that falls below the granted bytes': {
    example: 'disk-schedule',
    by: 'status',
    change: { status: { storageLimit: 1 } },
  },
  'an existing grant that does not fit': {
    example: 'disk-schedule',
    by: 'status',
    change: {
      status: {
        replicas: { old: { state: 'scheduled', scheduledSize: 300 * gib, reason: 'Adopted' } },
        storageScheduled: 500 * gib,
      },
    },
  },
  'a schedule without conditions': {
    example: 'disk-schedule',
    by: 'status',
    change: { status: { conditions: null } },
  },
  'an additional disk': {
    example: 'storage-node',
    by: 'patch',
    change: { spec: { disks: { second: { path: '/mnt/second', diskType: 'block' } } } },
  },
  'a removed disk': {
    example: 'storage-node',
    by: 'patch',
    change: { spec: { disks: { 'example-disk': null } } },
  },
  'a disk without figures': {
    example: 'storage-node',
    by: 'status',
    change: { status: { diskStatus: { 'example-disk': { storageMaximum: null, storageAvailable: null } } } },
  },
  'a volume that is to grow': { example: 'volume', by: 'patch', change: { spec: { size: 100 * gib } } },
  'a volume that is detached': { example: 'volume', by: 'patch', change: { spec: { nodeID: null } } },
  'a replica without a disk': {
    example: 'replica',
    by: 'create',
    change: { spec: { nodeID: null, diskID: null } },
  },
  'a replica whose disk has moved': {
    example: 'replica',
    by: 'patch',
    change: { spec: { nodeID: 'other' } },
  },
  'an image of a volume': {
    example: 'backing-image',
    by: 'create',
    change: { spec: { source: { download: null, volume: { name: 'v1' } } } },
  },
  'an additional copy': {
    example: 'backing-image',
    by: 'patch',
    change: { spec: { diskFileSpecMap: { 'bbbbbbbb-bbbb-cccc-dddd-eeeeeeeeeeee': {} } } },
  },
};
