import { describe, expect, test } from 'vitest';
import type { Pod } from '../kube/api/core.ts';
import type { IndexedKind, ObjectWarning } from './cluster-index/cluster-change.ts';
import { ClusterIndex } from './cluster-index/cluster-index.ts';
import { upstreamProfile } from './cluster-index/profile.ts';
import { plan } from './plan.ts';
import { clusterOf, planOutcome } from './testing/cluster.ts';
import { expectRefusal } from './testing/expect-plan.ts';
import {
  boundClaim,
  byName,
  claim,
  csiClass,
  driverCapacity,
  hostname,
  inlineVolume,
  labelIn,
  localVolume,
  node,
  pod,
  pool,
  storageCapacity,
  storageClass,
  volume,
} from './testing/objects.ts';

/** These objects are not validated. The index uses what it can and reports the rest with object and field; it never throws. */

const kinds: readonly IndexedKind[] = [
  'Node',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'StorageClass',
  'CSIDriver',
  'CSINode',
  'CSIStorageCapacity',
  'DriverCapacity',
  'VolumeAttachment',
  'Pod',
];

/** JSON values in places where an object, list or text is expected. */
const junk: readonly unknown[] = [
  null,
  true,
  0,
  -1.5,
  'text',
  '',
  [],
  [null],
  ['text'],
  [[]],
  {},
  { a: { b: [null] } },
];

function feed(index: ClusterIndex, kind: IndexedKind, object: unknown): readonly ObjectWarning[] {
  return index.upsert(kind, object as never).warnings;
}

describe.each(kinds)('%s', (kind) => {
  test('that is not an object, or has no name, is ignored with a warning', () => {
    for (const object of [
      ...junk,
      { metadata: null },
      { metadata: { name: 5 } },
      { metadata: { name: '' } },
    ]) {
      const index = new ClusterIndex();
      const applied = index.upsert(kind, object as never);
      expect(applied.change).toBeUndefined();
      expect(applied.warnings).toEqual([
        { kind, key: '', problem: expect.stringContaining('metadata.name') },
      ]);
    }
  });

  test('with only a name is accepted', () => {
    const applied = new ClusterIndex().upsert(kind, {
      metadata: { namespace: 'default', name: 'x' },
    } as never);
    expect(applied.change).toMatchObject({ kind, before: undefined });
  });

  test('with junk in every field is accepted, changed and removed without an exception', () => {
    for (const value of junk) {
      const index = clusterOf({ Node: [node('n1')], StorageClass: [storageClass('local')] });
      const metadata = {
        namespace: 'default',
        name: 'x',
        labels: value,
        annotations: value,
        ownerReferences: value,
      };
      const fields = Object.fromEntries(topFields.map((field) => [field, value]));
      const nested = Object.fromEntries(topFields.map((field) => [field, nestedJunk(value)]));
      feed(index, kind, { metadata, ...fields });
      feed(index, kind, { metadata: { ...metadata, resourceVersion: value, uid: value }, ...nested });
      expect(() => plan(pod('p', ['x']), index, { nowMs: 0 })).not.toThrow();
      index.remove(kind, kind === 'Node' || !namespaced.has(kind) ? 'x' : 'default/x');
    }
  });
});

const namespaced: ReadonlySet<IndexedKind> = new Set(['PersistentVolumeClaim', 'CSIStorageCapacity', 'Pod']);
const topFields = [
  'spec',
  'status',
  'provisioner',
  'volumeBindingMode',
  'allowedTopologies',
  'nodeTopology',
  'storageClassName',
  'capacity',
  'maximumVolumeSize',
];

/** The same value in every place that the engine reads of a spec or status. */
function nestedJunk(value: unknown): unknown {
  return {
    capacity: value,
    accessModes: value,
    claimRef: value,
    nodeAffinity: {
      required: { nodeSelectorTerms: [value, { matchExpressions: value, matchFields: [value] }] },
    },
    csi: value,
    gcePersistentDisk: value,
    resources: { requests: { storage: value } },
    selector: { matchLabels: value, matchExpressions: [value] },
    storageClassName: value,
    volumeMode: value,
    volumes: [value, { name: value, persistentVolumeClaim: value, ephemeral: value, csi: { fsSize: value } }],
    drivers: [value, { name: value, allocatable: value }],
    storage: [value, { storageClassName: value, pools: [value, { nodeList: value, nodeTopology: value }] }],
    source: value,
    phase: value,
  };
}

interface Complaint {
  readonly name: string;
  readonly kind: IndexedKind;
  readonly object: unknown;
  readonly field: RegExp;
}

const complaints: readonly Complaint[] = [
  {
    name: 'a volume of negative size',
    kind: 'PersistentVolume',
    object: volume('x', '-5Gi'),
    field: /^spec\.capacity\.storage: "-5Gi" is negative/,
  },
  {
    name: 'a volume with a malformed size',
    kind: 'PersistentVolume',
    object: volume('x', 'five'),
    field: /^spec\.capacity\.storage: /,
  },
  {
    name: 'a volume with an unknown operator in its affinity',
    kind: 'PersistentVolume',
    object: volume('x', '1Gi', {
      terms: [{ matchExpressions: [{ key: 'a', operator: 'Like' as 'In', values: ['b'] }] }],
    }),
    field:
      /^spec\.nodeAffinity\.required\.nodeSelectorTerms\[0\]\.matchExpressions\[0\]\.operator: "Like" is unknown; use In/,
  },
  {
    name: 'a volume whose affinity compares with a text',
    kind: 'PersistentVolume',
    object: volume('x', '1Gi', {
      terms: [{ matchExpressions: [{ key: 'a', operator: 'Gt', values: ['b'] }] }],
    }),
    field: /matchExpressions\[0\]\.values: Gt compares with one whole number/,
  },
  {
    name: 'a volume with an unknown access mode',
    kind: 'PersistentVolume',
    object: volume('x', '1Gi', { spec: { accessModes: ['ReadWriteSometimes' as 'ReadWriteOnce'] } }),
    field: /^spec\.accessModes: "ReadWriteSometimes" is not an access mode; use ReadWriteOnce/,
  },
  {
    name: 'a volume with a malformed preference',
    kind: 'PersistentVolume',
    object: volume('x', '1Gi', {
      metadata: { name: 'x', annotations: { 'stowage.dev/preferred-node-affinity': '{' } },
    }),
    field: /^metadata\.annotations\[stowage\.dev\/preferred-node-affinity\]: must be a JSON list/,
  },
  {
    name: 'a claim with a negative request',
    kind: 'PersistentVolumeClaim',
    object: claim('x', '-1'),
    field: /^spec\.resources\.requests\.storage: "-1" is negative/,
  },
  {
    name: 'a claim with an unknown operator in its selector',
    kind: 'PersistentVolumeClaim',
    object: claim('x', '1Gi', {
      spec: { selector: { matchExpressions: [{ key: 'a', operator: 'Gt' as 'In', values: ['1'] }] } },
    }),
    field: /^spec\.selector\.matchExpressions\[0\]\.operator: "Gt" is unknown/,
  },
  {
    name: 'a class with a bad key in its topologies',
    kind: 'StorageClass',
    object: csiClass('d', 'x', {
      allowedTopologies: [{ matchLabelExpressions: [{ key: 'a b', values: ['c'] }] }],
    }),
    field: /^allowedTopologies\[0\]\.matchLabelExpressions\[0\]\.key: "a b" is not a label key/,
  },
  {
    name: 'a negative limit',
    kind: 'CSINode',
    object: { metadata: { name: 'x' }, spec: { drivers: [{ name: 'd', allocatable: { count: -1 } }] } },
    field: /^spec\.drivers\[d\]\.allocatable\.count: must be an integer of zero or more; treated as no limit/,
  },
  {
    name: 'a negative capacity',
    kind: 'CSIStorageCapacity',
    object: storageCapacity('x', 'local', { capacity: '-1Gi' }),
    field: /^capacity: "-1Gi" is negative/,
  },
  {
    name: 'a capacity with a bad selector',
    kind: 'CSIStorageCapacity',
    object: storageCapacity('x', 'local', { nodeTopology: { matchLabels: { 'a b': 'c' } } }),
    field: /^nodeTopology\.matchLabels/,
  },
  {
    name: 'a pool with a malformed size',
    kind: 'DriverCapacity',
    object: driverCapacity('x', [{ storageClassName: 'fast', pools: [pool('p', 'all')] }]),
    field: /^status\.storage\[fast\]\.pools\[p\]\.capacity: /,
  },
  {
    name: 'a pool with a malformed expiry',
    kind: 'DriverCapacity',
    object: driverCapacity('x', [
      { storageClassName: 'fast', pools: [pool('p', '1', { expiryTime: 'soon' })] },
    ]),
    field: /^status\.storage\[fast\]\.pools\[p\]\.expiryTime: must be an RFC 3339 time/,
  },
  {
    name: 'a pod with an inline volume of negative size',
    kind: 'Pod',
    object: pod('x', [], { volumes: [inlineVolume('v', 'd', '-1')] }),
    field: /^spec\.volumes\[v\]\.csi\.fsSize: "-1" is negative/,
  },
];

describe('a warning has object, field and remedy:', () => {
  test.each(byName(complaints))('%s', (_, { kind, object, field }) => {
    const [warning, ...others] = feed(new ClusterIndex(), kind, object);
    expect(others).toEqual([]);
    expect(warning).toMatchObject({ kind, problem: expect.stringMatching(field) });
    expect(warning!.key).toMatch(/(^|\/| )x$/);
  });

  test('one warning for each mistake', () => {
    const terms = [{ matchExpressions: [{ key: '', operator: 'Like' as 'In', values: ['b'] }] }];
    const warnings = feed(new ClusterIndex(), 'PersistentVolume', volume('x', '-1', { terms }));
    expect(warnings.length).toBeGreaterThanOrEqual(3);
  });

  test('no second warning while the object stays the same', () => {
    const index = new ClusterIndex();
    feed(index, 'PersistentVolume', volume('x', '-1'));
    expect(feed(index, 'PersistentVolume', volume('x', '-1'))).toEqual([]);
  });
});

describe('a malformed pod', () => {
  const broken = pod('p', [], { volumes: [inlineVolume('v', 'd', 'much')] });

  test('is refused with the field', () => {
    const answer = expectRefusal(clusterOf({ Node: [node('n1')] }), broken);
    expect(answer.podRefusals).toMatchObject([{ reason: 'MalformedPod', claim: undefined }]);
    expect(answer.message).toContain('pod "default/p" is malformed: spec.volumes[v].csi.fsSize');
  });

  test('is not refused if the profile ignores sizes of inline volumes: kube-scheduler has no such field', () => {
    expect(planOutcome(clusterOf({ Node: [node('n1')] }, upstreamProfile), broken)).toMatchObject({
      node: 'n1',
    });
  });

  test('is placed if it is empty', () => {
    const index = clusterOf({ Node: [node('n1')] });
    for (const nothing of [{}, { spec: null }, { metadata: null, spec: { volumes: null } }]) {
      expect(plan(nothing as unknown as Pod, index, { nowMs: 0 }).kind).toBe('placement');
    }
  });

  test('with a volume that names no claim is refused because the claim does not exist', () => {
    const index = clusterOf({ Node: [node('n1')] });
    const nameless = pod('p', [], { volumes: [{ name: 'v', persistentVolumeClaim: {} }] });
    expect(plan(nameless, index, { nowMs: 0 }).kind).toBe('refusal');
  });
});

describe('the engine handles objects that are too large:', () => {
  const bound = { PersistentVolumeClaim: [boundClaim('data', '1Gi', 'v1')] };

  test('a hundred thousand labels on one node, more than an API server accepts', () => {
    const labels: Record<string, string> = { [hostname]: 'n1' };
    for (let at = 0; at < 100_000; at++) labels[`label-${at}`] = 'x';
    const index = clusterOf(bound);
    index.upsert('Node', { metadata: { name: 'n1', resourceVersion: '1', labels } });
    index.upsert(
      'PersistentVolume',
      volume('v1', '1Gi', { phase: 'Bound', terms: [labelIn('label-99999', 'x')] }),
    );
    expect(planOutcome(index, pod('p', ['data']))).toMatchObject({ node: 'n1' });
  });

  test('ten thousand terms in one affinity', () => {
    const terms = Array.from({ length: 10_000 }, (_, at) => labelIn(hostname, `n${at}`));
    const index = clusterOf({ ...bound, Node: [node('n9999'), node('m1')] });
    index.upsert('PersistentVolume', volume('v1', '1Gi', { phase: 'Bound', terms }));
    expect(planOutcome(index, pod('p', ['data']))).toMatchObject({ node: 'n9999' });
  });

  test('ten thousand bad terms in one affinity', () => {
    const bad = { matchExpressions: [{ key: 'a', operator: 'Like' as 'In', values: ['b'] }] };
    const index = clusterOf({ ...bound, Node: [node('n1')] });
    const terms = Array.from({ length: 10_000 }, () => bad);
    expect(() =>
      feed(index, 'PersistentVolume', volume('v1', '1Gi', { phase: 'Bound', terms })),
    ).not.toThrow();
    expect(plan(pod('p', ['data']), index, { nowMs: 0 }).kind).toBe('refusal');
  });

  test('twenty thousand pools of one driver', () => {
    const pools = Array.from({ length: 20_000 }, (_, at) => pool(`p${at}`, '1Gi', { nodeList: [`n${at}`] }));
    const index = clusterOf({ Node: [node('n19999')], StorageClass: [csiClass('d', 'local')] });
    index.upsert('DriverCapacity', driverCapacity('d', [{ storageClassName: 'local', pools }]));
    index.upsert('PersistentVolumeClaim', claim('data', '1Gi'));
    expect(planOutcome(index, pod('p', ['data']))).toMatchObject({ pools: { data: 'p19999' } });
  });

  test('a pod with two hundred claims', () => {
    const names = Array.from({ length: 200 }, (_, at) => `c${at}`);
    const index = clusterOf({
      Node: [node('n1')],
      StorageClass: [storageClass('local')],
      PersistentVolume: names.map((name) => localVolume(`v-${name}`, '1Gi', 'n1')),
      PersistentVolumeClaim: names.map((name) => claim(name, '1Gi')),
    });
    expect(plan(pod('p', names), index, { nowMs: 0 })).toMatchObject({ kind: 'placement' });
  });

  test.each([
    '1e1000',
    '1e-1000',
    `${'9'.repeat(400)}E`,
    `0.${'0'.repeat(400)}1`,
    '1e999999999',
    '0x10',
    'NaN',
    'Infinity',
  ])('a size of %s is read or refused, and the plan ends', (size) => {
    const index = clusterOf({ Node: [node('n1')], StorageClass: [storageClass('local')] });
    expect(() => feed(index, 'PersistentVolume', volume('v1', size))).not.toThrow();
    expect(() => feed(index, 'PersistentVolumeClaim', claim('data', size))).not.toThrow();
    expect(() => plan(pod('p', ['data']), index, { nowMs: 0 })).not.toThrow();
  });
});

test('names and labels that equal properties of JavaScript objects are only names', () => {
  const names = ['constructor', 'toString', 'hasOwnProperty'];
  const index = clusterOf({
    Node: [...names, 'other'].map((name) => node(name, { [name]: 'yes' })),
    StorageClass: [...names, '__proto__'].map((name) => csiClass('d', name)),
    PersistentVolume: names.map((name) =>
      volume(name, '1Gi', { className: name, terms: [labelIn(name, 'yes')] }),
    ),
    PersistentVolumeClaim: [...names, '__proto__'].map((name) => claim(name, '1Gi', { className: name })),
  });
  for (const name of names) {
    expect(planOutcome(index, pod('p', [name]))).toMatchObject({ node: name, volumes: { [name]: name } });
  }
  expect(plan(pod('p', ['__proto__']), index, { nowMs: 0 })).toMatchObject({
    provisions: [{ claim: 'default/__proto__', pool: undefined }],
  });
});
