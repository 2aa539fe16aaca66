/**
 * Random clusters, small enough for the oracle and dense with coincidences: few names, few sizes, many ties, and a little of
 * everything that objects get wrong in real life.
 */
import fc from 'fast-check';
import type {
  AccessMode,
  Node,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  TopologySelectorTerm,
  Volume,
} from '../../kube/core.ts';
import type { LabelSelector } from '../../kube/meta.ts';
import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  StorageClass,
  VolumeAttachment,
} from '../../kube/storage.ts';
import type { ClassCapacity, DriverCapacity, StoragePool } from '../../kube/stowage.ts';
import { annotations, labels as wellKnownLabels } from '../../kube/well-known.ts';
import type { ClusterObjects } from './cluster.ts';

/** The time that random expiry times lie around. */
export const randomNowMs = Date.parse('2026-01-01T00:00:00Z');

/** Every kind is there, if only as an empty list. */
export type RandomObjects = Required<ClusterObjects>;

export interface RandomCluster {
  readonly objects: RandomObjects;
  readonly pod: Pod;
}

const nodeNames = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'];
const zones = ['a', 'b', 'c'];
const drivers = ['d1', 'd2'];
const classNames = ['static', 'dyn', 'dyn2', 'imm', 'ebs'];
const claimNames = ['c1', 'c2', 'c3', 'c4'];
const otherClaimNames = ['o1', 'o2', 'o3'];
const volumesMax = 12;
const volumeNames = Array.from({ length: volumesMax }, (_, position) => `v${position + 1}`);
const rack = 'example.com/rack';

/** Something with the given chance out of a hundred, else nothing. */
function sometimes<T>(percent: number, value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof(
    { withCrossShrink: true },
    { weight: 100 - percent, arbitrary: fc.constant(undefined) },
    { weight: percent, arbitrary: value },
  );
}

/** Drops the fields that came out as undefined: on the wire they are absent. */
function compact<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

const sizes = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom('1Gi', '2Gi', '2Gi', '2048Mi', '3Gi', '4Gi', '5Gi', '10Gi') },
  { weight: 2, arbitrary: fc.constantFrom('800E', '7E', '9007199254740992', '9007199254740993') },
  { weight: 1, arbitrary: fc.constantFrom('0', '1', '1500m', '1600m', '0.5Gi', '1e9') },
);

// ── Selectors ──

const expressions: fc.Arbitrary<NodeSelectorRequirement> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      key: fc.constant(wellKnownLabels.hostname),
      operator: fc.constantFrom('In', 'In', 'In', 'NotIn'),
      values: fc.uniqueArray(fc.constantFrom(...nodeNames), { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      key: fc.constant(wellKnownLabels.zone),
      operator: fc.constantFrom('In', 'NotIn'),
      values: fc.uniqueArray(fc.constantFrom(...zones), { minLength: 1, maxLength: 2 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ key: fc.constant(rack), operator: fc.constantFrom('Exists', 'DoesNotExist') }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      key: fc.constant(rack),
      operator: fc.constantFrom('Gt', 'Lt'),
      values: fc.constantFrom(['1'], ['2'], ['9007199254740993']),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<NodeSelectorRequirement>(
      { key: rack, operator: 'Gt', values: ['x'] },
      { key: rack, operator: 'In', values: [] },
      { key: rack, operator: 'Exists', values: ['1'] },
      { key: '-bad-', operator: 'Exists' },
      { key: rack, operator: 'Sometimes' as 'In', values: ['1'] },
      { key: rack, operator: 'In', values: ['not a label value'] },
    ),
  },
);

const fields: fc.Arbitrary<NodeSelectorRequirement> = fc.record({
  key: fc.constant('metadata.name'),
  operator: fc.constantFrom('In', 'NotIn'),
  values: fc.constantFrom(...nodeNames).map((name) => [name]),
});

const terms: fc.Arbitrary<NodeSelectorTerm> = fc
  .record({
    matchExpressions: sometimes(90, fc.array(expressions, { minLength: 1, maxLength: 2 })),
    matchFields: sometimes(15, fc.array(fields, { minLength: 1, maxLength: 1 })),
  })
  .map(compact);

const nodeSelectors = fc.record({
  nodeSelectorTerms: fc.oneof(
    { weight: 12, arbitrary: fc.array(terms, { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.constant([]) },
  ),
});

const labelSelectors: fc.Arbitrary<LabelSelector> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(...nodeNames)
      .map((name) => ({ matchLabels: { [wellKnownLabels.hostname]: name } })),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(...zones).map((zone) => ({ matchLabels: { [wellKnownLabels.zone]: zone } })),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<LabelSelector>(
      { matchExpressions: [{ key: rack, operator: 'Exists' }] },
      { matchExpressions: [{ key: wellKnownLabels.zone, operator: 'NotIn', values: ['a'] }] },
      { matchExpressions: [{ key: wellKnownLabels.zone, operator: 'In', values: [] }] },
    ),
  },
);

const allowedTopologies: fc.Arbitrary<TopologySelectorTerm[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.uniqueArray(fc.constantFrom(...zones), { minLength: 1, maxLength: 2 }).map((values) => ({
        matchLabelExpressions: [{ key: wellKnownLabels.zone, values }],
      })),
    },
    { weight: 1, arbitrary: fc.constant({}) },
    {
      weight: 1,
      arbitrary: fc.constant({ matchLabelExpressions: [{ key: rack, values: [] }] }),
    },
  ),
  { minLength: 0, maxLength: 2 },
);

// ── Nodes and drivers ──

const nodeLabels = fc
  .record({
    hostname: fc.oneof(
      { weight: 8, arbitrary: fc.constant('own') },
      { weight: 1, arbitrary: fc.constant('other') },
      { weight: 1, arbitrary: fc.constant(undefined) },
    ),
    [wellKnownLabels.zone]: sometimes(80, fc.constantFrom(...zones)),
    [wellKnownLabels.betaZone]: sometimes(10, fc.constantFrom(...zones)),
    [wellKnownLabels.region]: sometimes(10, fc.constantFrom('r1', 'r2')),
    [rack]: sometimes(50, fc.constantFrom('1', '2', '3', 'x', '')),
    'topology.ebs.csi.aws.com/zone': sometimes(20, fc.constantFrom(...zones)),
  })
  .map(compact);

export function arbNode(name: string): fc.Arbitrary<Node> {
  return nodeLabels.map(({ hostname, ...rest }) => ({
    metadata: {
      name,
      uid: `uid-${name}`,
      resourceVersion: '1',
      labels: {
        ...rest,
        ...(hostname !== undefined && { [wellKnownLabels.hostname]: hostname === 'own' ? name : 'n1' }),
      },
    },
  }));
}

export function arbCsiNode(name: string): fc.Arbitrary<CSINode> {
  return fc
    .record({
      d1: sometimes(60, fc.constantFrom(0, 1, 2, 3, undefined)),
      d2: sometimes(50, fc.constantFrom(0, 1, 2, undefined)),
      ebs: sometimes(30, fc.constantFrom(0, 1, 2, undefined)),
      migrated: sometimes(30, fc.constant('kubernetes.io/aws-ebs')),
      installed: fc.uniqueArray(fc.constantFrom('d1', 'd2', 'ebs.csi.aws.com'), { maxLength: 3 }),
    })
    .map(({ d1, d2, ebs, migrated, installed }) => {
      const counts: Record<string, number | undefined> = { d1, d2, 'ebs.csi.aws.com': ebs };
      return {
        metadata: {
          name,
          uid: `uid-csinode-${name}`,
          resourceVersion: '1',
          ...(migrated !== undefined && { annotations: { [annotations.migratedPlugins]: migrated } }),
        },
        spec: {
          drivers: installed.map((driver) => ({
            name: driver,
            nodeID: name,
            ...(counts[driver] !== undefined && { allocatable: { count: counts[driver] } }),
          })),
        },
      };
    });
}

export function arbCsiDriver(name: string): fc.Arbitrary<CSIDriver> {
  return fc
    .record({
      storageCapacity: sometimes(80, fc.constantFrom(true, true, true, false)),
      preventPodSchedulingIfMissing: sometimes(15, fc.boolean()),
    })
    .map((spec) => ({ metadata: { name, uid: `uid-${name}`, resourceVersion: '1' }, spec: compact(spec) }));
}

/** Each class has its nature, so that the pod's claims meet all of them. */
export function arbClass(name: string): fc.Arbitrary<StorageClass> {
  const provisioner =
    { dyn: 'd1', dyn2: 'd2', imm: 'd1', ebs: 'kubernetes.io/aws-ebs' }[name] ??
    'kubernetes.io/no-provisioner';
  return sometimes(30, allowedTopologies).map((allowed) => ({
    metadata: { name, uid: `uid-${name}`, resourceVersion: '1' },
    provisioner,
    volumeBindingMode: name === 'imm' ? 'Immediate' : 'WaitForFirstConsumer',
    ...(allowed !== undefined && { allowedTopologies: allowed }),
  }));
}

// ── Volumes ──

const accessModes: fc.Arbitrary<AccessMode[]> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<AccessMode[]>(['ReadWriteOnce']) },
  {
    weight: 2,
    arbitrary: fc.uniqueArray(
      fc.constantFrom<AccessMode>('ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'),
      { maxLength: 3 },
    ),
  },
);

const claimRefs = fc.record({
  namespace: fc.constant('default'),
  name: fc.constantFrom(...claimNames, 'elsewhere'),
  uid: fc.constantFrom('right', 'wrong', ''),
});

const volumeSources: fc.Arbitrary<Partial<NonNullable<PersistentVolume['spec']>>> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  {
    weight: 3,
    arbitrary: fc.record({
      csi: fc.record({
        driver: fc.constantFrom(...drivers),
        volumeHandle: fc.constantFrom('h1', 'h2', 'h3', 'h4', 'h5', 'h6'),
      }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      awsElasticBlockStore: fc.record({ volumeID: fc.constantFrom('vol-1', 'vol-2') }),
    }),
  },
);

const preferences = fc.constantFrom(
  JSON.stringify([
    {
      weight: 10,
      preference: { matchExpressions: [{ key: wellKnownLabels.zone, operator: 'In', values: ['b'] }] },
    },
  ]),
  'nonsense',
);

export function arbVolume(name: string): fc.Arbitrary<PersistentVolume> {
  return fc
    .record({
      size: sometimes(
        98,
        fc.oneof({ weight: 30, arbitrary: sizes }, { weight: 1, arbitrary: fc.constant('x') }),
      ),
      className: fc.constantFrom('static', 'static', 'static', 'dyn', 'dyn', 'dyn2', 'ebs', ''),
      betaClass: sometimes(4, fc.constantFrom('static', 'dyn')),
      affinity: sometimes(70, nodeSelectors),
      source: volumeSources,
      phase: fc.oneof(
        { weight: 8, arbitrary: fc.constant('Available' as const) },
        { weight: 1, arbitrary: fc.constantFrom('Bound' as const, 'Released' as const, 'Pending' as const) },
      ),
      claimRef: sometimes(15, claimRefs),
      app: sometimes(50, fc.constantFrom('x', 'y')),
      zone: sometimes(12, fc.constantFrom('a', 'b', 'a__b', 'c', '', 'a__')),
      betaZone: sometimes(5, fc.constantFrom('a', 'b')),
      mode: sometimes(8, fc.constantFrom('Block' as const, 'Filesystem' as const)),
      accessModes,
      attributesClass: sometimes(6, fc.constantFrom('gold', '')),
      preference: sometimes(5, preferences),
      isDeleting: sometimes(4, fc.constant('2026-01-01T00:00:00Z')),
    })
    .map((random) => volumeOf(name, random));
}

type RandomVolume = {
  readonly size: string | undefined;
  readonly className: string;
  readonly betaClass: string | undefined;
  readonly affinity: { readonly nodeSelectorTerms: readonly NodeSelectorTerm[] } | undefined;
  readonly source: Partial<NonNullable<PersistentVolume['spec']>>;
  readonly phase: 'Available' | 'Bound' | 'Released' | 'Pending';
  readonly claimRef: { readonly namespace: string; readonly name: string; readonly uid: string } | undefined;
  readonly app: string | undefined;
  readonly zone: string | undefined;
  readonly betaZone: string | undefined;
  readonly mode: 'Block' | 'Filesystem' | undefined;
  readonly accessModes: readonly AccessMode[];
  readonly attributesClass: string | undefined;
  readonly preference: string | undefined;
  readonly isDeleting: string | undefined;
};

function volumeOf(name: string, random: RandomVolume): PersistentVolume {
  const { claimRef, affinity } = random;
  const uid = claimRef?.uid === 'right' ? `uid-${claimRef.name}` : claimRef?.uid;
  return {
    metadata: compact({
      name,
      uid: `uid-${name}`,
      resourceVersion: '1',
      labels: compact({
        app: random.app,
        [wellKnownLabels.zone]: random.zone,
        [wellKnownLabels.betaZone]: random.betaZone,
      }),
      annotations: compact({
        [annotations.betaStorageClass]: random.betaClass,
        [annotations.preferredNodeAffinity]: random.preference,
      }),
      deletionTimestamp: random.isDeleting,
    }),
    spec: compact({
      ...random.source,
      capacity: random.size === undefined ? undefined : { storage: random.size },
      accessModes: random.accessModes,
      storageClassName: random.className,
      nodeAffinity: affinity && { required: affinity },
      claimRef: claimRef && { namespace: claimRef.namespace, name: claimRef.name, ...(uid && { uid }) },
      volumeMode: random.mode,
      volumeAttributesClassName: random.attributesClass,
    }),
    status: { phase: random.phase },
  };
}

// ── Claims ──

/** `healthy` out of a hundred claims are such that a pod can be placed with them. */
export function arbClaim(name: string, healthy = 97): fc.Arbitrary<PersistentVolumeClaim> {
  return fc
    .record({
      size: sometimes(96, sizes),
      className: fc.constantFrom('static', 'static', 'dyn', 'dyn', 'dyn2', 'ebs'),
      trouble: sometimes(
        100 - healthy,
        fc.constantFrom(
          'lost',
          'deleting',
          'prebound',
          'immediate',
          'no class',
          'malformed',
          'negative',
          'bad selector',
        ),
      ),
      volumeName: sometimes(15, fc.constantFrom(...volumeNames, 'gone')),
      selectedNode: sometimes(12, fc.constantFrom(...nodeNames)),
      pool: sometimes(5, fc.constantFrom('p2', 'storage/cap2')),
      selector: sometimes(
        12,
        fc.constantFrom<LabelSelector>(
          { matchLabels: { app: 'x' } },
          {},
          {
            matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['x'] }],
          },
        ),
      ),
      mode: sometimes(5, fc.constantFrom('Block' as const, 'Filesystem' as const)),
      accessModes,
      attributesClass: sometimes(4, fc.constantFrom('gold', '')),
    })
    .map((random) => claimOf(name, random));
}

interface RandomClaim {
  readonly size: string | undefined;
  readonly className: string;
  readonly trouble: string | undefined;
  readonly volumeName: string | undefined;
  readonly selectedNode: string | undefined;
  readonly pool: string | undefined;
  readonly selector: LabelSelector | undefined;
  readonly mode: 'Block' | 'Filesystem' | undefined;
  readonly accessModes: readonly AccessMode[];
  readonly attributesClass: string | undefined;
}

const troubledSizes: Readonly<Record<string, string>> = { malformed: 'lots', negative: '-1Gi' };
const troubledClasses: Readonly<Record<string, string>> = { immediate: 'imm', 'no class': '' };

function claimOf(name: string, random: RandomClaim): PersistentVolumeClaim {
  const trouble = random.trouble ?? '';
  const size = troubledSizes[trouble] ?? random.size;
  const volumeName = trouble === 'prebound' || trouble === 'lost' ? 'v1' : random.volumeName;
  const isBound = volumeName !== undefined && trouble !== 'prebound';
  return {
    metadata: compact({
      namespace: 'default',
      name,
      uid: `uid-${name}`,
      resourceVersion: '1',
      annotations: compact({
        [annotations.selectedNode]: random.selectedNode,
        [annotations.bindCompleted]: isBound ? 'yes' : undefined,
        [annotations.pool]: random.pool,
      }),
      deletionTimestamp: trouble === 'deleting' ? '2026-01-01T00:00:00Z' : undefined,
    }),
    spec: compact({
      accessModes: random.accessModes,
      storageClassName: troubledClasses[trouble] ?? random.className,
      resources: size === undefined ? undefined : { requests: { storage: size } },
      volumeName,
      selector:
        trouble === 'bad selector'
          ? { matchExpressions: [{ key: 'app', operator: 'In' as const, values: [] }] }
          : random.selector,
      volumeMode: random.mode,
      volumeAttributesClassName: random.attributesClass,
    }),
    status: { phase: trouble === 'lost' ? 'Lost' : isBound ? 'Bound' : 'Pending' },
  };
}

// ── Pools ──

export function arbCapacity(name: string): fc.Arbitrary<CSIStorageCapacity> {
  return fc
    .record({
      storageClassName: fc.constantFrom('dyn', 'dyn', 'dyn2', 'ebs'),
      nodeTopology: sometimes(90, labelSelectors),
      capacity: sometimes(90, sizes),
      maximumVolumeSize: sometimes(20, sizes),
      backing: sometimes(20, fc.constantFrom('b1', 'b2')),
    })
    .map(({ backing, ...fields }) => ({
      metadata: {
        namespace: 'storage',
        name,
        uid: `uid-${name}`,
        resourceVersion: '1',
        ...(backing !== undefined && { labels: { [wellKnownLabels.backingPool]: backing } }),
      },
      ...compact(fields),
    }));
}

const expiryTimes = fc.constantFrom('2025-12-31T23:59:59Z', '2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z');

function arbPool(name: string): fc.Arbitrary<StoragePool> {
  return fc
    .record({
      nodeTopology: sometimes(35, nodeSelectors),
      nodeList: sometimes(25, fc.uniqueArray(fc.constantFrom(...nodeNames), { maxLength: 3 })),
      capacity: sometimes(95, sizes),
      expiryTime: sometimes(20, expiryTimes),
    })
    .map((fields) => ({ name, ...compact(fields) }));
}

const classCapacities: fc.Arbitrary<ClassCapacity[]> = fc.uniqueArray(
  fc
    .tuple(
      fc.constantFrom('dyn', 'dyn2', '<ephemeral>', '<fallback>'),
      fc.tuple(sometimes(80, arbPool('p1')), sometimes(50, arbPool('p2')), sometimes(20, arbPool('p3'))),
    )
    .map(([storageClassName, pools]) => ({
      storageClassName,
      pools: pools.filter((pool) => pool !== undefined),
    })),
  { maxLength: 3, selector: ({ storageClassName }) => storageClassName },
);

export function arbDriverCapacity(name: string): fc.Arbitrary<DriverCapacity> {
  return fc
    .record({ capacityTracking: fc.constantFrom(true, true, true, true, false), storage: classCapacities })
    .map(({ capacityTracking, storage }) => ({
      metadata: { name, uid: `uid-capacity-${name}`, resourceVersion: '1' },
      spec: { capacityTracking },
      status: { storage },
    }));
}

// ── Pods ──

export function arbAttachment(name: string): fc.Arbitrary<VolumeAttachment> {
  return fc
    .record({
      nodeName: fc.constantFrom(...nodeNames),
      attacher: fc.constantFrom(...drivers),
      persistentVolumeName: fc.constantFrom(...volumeNames),
    })
    .map(({ nodeName, attacher, persistentVolumeName }) => ({
      metadata: { name, uid: `uid-${name}`, resourceVersion: '1' },
      spec: { attacher, nodeName, source: { persistentVolumeName } },
    }));
}

function claimVolumes(names: readonly string[]): Volume[] {
  return names.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }));
}

const inlineVolumes: fc.Arbitrary<Volume[]> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Volume[]>([]) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...drivers),
        fc.oneof({ weight: 12, arbitrary: sizes }, { weight: 1, arbitrary: fc.constantFrom('x', '-1') }),
      )
      .map(([driver, fsSize]) => [{ name: 'scratch', csi: { driver, fsSize } }]),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('vol-1', 'vol-3')
      .map((volumeID) => [{ name: 'disk', awsElasticBlockStore: { volumeID } }]),
  },
);

/** A pod that runs somewhere, or ran. */
export function arbOtherPod(name: string): fc.Arbitrary<Pod> {
  return fc
    .record({
      nodeName: sometimes(90, fc.constantFrom(...nodeNames)),
      claims: fc.uniqueArray(fc.constantFrom(...otherClaimNames, ...claimNames), { maxLength: 2 }),
      disks: inlineVolumes,
      phase: fc.constantFrom('Running' as const, 'Running' as const, 'Succeeded' as const),
    })
    .map(({ nodeName, claims, disks, phase }) => ({
      metadata: { namespace: 'default', name, uid: `uid-${name}`, resourceVersion: '1' },
      spec: { volumes: [...claimVolumes(claims), ...disks], ...(nodeName !== undefined && { nodeName }) },
      status: { phase },
    }));
}

/** The pod to place: in namespace `default`, called `pod`; its claims in any order. */
export const arbPod: fc.Arbitrary<Pod> = fc
  .record({
    claims: fc.oneof(
      { weight: 20, arbitrary: fc.shuffledSubarray(claimNames, { minLength: 1 }) },
      { weight: 1, arbitrary: fc.constant([...claimNames, 'nowhere']) },
    ),
    hasEphemeral: sometimes(10, fc.constant(true)),
    inline: inlineVolumes,
  })
  .map(({ claims, hasEphemeral, inline }) => ({
    metadata: { namespace: 'default', name: 'pod', uid: 'uid-pod', resourceVersion: '1' },
    spec: {
      volumes: [
        ...claimVolumes(claims),
        ...(hasEphemeral ? [{ name: 'cache', ephemeral: { volumeClaimTemplate: {} } }] : []),
        ...inline,
      ],
    },
  }));

/** What the ephemeral volume controller makes for the pod; now and then somebody else's. */
const ephemeralClaims: fc.Arbitrary<PersistentVolumeClaim> = fc
  .tuple(arbClaim('pod-cache'), fc.constantFrom('uid-pod', 'uid-pod', 'uid-pod', 'uid-other'))
  .map(([claim, uid]) => ({
    ...claim,
    metadata: {
      ...claim.metadata,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'pod', uid, controller: true }],
    },
  }));

// ── The whole ──

/** Those of the names that are there, each as drawn. */
function present<T>(
  names: readonly string[],
  percent: number,
  arbitrary: (name: string) => fc.Arbitrary<T>,
): fc.Arbitrary<T[]> {
  return fc
    .tuple(...names.map((name) => sometimes(percent, arbitrary(name))))
    .map((items) => items.filter((item) => item !== undefined));
}

function named(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, position) => `${prefix}${position + 1}`);
}

export const arbObjects: fc.Arbitrary<RandomObjects> = fc.record({
  Node: present(nodeNames, 55, arbNode),
  PersistentVolume: present(volumeNames, 50, arbVolume),
  PersistentVolumeClaim: fc
    .tuple(
      present(claimNames, 98, (name) => arbClaim(name)),
      present(otherClaimNames, 60, (name) => arbClaim(name, 100)),
      sometimes(90, ephemeralClaims),
    )
    .map(([own, others, ephemeral]) => [...own, ...others, ...(ephemeral === undefined ? [] : [ephemeral])]),
  StorageClass: present(classNames, 98, arbClass),
  CSIDriver: present([...drivers, 'ebs.csi.aws.com'], 75, arbCsiDriver),
  CSINode: present(nodeNames, 50, arbCsiNode),
  CSIStorageCapacity: present(named('cap', 6), 45, arbCapacity),
  DriverCapacity: present(drivers, 30, arbDriverCapacity),
  VolumeAttachment: present(named('va', 3), 30, arbAttachment),
  Pod: present(named('other', 3), 35, arbOtherPod),
});

export const arbCluster: fc.Arbitrary<RandomCluster> = fc.record({ objects: arbObjects, pod: arbPod });
