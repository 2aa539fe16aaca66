import { ledgerOf, poolOf, type RefusedWrite, unchecked } from './write.ts';

const topology = (term: object) => poolOf({ nodeTopology: { nodeSelectorTerms: [term] } });
const timePattern = String.raw`^\d{4}-\d{2}-\d{2}[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$`;

/** Writes that Drive and DriverCapacity reject, with the messages. */
export const refusedByDrives: Readonly<Record<string, RefusedWrite>> = {
  'a drive without a node': {
    example: 'drive',
    by: 'create',
    change: { spec: { nodeName: null } },
    because: ['spec.nodeName: Required value', unchecked],
  },
  'an invalid filesystem UUID': {
    example: 'drive',
    by: 'create',
    change: { spec: { filesystemUUID: 'sdb' } },
    because: [
      'spec.filesystemUUID: Invalid value: "sdb": spec.filesystemUUID in body must be of type uuid: "sdb"',
      unchecked,
    ],
  },
  'an unknown tier': {
    example: 'drive',
    by: 'create',
    change: { spec: { accessTier: 'Lukewarm' } },
    because: [
      'spec.accessTier: Unsupported value: "Lukewarm": supported values: "Default", "Hot", "Warm", "Cold"',
      unchecked,
    ],
  },
  'a drive with a changed node': {
    example: 'drive',
    by: 'patch',
    change: { spec: { nodeName: 'n2' } },
    because: [
      `spec.nodeName: Invalid value: "n2": can't change: volumes are pinned to the node; register the drive in its new node as another Drive`,
    ],
  },
  'a drive with a changed filesystem': {
    example: 'drive',
    by: 'patch',
    change: { spec: { filesystemUUID: '00000000-4a2e-4c6f-9d0b-5d8f3a1c2e77' } },
    because: [
      `spec.filesystemUUID: Invalid value: "00000000-4a2e-4c6f-9d0b-5d8f3a1c2e77": can't change: another filesystem is another drive; create a Drive for it`,
    ],
  },
  'one byte more than free': {
    example: 'drive',
    by: 'patch',
    change: ledgerOf(953_482_739_712, 1),
    because: [
      'spec.volumes: Forbidden: the volumes would take 953482739713 bytes, and the drive has 953482739712; choose another drive, or a smaller size',
    ],
  },
  'a volume of 0 bytes': {
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
  'a duplicate volume': {
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
  'a shrunk volume, and a releasing volume that becomes active': {
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
  'free bytes that do not add up': {
    example: 'drive',
    by: 'status',
    change: { status: { freeBytes: 953_482_739_712 } },
    because: [
      'status.freeBytes: Invalid value: must be capacityBytes less the sum of spec.volumes[].sizeBytes; read the drive again, and compute it again',
    ],
  },
  'a capacity without free bytes': {
    example: 'drive',
    by: 'status',
    change: { status: { capacityBytes: 1 } },
    because: [
      'status.freeBytes: Invalid value: must be capacityBytes less the sum of spec.volumes[].sizeBytes; read the drive again, and compute it again',
    ],
  },
  'an unknown state': {
    example: 'drive',
    by: 'status',
    change: { status: { state: 'Broken' } },
    because: [
      'status.state: Unsupported value: "Broken": supported values: "Ready", "Lost", "Error", "Repairing", "Removing"',
      unchecked,
    ],
  },
  'a condition with an unknown status': {
    example: 'drive',
    by: 'status',
    change: { status: { conditions: [{ type: 'Mounted', status: 'yes' }] } },
    because: [
      'status.conditions[0].status: Unsupported value: "yes": supported values: "True", "False", "Unknown"',
      unchecked,
    ],
  },
  'a pool with both a topology and a node list': {
    example: 'driver-capacity',
    by: 'status',
    change: poolOf({ nodeList: ['n1'], nodeTopology: { nodeSelectorTerms: [{}] } }),
    because: [
      'status.storage[0].pools[0]: Invalid value: at most one of nodeTopology and nodeList may be set; remove one',
    ],
  },
  'a pool of a negative quantity': {
    example: 'driver-capacity',
    by: 'status',
    change: poolOf({ capacity: '-1Gi' }),
    because: [
      'status.storage[0].pools[0].capacity: Invalid value: "-1Gi": is no size; write bytes as a number, or a quantity of zero or more such as 10Gi',
    ],
  },
  'a pool of negative bytes': {
    example: 'driver-capacity',
    by: 'status',
    change: poolOf({ capacity: -1 }),
    because: [
      'status.storage[0].pools[0].capacity: Invalid value: -1: is no size; write bytes as a number, or a quantity of zero or more such as 10Gi',
    ],
  },
  'a pool with an invalid size': {
    example: 'driver-capacity',
    by: 'status',
    change: poolOf({ capacity: 'plenty' }),
    because: [
      'status.storage[0].pools[0].capacity: Invalid value: "plenty": is no size; write bytes as a number, or a quantity of zero or more such as 10Gi',
    ],
  },
  'a pool with an invalid expiry': {
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
  'a duplicate node': {
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
  'a duplicate class': {
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
  'an unknown operator': {
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
  'an unknown field': {
    example: 'driver-capacity',
    by: 'status',
    change: topology({ matchFields: [{ key: 'spec.podCIDR', operator: 'In', values: ['a'] }] }),
    because: [
      'status.storage[0].pools[0].nodeTopology.nodeSelectorTerms[0].matchFields[0].key: Unsupported value: "spec.podCIDR": supported values: "metadata.name"',
      unchecked,
    ],
  },
};
