/** Random events on four nodes and a few pods, dense with what rules about nodes check. */
import fc from 'fast-check';
import type {
  Node,
  NodeSelectorRequirement,
  Pod,
  Taint,
  Toleration,
  Volume,
} from '../../../kube/api/core.ts';
import { claim, node, pod, zone } from '../objects.ts';
import type { ModelEvent } from './object-model.ts';

const nodeNames = ['n1', 'n2', 'n3', 'n4'];
const images = ['a', 'b:2', 'reg:5000/c', 'd@sha256:1'];
const rack = 'rack';
const mebibyte = 2 ** 20;

const keys = fc.constantFrom('k1', 'k2');
const values = fc.constantFrom('', 'v');
const effects = fc.constantFrom('NoSchedule' as const, 'PreferNoSchedule' as const, 'NoExecute' as const);
const taints: fc.Arbitrary<Taint> = fc.record({ key: keys, value: values, effect: effects });

const arbToleration: fc.Arbitrary<Toleration> = fc.record(
  {
    key: fc.constantFrom('k1', 'k2', '', 'node.kubernetes.io/unschedulable'),
    operator: fc.constantFrom('Exists' as const, 'Equal' as const, 'Gt' as const),
    value: values,
    effect: fc.oneof(effects, fc.constant('' as 'NoSchedule')),
  },
  { requiredKeys: [] },
);

function listOf<T>(items: fc.Arbitrary<T>, maxLength = 2): fc.Arbitrary<T[]> {
  return fc.array(items, { maxLength });
}

const nodeImages = fc.record({
  names: fc.subarray(
    images.map((name) => (name.startsWith('d@') || name.endsWith('2') ? name : `${name}:latest`)),
  ),
  sizeBytes: fc.constantFrom(10 * mebibyte, 333 * mebibyte, 3_000 * mebibyte),
});

function arbNode(name: string): fc.Arbitrary<Node> {
  return fc
    .record({
      labels: fc.record(
        { [zone]: fc.constantFrom('a', 'b'), [rack]: fc.constantFrom('1', '2') },
        { requiredKeys: [] },
      ),
      unschedulable: fc.boolean(),
      taints: listOf(taints),
      images: listOf(nodeImages),
      declaredFeatures: fc.subarray([
        'RestartAllContainersOnContainerExits',
        'UserNamespacesHostNetworkSupport',
      ]),
    })
    .map(({ labels, unschedulable, taints: list, ...status }) => ({
      metadata: { ...node(name, labels as Record<string, string>).metadata, resourceVersion: '' },
      spec: { unschedulable, taints: list },
      status,
    }));
}

const readOnly = fc.boolean();
const arbDisk: fc.Arbitrary<Volume> = fc.oneof(
  readOnly.map((only): Volume => ({ gcePersistentDisk: { pdName: 'disk', readOnly: only } })),
  readOnly.map((only): Volume => ({ awsElasticBlockStore: { volumeID: 'disk', readOnly: only } })),
  readOnly.map((only): Volume => ({ iscsi: { iqn: 'disk', readOnly: only } })),
  fc
    .record({
      monitors: fc.subarray(['m1', 'm2']),
      pool: fc.constantFrom('p', 'q'),
      image: fc.constant('i'),
      readOnly,
    })
    .map((rbd): Volume => ({ rbd })),
);

const claimNames = ['c1', 'c2'];

/** The immutable claims and volumes of each of the other pods. */
const storage: Readonly<
  Record<string, { readonly claims: readonly string[]; readonly volumes: readonly Volume[] }>
> = {
  o1: { claims: ['c1'], volumes: [{ gcePersistentDisk: { pdName: 'disk' } }] },
  o2: { claims: ['c1', 'c2'], volumes: [{ gcePersistentDisk: { pdName: 'disk', readOnly: true } }] },
  o3: { claims: [], volumes: [{ awsElasticBlockStore: { volumeID: 'disk', readOnly: true } }] },
  o4: {
    claims: ['c2'],
    volumes: [
      { iscsi: { iqn: 'disk' } },
      { iscsi: { iqn: 'disk', readOnly: true } },
      { rbd: { monitors: ['m1', 'm2'], pool: 'p', image: 'i' } },
    ],
  },
  o5: {
    claims: [],
    volumes: [
      { iscsi: { iqn: 'disk', readOnly: true } },
      { rbd: { monitors: ['m2'], pool: 'p', image: 'i', readOnly: true } },
    ],
  },
};
const otherNames = Object.keys(storage);

/** A pod that may have a node. */
function arbOther(name: string): fc.Arbitrary<Pod> {
  const { claims, volumes } = storage[name]!;
  return fc
    .record({
      nodeName: fc.constantFrom('', ...nodeNames),
      phase: fc.constantFrom(
        'Pending' as const,
        'Running' as const,
        'Running' as const,
        'Succeeded' as const,
      ),
    })
    .map(({ nodeName, phase }) => ({
      ...pod(name, claims, { volumes, nodeName, version: '' }),
      status: { phase },
    }));
}

const expressions: fc.Arbitrary<NodeSelectorRequirement> = fc.constantFrom<NodeSelectorRequirement>(
  { key: zone, operator: 'In', values: ['a'] },
  { key: zone, operator: 'In', values: ['a', 'b'] },
  { key: rack, operator: 'NotIn', values: ['1'] },
  { key: rack, operator: 'Exists' },
  { key: zone, operator: 'DoesNotExist' },
  { key: rack, operator: 'Gt', values: ['1'] },
  { key: rack, operator: 'Sometimes' as 'In', values: ['1'] },
);

const fields = fc.record({
  key: fc.constantFrom('metadata.name', 'metadata.name', 'metadata.uid'),
  operator: fc.constantFrom('In' as const, 'In' as const, 'NotIn' as const, 'Exists' as const),
  values: fc.subarray(nodeNames, { minLength: 1, maxLength: 2 }),
});

const terms = fc.record(
  { matchExpressions: listOf(expressions), matchFields: listOf(fields) },
  { requiredKeys: [] },
);

const preferences = fc.record({ weight: fc.constantFrom(1, 7, 100), preference: terms });

const nodeAffinity = fc.record(
  {
    requiredDuringSchedulingIgnoredDuringExecution: fc.record({ nodeSelectorTerms: listOf(terms) }),
    preferredDuringSchedulingIgnoredDuringExecution: listOf(preferences, 3),
  },
  { requiredKeys: [] },
);

const containers = fc.record(
  {
    image: fc.constantFrom(...images, 'nowhere'),
    restartPolicyRules: fc.constantFrom([{ action: 'Restart' }], [{ action: 'RestartAllContainers' }]),
  },
  { requiredKeys: ['image'] },
);

/** The pod to place. */
export const arbPodToPlace: fc.Arbitrary<Pod> = fc
  .record({
    nodeName: fc.constantFrom('', ...nodeNames),
    claims: fc.subarray(claimNames),
    disks: listOf(arbDisk),
    imageVolumes: listOf(
      fc.constantFrom(...images).map((reference): Volume => ({ image: { reference } })),
      1,
    ),
    spec: fc.record(
      {
        nodeSelector: fc.record({ [zone]: fc.constantFrom('a', 'b') }, { requiredKeys: [] }),
        affinity: fc.record({ nodeAffinity }),
        tolerations: listOf(arbToleration, 4),
        containers: listOf(containers),
        initContainers: listOf(containers, 1),
        hostNetwork: fc.boolean(),
        hostUsers: fc.boolean(),
      },
      { requiredKeys: ['containers'] },
    ),
  })
  .map(({ nodeName, claims, disks, imageVolumes, spec }) => {
    const pending = pod('p', claims, { volumes: [...disks, ...imageVolumes], nodeName });
    return { ...pending, spec: { ...pending.spec, ...spec } as Pod['spec'] } as Pod;
  });

function orDeleted<T>(objects: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(objects, { nil: undefined, freq: 4 });
}

function events<E extends ModelEvent>(
  kind: E['kind'],
  names: readonly string[],
  objects: (name: string) => fc.Arbitrary<NonNullable<E['object']>>,
): fc.Arbitrary<E> {
  const all = names.map((name) =>
    orDeleted(objects(name)).map((object) => ({ kind, name, object }) as unknown as E),
  );
  return fc.oneof(...all);
}

const accessModes = fc.constantFrom(['ReadWriteOnce' as const], ['ReadWriteOncePod' as const]);

export const arbModelEvent: fc.Arbitrary<ModelEvent> = fc.oneof(
  { weight: 5, arbitrary: events<ModelEvent>('Node', nodeNames, arbNode as never) },
  { weight: 4, arbitrary: events<ModelEvent>('Pod', otherNames, arbOther as never) },
  {
    weight: 2,
    arbitrary: events<ModelEvent>(
      'PersistentVolumeClaim',
      claimNames,
      (name) =>
        accessModes.map((modes) =>
          claim(name, '1Gi', { spec: { accessModes: modes }, version: '' }),
        ) as never,
    ),
  },
  {
    weight: 2,
    arbitrary: events<ModelEvent>(
      'Assumption',
      otherNames,
      (name) => arbOther(name).filter(({ spec }) => spec?.nodeName !== '') as never,
    ),
  },
);
