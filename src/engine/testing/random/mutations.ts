/**
 * Small changes of existing objects. A random new version of an object changes ten fields together, and any of them may wake a pod. A
 * mutation changes one field.
 */
import fc from 'fast-check';
import { annotations, labels as wellKnownLabels } from '../../../kube/well-known.ts';
import type { StorageKind } from '../cluster.ts';
import type { RandomEventType } from './events.ts';
import { claimNames, drivers, otherClaimNames, zones } from './names.ts';

/** A JSON merge patch: null removes a field. */
export type MutationPatch = { readonly [field: string]: unknown };

export interface Mutation {
  /** `replace` gives the object a new uid as well. */
  readonly type: Extract<RandomEventType, 'write' | 'replace' | 'delete'>;
  readonly kind: StorageKind;
  /** Selects an object of the kind, modulo their number. */
  readonly pick: number;
  readonly patch: MutationPatch;
}

export function mergePatched<T extends object>(value: T, patch: MutationPatch): T {
  const result = { ...value } as Record<string, unknown>;
  for (const [field, change] of Object.entries(patch)) {
    if (change === null) delete result[field];
    else result[field] = isObject(change) ? mergePatched((result[field] ?? {}) as object, change) : change;
  }
  return result as T;
}

function isObject(value: unknown): value is MutationPatch {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const nodeNames = ['n1', 'n2', 'n3'];
const nodes = fc.constantFrom(...nodeNames);
const sizes = fc.constantFrom('1Gi', '2Gi', '3Gi', '4Gi', '5Gi', '10Gi');
const orNone = <T>(value: fc.Arbitrary<T>) => fc.oneof(value, value, fc.constant(null));

/** A patch of one of the fields. Keys are paths, separated by spaces. */
function oneField(fields: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<MutationPatch> {
  const patches = Object.entries(fields).map(([path, values]) => values.map((value) => at(path, value)));
  return fc.oneof(...patches);
}

function at(path: string, value: unknown): MutationPatch {
  return path.split(' ').reduceRight<unknown>((inner, field) => ({ [field]: inner }), value) as MutationPatch;
}

const claimReferences = fc
  .tuple(fc.constantFrom(...claimNames, ...otherClaimNames), fc.boolean())
  .map(([name, hasUid]) => ({ namespace: 'default', name, ...(hasUid && { uid: `uid-${name}` }) }));

const boundTo = fc.constantFrom('v1', 'v2', 'v3').map((volumeName) => ({
  spec: { volumeName },
  metadata: { annotations: { [annotations.bindCompleted]: 'yes' } },
  status: { phase: 'Bound' },
}));

const unbound = {
  spec: { volumeName: null },
  metadata: { annotations: { [annotations.bindCompleted]: null } },
  status: { phase: 'Pending' },
};

const attachLimits = fc
  .array(fc.tuple(fc.constantFrom(...drivers, 'ebs.csi.aws.com'), fc.constantFrom(0, 1, 2, 3, undefined)), {
    maxLength: 3,
  })
  .map((entries) =>
    [...new Map(entries)].map(([name, count]) => ({
      name,
      nodeID: 'node',
      ...(count !== undefined && { allocatable: { count } }),
    })),
  );

const times = fc.constant('2026-01-01T00:00:00Z');

const patchesOf: Readonly<Record<StorageKind, fc.Arbitrary<MutationPatch>>> = {
  Node: oneField({
    [`metadata labels ${wellKnownLabels.zone}`]: orNone(fc.constantFrom(...zones)),
    [`metadata labels ${wellKnownLabels.betaZone}`]: orNone(fc.constantFrom(...zones)),
    [`metadata labels ${wellKnownLabels.hostname}`]: orNone(nodes),
    'metadata labels example.com/rack': orNone(fc.constantFrom('1', '2', '3')),
    'metadata labels topology.ebs.csi.aws.com/zone': orNone(fc.constantFrom(...zones)),
  }),
  PersistentVolume: oneField({
    'status phase': fc.constantFrom('Available', 'Bound', 'Released'),
    'spec claimRef': orNone(claimReferences),
    'spec capacity storage': sizes,
    'spec nodeAffinity': fc.constant(null),
    'spec storageClassName': fc.constantFrom('static', 'dyn', 'dyn2', ''),
    'spec volumeMode': fc.constantFrom('Block', 'Filesystem'),
    'spec volumeAttributesClassName': orNone(fc.constant('gold')),
    'spec accessModes': fc.constantFrom(['ReadWriteOnce'], ['ReadWriteOnce', 'ReadWriteMany'], []),
    'spec csi': orNone(
      fc.record({ driver: fc.constantFrom(...drivers), volumeHandle: fc.constantFrom('h1', 'h2', 'h3') }),
    ),
    'spec awsElasticBlockStore': orNone(fc.constant({ volumeID: 'vol-1' })),
    'metadata deletionTimestamp': orNone(times),
    'metadata labels app': orNone(fc.constantFrom('x', 'y')),
    [`metadata labels ${wellKnownLabels.zone}`]: orNone(fc.constantFrom(...zones)),
    [`metadata annotations ${annotations.preferredNodeAffinity}`]: fc.constant(null),
  }),
  PersistentVolumeClaim: fc.oneof(
    boundTo,
    fc.constant(unbound),
    oneField({
      [`metadata annotations ${annotations.selectedNode}`]: orNone(nodes),
      [`metadata annotations ${annotations.pool}`]: orNone(fc.constantFrom('p2', 'storage/cap2')),
      'metadata deletionTimestamp': orNone(times),
      'spec resources requests storage': sizes,
      'spec storageClassName': fc.constantFrom('static', 'dyn', 'dyn2', 'imm', 'ebs'),
      'spec selector': orNone(fc.constant({ matchLabels: { app: 'x' } })),
      'spec volumeMode': fc.constantFrom('Block', 'Filesystem'),
      'spec volumeAttributesClassName': orNone(fc.constant('gold')),
      'spec accessModes': fc.constantFrom(['ReadWriteOnce'], []),
    }),
  ),
  StorageClass: oneField({
    allowedTopologies: orNone(
      fc
        .constantFrom(...zones)
        .map((zone) => [{ matchLabelExpressions: [{ key: wellKnownLabels.zone, values: [zone] }] }]),
    ),
    provisioner: fc.constantFrom('d1', 'd2', 'kubernetes.io/no-provisioner', 'kubernetes.io/aws-ebs'),
    volumeBindingMode: fc.constantFrom('WaitForFirstConsumer', 'Immediate'),
  }),
  CSIDriver: oneField({
    'spec storageCapacity': fc.boolean(),
    'spec preventPodSchedulingIfMissing': fc.boolean(),
  }),
  CSINode: oneField({
    'spec drivers': attachLimits,
    [`metadata annotations ${annotations.migratedPlugins}`]: orNone(fc.constant('kubernetes.io/aws-ebs')),
  }),
  CSIStorageCapacity: oneField({
    capacity: orNone(sizes),
    maximumVolumeSize: orNone(sizes),
    nodeTopology: orNone(fc.constant({ matchLabels: null })),
    storageClassName: fc.constantFrom('dyn', 'dyn2'),
    [`metadata labels ${wellKnownLabels.backingPool}`]: orNone(fc.constantFrom('b1', 'b2')),
  }),
  DriverCapacity: oneField({
    'spec capacityTracking': fc.boolean(),
    'status storage': fc.array(
      fc.record({
        storageClassName: fc.constantFrom('dyn', 'dyn2', '<ephemeral>', '<fallback>'),
        pools: fc.array(
          fc.record({ name: fc.constantFrom('p1', 'p2'), capacity: sizes }, { requiredKeys: ['name'] }),
          { maxLength: 2 },
        ),
      }),
      { maxLength: 2 },
    ),
  }),
  VolumeAttachment: oneField({
    'spec nodeName': nodes,
    'spec attacher': fc.constantFrom(...drivers),
    'spec source persistentVolumeName': fc.constantFrom('v1', 'v2', 'v3'),
  }),
  Pod: oneField({ 'status phase': fc.constantFrom('Running', 'Succeeded') }),
};

const types = fc.constantFrom<Mutation['type']>('write', 'write', 'write', 'write', 'replace', 'delete');

function mutationsOf(kind: StorageKind, patches = patchesOf[kind], type = types): fc.Arbitrary<Mutation> {
  return fc.record({ type, kind: fc.constant(kind), pick: fc.nat(5), patch: patches });
}

/** The node and the volumes of a pod are immutable, but another pod of the same name may have others. */
const replacedPods = mutationsOf(
  'Pod',
  oneField({
    'spec nodeName': orNone(nodes),
    'spec volumes': fc
      .uniqueArray(fc.constantFrom(...otherClaimNames, ...claimNames), { maxLength: 2 })
      .map((claims) =>
        claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
      ),
  }),
  fc.constant('replace'),
);

export const arbMutation: fc.Arbitrary<Mutation> = fc.oneof(
  { weight: 2, arbitrary: mutationsOf('Node') },
  { weight: 5, arbitrary: mutationsOf('PersistentVolume') },
  { weight: 5, arbitrary: mutationsOf('PersistentVolumeClaim') },
  { weight: 2, arbitrary: mutationsOf('StorageClass') },
  { weight: 1, arbitrary: mutationsOf('CSIDriver') },
  { weight: 3, arbitrary: mutationsOf('CSINode') },
  { weight: 4, arbitrary: mutationsOf('CSIStorageCapacity') },
  { weight: 2, arbitrary: mutationsOf('DriverCapacity') },
  { weight: 2, arbitrary: mutationsOf('VolumeAttachment') },
  { weight: 2, arbitrary: mutationsOf('Pod') },
  { weight: 2, arbitrary: replacedPods },
);
