import { gib, type RefusedWrite, unchecked } from './write.ts';

/** Writes that DiskSchedule, StorageNode, DiskSettings, Volume, Replica and BackingImage reject, with the messages. */
export const refusedByDisks: Readonly<Record<string, RefusedWrite>> = {
  'a request of 0 bytes': {
    example: 'disk-schedule',
    by: 'patch',
    change: { spec: { replicas: { r1: 0 } } },
    because: [
      'spec.replicas.r1: Invalid value: 0: spec.replicas.r1 in body should be greater than or equal to 1',
    ],
  },
  'a request of a fraction of a byte': {
    example: 'disk-schedule',
    by: 'patch',
    change: { spec: { replicas: { r1: 1.5 } } },
    because: [
      'spec.replicas.r1: Invalid value: "float64": spec.replicas.r1 in body must be of type int64: "float64"',
      '<nil>: Invalid value: "": Checked value must be of type integer with format int64 in spec.replicas.r1',
      unchecked,
    ],
    // Older releases check only the type; number formats are checked since 1.36.
    becauseBefore136: [
      'spec.replicas.r1: Invalid value: "number": spec.replicas.r1 in body must be of type integer: "number"',
      unchecked,
    ],
  },
  'a sum that does not add up': {
    example: 'disk-schedule',
    by: 'status',
    change: { status: { storageScheduled: 1 } },
    because: [
      'status.storageScheduled: Invalid value: must be the sum of all scheduledSize in replicas and backingImages; compute it from the entries',
    ],
  },
  'a grant that does not fit': {
    example: 'disk-schedule',
    by: 'status',
    change: {
      status: {
        replicas: { r4: { state: 'scheduled', scheduledSize: 201 * gib } },
        storageScheduled: 401 * gib,
      },
    },
    because: [
      'status.storageScheduled: Forbidden: would grant 430570471424 bytes, and storageLimit is 429496729600; reject what does not fit',
    ],
  },
  'a grant of 0 bytes': {
    example: 'disk-schedule',
    by: 'status',
    change: { status: { replicas: { r4: { state: 'scheduled' } } } },
    because: [
      'status.replicas[r4].scheduledSize: Invalid value: must be more than 0 where state is scheduled; remove the entry to release it',
    ],
  },
  'an unknown verdict': {
    example: 'disk-schedule',
    by: 'status',
    change: { status: { replicas: { r4: { state: 'maybe' } } } },
    because: [
      'status.replicas.r4.state: Unsupported value: "maybe": supported values: "scheduled", "rejected"',
      unchecked,
    ],
  },
  'a disk with a relative path': {
    example: 'storage-node',
    by: 'create',
    change: { spec: { disks: { d: { path: 'data' } } } },
    because: [
      'spec.disks[d].path: Invalid value: "data": must be an absolute path, such as /var/lib/stowage',
    ],
  },
  'a disk without a path': {
    example: 'storage-node',
    by: 'create',
    change: { spec: { disks: { d: {} } } },
    because: ['spec.disks.d.path: Required value', unchecked],
  },
  'a disk with another path': {
    example: 'storage-node',
    by: 'patch',
    change: { spec: { disks: { 'example-disk': { path: '/mnt', diskType: 'block' } } } },
    because: [
      `spec.disks[example-disk].diskType: Invalid value: "block": can't change: add another disk, and remove this one when it is empty`,
      `spec.disks[example-disk].path: Invalid value: "/mnt": can't change: what is scheduled on the disk is there; add another disk, and remove this one when it is empty`,
    ],
  },
  'a negative reserve': {
    example: 'storage-node',
    by: 'patch',
    change: { spec: { disks: { 'example-disk': { storageReserved: -1 } } } },
    because: [
      'spec.disks.example-disk.storageReserved: Invalid value: -1: spec.disks.example-disk.storageReserved in body should be greater than or equal to 0',
    ],
  },
  'a duplicate tag': {
    example: 'storage-node',
    by: 'patch',
    change: { spec: { tags: ['fast', 'fast'] } },
    because: ['spec.tags[1]: Duplicate value: "fast"'],
  },
  'more available bytes than the disk has': {
    example: 'storage-node',
    by: 'status',
    change: { status: { diskStatus: { 'example-disk': { storageAvailable: 536_870_912_001 } } } },
    because: [
      'status.diskStatus[example-disk].storageAvailable: Invalid value: must be at most storageMaximum; report both from one look at the disk',
    ],
  },
  'a percentage of a disk without its policy': {
    example: 'storage-node',
    by: 'patch',
    change: { spec: { disks: { 'example-disk': { overProvisioningPercentage: 150 } } } },
    because: [
      'spec.disks[example-disk].overProvisioningPercentage: Invalid value: needs capacityPolicy: OverProvision of the same disk',
    ],
  },
  'settings of another name': {
    example: 'disk-settings',
    by: 'create',
    change: {},
    because: [
      '<nil>: Invalid value: metadata.name must be default: the settings of all disks are in one object',
    ],
  },
  'a percentage without its policy': {
    example: 'disk-settings',
    by: 'patch',
    change: { spec: { capacityPolicy: 'Available' } },
    because: ['spec.overProvisioningPercentage: Invalid value: needs capacityPolicy: OverProvision'],
  },
  'an unknown capacity policy': {
    example: 'disk-settings',
    by: 'patch',
    change: { spec: { capacityPolicy: 'Generous' } },
    because: [
      'spec.capacityPolicy: Unsupported value: "Generous": supported values: "Available", "OverProvision"',
      unchecked,
    ],
  },
  'a percentage of 0': {
    example: 'disk-settings',
    by: 'patch',
    change: { spec: { overProvisioningPercentage: 0 } },
    because: [
      'spec.overProvisioningPercentage: Invalid value: 0: spec.overProvisioningPercentage in body should be greater than or equal to 1',
    ],
  },
  'an agent without a URL': {
    example: 'storage-node',
    by: 'status',
    change: { status: { upload: { url: 'n1:8443' } } },
    because: [
      'status.upload.url: Invalid value: "n1:8443": must be a URL that begins with http:// or https://',
    ],
  },
  'a volume without a size': {
    example: 'volume',
    by: 'create',
    change: { spec: { size: null } },
    because: ['spec.size: Required value', unchecked],
  },
  'a volume with 0 replicas': {
    example: 'volume',
    by: 'create',
    change: { spec: { numberOfReplicas: 0 } },
    because: [
      'spec.numberOfReplicas: Invalid value: 0: spec.numberOfReplicas in body should be greater than or equal to 1',
    ],
  },
  'a volume with too many replicas': {
    example: 'volume',
    by: 'create',
    change: { spec: { numberOfReplicas: 21 } },
    because: [
      'spec.numberOfReplicas: Invalid value: 21: spec.numberOfReplicas in body should be less than or equal to 20',
    ],
  },
  'a volume that shrinks': {
    example: 'volume',
    by: 'patch',
    change: { spec: { size: 1 } },
    because: [
      'spec.size: Invalid value: must be at least 53687091200, the size that the volume has; only an expansion that has not taken place can be taken back',
    ],
  },
  'a volume with a changed image': {
    example: 'volume',
    by: 'patch',
    change: { spec: { backingImage: 'b2' } },
    because: [
      `spec.backingImage: Invalid value: "b2": can't change: the image is below the data; create another volume`,
    ],
  },
  'a volume whose image is removed': {
    example: 'volume',
    by: 'patch',
    change: { spec: { backingImage: null } },
    because: [
      "spec.backingImage: Invalid value: can't be added or removed: the image is below the data; create another volume",
    ],
  },
  'an incomplete disk reference': {
    example: 'replica',
    by: 'create',
    change: { spec: { diskID: null } },
    because: [
      'spec: Invalid value: nodeID and diskID go together; set both to place the replica, or neither',
    ],
  },
  "another volume's replica": {
    example: 'replica',
    by: 'patch',
    change: { spec: { volumeName: 'v2' } },
    because: [
      `spec.volumeName: Invalid value: "v2": can't change: the data is of that volume; create another replica`,
    ],
  },
  'a replica that shrinks': {
    example: 'replica',
    by: 'patch',
    change: { spec: { volumeSize: 1 } },
    because: ["spec.volumeSize: Invalid value: 1: can't shrink: it would cut off data"],
  },
  'a replica with data on another disk': {
    example: 'replica',
    by: 'patch',
    change: { spec: { diskID: 'bbbbbbbb-bbbb-cccc-dddd-eeeeeeeeeeee' } },
    because: [
      "spec.diskID: Forbidden: can't change: the replica's data is on that disk; make another replica, and delete this one",
    ],
  },
  'an image without a source': {
    example: 'backing-image',
    by: 'create',
    change: { spec: { source: { download: null } } },
    because: ['spec.source: Invalid value: exactly one of download, upload and volume must be set'],
  },
  'an image with two sources': {
    example: 'backing-image',
    by: 'create',
    change: { spec: { source: { upload: {} } } },
    because: ['spec.source: Invalid value: exactly one of download, upload and volume must be set'],
  },
  'an image with a file URL': {
    example: 'backing-image',
    by: 'create',
    change: { spec: { source: { download: { url: 'file:///base.qcow2' } } } },
    because: [
      'spec.source.download.url: Invalid value: "file:///base.qcow2": must be a URL that begins with http:// or https://',
    ],
  },
  'an invalid checksum': {
    example: 'backing-image',
    by: 'create',
    change: { spec: { checksum: 'd41d8cd98f00b204e9800998ecf8427e' } },
    because: [
      'spec.checksum: Invalid value: "d41d8cd98f00b204e9800998ecf8427e": must be 128 hexadecimal digits in lower case, as sha512sum prints them',
    ],
  },
  'an image with a changed source': {
    example: 'backing-image',
    by: 'patch',
    change: { spec: { source: { download: { url: 'https://example.com' } } } },
    because: ["spec.source: Invalid value: can't change: volumes are built on the image; create another one"],
  },
  'copies of a different size': {
    example: 'backing-image',
    by: 'status',
    change: { status: { size: 1 } },
    because: ["status.size: Invalid value: 1: can't change: copies of one image have one size"],
  },
};
