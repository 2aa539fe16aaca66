import { ledgerOf, poolOf, type RefusedWrite, unchecked } from './write.ts';

const topology = (term: object) => poolOf({ nodeTopology: { nodeSelectorTerms: [term] } });
const timePattern = String.raw`^\d{4}-\d{2}-\d{2}[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$`;

/** Writes that Drive and DriverCapacity reject, with the messages. */
export const refusedByDrives: Readonly<Record<string, RefusedWrite>> = {
  'a drive in no node': {
    example: 'drive',
    by: 'create',
    change: { spec: { nodeName: null } },
    because: ['spec.nodeName: Required value', unchecked],
  },
  'a filesystem of no UUID': {
    example: 'drive',
    by: 'create',
    change: { spec: { filesystemUUID: 'sdb' } },
    because: [
      'spec.filesystemUUID: Invalid value: "sdb": spec.filesystemUUID in body must be of type uuid: "sdb"',
      unchecked,
    ],
  },
  'a tier that there is not': {
    example: 'drive',
    by: 'create',
    change: { spec: { accessTier: 'Lukewarm' } },
    because: [
      'spec.accessTier: Unsupported value: "Lukewarm": supported values: "Default", "Hot", "Warm", "Cold"',
      unchecked,
    ],
  },
  'a drive in another node': {
    example: 'drive',
    by: 'patch',
    change: { spec: { nodeName: 'n2' } },
    because: [
      `spec.nodeName: Invalid value: "n2": can't change: volumes are pinned to the node; register the drive in its new node as another Drive`,
    ],
  },
  'another filesystem on the drive': {
    example: 'drive',
    by: 'patch',
    change: { spec: { filesystemUUID: '00000000-4a2e-4c6f-9d0b-5d8f3a1c2e77' } },
    because: [
      `spec.filesystemUUID: Invalid value: "00000000-4a2e-4c6f-9d0b-5d8f3a1c2e77": can't change: another filesystem is another drive; create a Drive for it`,
    ],
  },
  'a byte too much': {
    example: 'drive',
    by: 'patch',
    change: ledgerOf(953_482_739_712, 1),
    because: [
      'spec.volumes: Forbidden: the volumes would take 953482739713 bytes, and the drive has 953482739712; choose another drive, or a smaller size',
    ],
  },
  'a volume of nothing': {
    example: 'drive',
    by: 'patch',
    change: ledgerOf(0),
    because: [
      'spec.volumes[0].sizeBytes: Invalid value: 0: spec.volumes[0].sizeBytes in body should be greater than or equal to 1',
    ],
  },
  'a size as text': {
    example: 'drive',
    by: 'patch',
    change: { spec: { volumes: [{ name: 'v', sizeBytes: '10Gi' }] } },
    because: [
      'spec.volumes[0].sizeBytes: Invalid value: "string": spec.volumes[0].sizeBytes in body must be of type integer: "string"',
      unchecked,
    ],
  },
  'a volume twice': {
    example: 'drive',
    by: 'patch',
    change: {
      spec: {
        volumes: [
          { name: 'v', sizeBytes: 1 },
          { name: 'v', sizeBytes: 2 },
        ],
      },
    },
    because: ['spec.volumes[1]: Duplicate value: {"name":"v"}'],
  },
  'a volume that shrinks, and one that comes back': {
    example: 'drive',
    by: 'patch',
    change: {
      spec: {
        volumes: [
          { name: 'pvc-0d4f2a30-7f5c-4a5b-9d6e-0a3b8f1c6d21', sizeBytes: 1 },
          { name: 'pvc-61b9e5f4-23c8-4f0e-8a17-c2d94b7e3f58', sizeBytes: 53_687_091_200, state: 'Active' },
        ],
      },
    },
    because: [
      "spec.volumes[0].sizeBytes: Invalid value: 1: can't shrink: a volume keeps at least the size it has; ask for no less",
      `spec.volumes[1].state: Invalid value: "Active": can't go back: data of a volume that is releasing may be gone; create a volume of another name`,
    ],
  },
  'a free that does not add up': {
    example: 'drive',
    by: 'status',
    change: { status: { freeBytes: 953_482_739_712 } },
    because: [
      'status.freeBytes: Invalid value: must be capacityBytes less the sum of spec.volumes[].sizeBytes; read the drive again, and compute it again',
    ],
  },
  'a capacity without its free': {
    example: 'drive',
    by: 'status',
    change: { status: { capacityBytes: 1 } },
    because: [
      'status.freeBytes: Invalid value: must be capacityBytes less the sum of spec.volumes[].sizeBytes; read the drive again, and compute it again',
    ],
  },
  'a state that there is not': {
    example: 'drive',
    by: 'status',
    change: { status: { state: 'Broken' } },
    because: [
      'status.state: Unsupported value: "Broken": supported values: "Ready", "Lost", "Error", "Repairing", "Removing"',
      unchecked,
    ],
  },
  'a condition of neither True nor False': {
    example: 'drive',
    by: 'status',
    change: { status: { conditions: [{ type: 'Mounted', status: 'yes' }] } },
    because: [
      'status.conditions[0].status: Unsupported value: "yes": supported values: "True", "False", "Unknown"',
      unchecked,
    ],
  },
  'a pool that is both by topology and by list': {
    example: 'driver-capacity',
    by: 'status',
    change: poolOf({ nodeList: ['n1'], nodeTopology: { nodeSelectorTerms: [{}] } }),
    because: [
      'status.storage[0].pools[0]: Invalid value: at most one of nodeTopology and nodeList may be set; remove one',
    ],
  },
  'a pool of less than nothing': {
    example: 'driver-capacity',
    by: 'status',
    change: poolOf({ capacity: '-1Gi' }),
    because: [
      'status.storage[0].pools[0].capacity: Invalid value: "-1Gi": is no size; write bytes as a number, or a quantity of zero or more such as 10Gi',
    ],
  },
  'a pool of less than nothing in bytes': {
    example: 'driver-capacity',
    by: 'status',
    change: poolOf({ capacity: -1 }),
    because: [
      'status.storage[0].pools[0].capacity: Invalid value: -1: is no size; write bytes as a number, or a quantity of zero or more such as 10Gi',
    ],
  },
  'a pool of no size': {
    example: 'driver-capacity',
    by: 'status',
    change: poolOf({ capacity: 'plenty' }),
    because: [
      'status.storage[0].pools[0].capacity: Invalid value: "plenty": is no size; write bytes as a number, or a quantity of zero or more such as 10Gi',
    ],
  },
  'a pool that expires some day': {
    example: 'driver-capacity',
    by: 'status',
    change: poolOf({ expiryTime: 'tomorrow' }),
    because: [
      `status.storage[0].pools[0].expiryTime: Invalid value: "tomorrow": storage[0].pools[0].expiryTime in body should match '${timePattern}'`,
      'status.storage[0].pools[0].expiryTime: Invalid value: "tomorrow": storage[0].pools[0].expiryTime in body must be of type date-time: "tomorrow"',
      unchecked,
    ],
  },
  'a pool with an expiry of too many digits': {
    example: 'driver-capacity',
    by: 'status',
    change: poolOf({ expiryTime: '2026-01-31T12:00:00.1234567890Z' }),
    because: [
      `status.storage[0].pools[0].expiryTime: Invalid value: "2026-01-31T12:00:00.1234567890Z": storage[0].pools[0].expiryTime in body should match '${timePattern}'`,
    ],
  },
  'a node twice': {
    example: 'driver-capacity',
    by: 'status',
    change: poolOf({ nodeList: ['n1', 'n1'] }),
    because: ['status.storage[0].pools[0].nodeList[1]: Duplicate value: "n1"'],
  },
  'a pool without a name': {
    example: 'driver-capacity',
    by: 'status',
    change: { status: { storage: [{ storageClassName: 'striped', pools: [{ capacity: 1 }] }] } },
    because: ['status.storage[0].pools[0].name: Required value', unchecked],
  },
  'a class twice': {
    example: 'driver-capacity',
    by: 'status',
    change: { status: { storage: [{ storageClassName: 'striped' }, { storageClassName: 'striped' }] } },
    because: ['status.storage[1]: Duplicate value: {"storageClassName":"striped"}'],
  },
  'In without values': {
    example: 'driver-capacity',
    by: 'status',
    change: topology({ matchExpressions: [{ key: 'zone', operator: 'In' }] }),
    because: [
      'status: Invalid value: "": "storage[0].pools[0].nodeTopology.nodeSelectorTerms[0].matchExpressions[0]" must validate at least one schema (anyOf)',
      'status.storage[0].pools[0].nodeTopology.nodeSelectorTerms[0].matchExpressions[0].values: Required value',
      unchecked,
    ],
  },
  'an operator that there is not': {
    example: 'driver-capacity',
    by: 'status',
    change: topology({ matchExpressions: [{ key: 'zone', operator: 'Near', values: ['a'] }] }),
    because: [
      'status: Invalid value: "": "storage[0].pools[0].nodeTopology.nodeSelectorTerms[0].matchExpressions[0]" must validate at least one schema (anyOf)',
      'status.storage[0].pools[0].nodeTopology.nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: "Near": supported values: "In", "NotIn"',
      'status.storage[0].pools[0].nodeTopology.nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: "Near": supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"',
      unchecked,
    ],
  },
  'a field that there is not': {
    example: 'driver-capacity',
    by: 'status',
    change: topology({ matchFields: [{ key: 'spec.podCIDR', operator: 'In', values: ['a'] }] }),
    because: [
      'status.storage[0].pools[0].nodeTopology.nodeSelectorTerms[0].matchFields[0].key: Unsupported value: "spec.podCIDR": supported values: "metadata.name"',
      unchecked,
    ],
  },
};
