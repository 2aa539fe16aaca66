import { describe, expect, test } from 'vitest';
import type { Pod } from '../kube/api/core.ts';
import type { Kind, Notice } from './cluster-index/cluster-change.ts';
import { ClusterIndex } from './cluster-index/cluster-index.ts';
import { upstreamProfile } from './cluster-index/profile.ts';
import { plan } from './plan.ts';
import { refusalOf } from './testing/expect-plan.ts';
import { clusterOf, outcomeOf } from './testing/cluster.ts';
import {
  boundClaim,
  byName,
  capacity,
  claim,
  driverCapacity,
  hostname,
  inlineVolume,
  localVolume,
  madeBy,
  node,
  onlyAt,
  pod,
  pool,
  storageClass,
  volume,
} from './testing/objects.ts';

/** Nobody has validated these. What can be used is used; what can't is told with object and field, and never thrown. */

const kinds: readonly Kind[] = [
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

/** Things that JSON can say where an object, list or text is expected. */
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

function feed(index: ClusterIndex, kind: Kind, object: unknown): readonly Notice[] {
  return index.upsert(kind, object as never).notices;
}

describe.each(kinds)('%s', (kind) => {
  test('that is no object, or has no name, is left out with a notice', () => {
    for (const object of [
      ...junk,
      { metadata: null },
      { metadata: { name: 5 } },
      { metadata: { name: '' } },
    ]) {
      const index = new ClusterIndex();
      const applied = index.upsert(kind, object as never);
      expect(applied.change).toBeUndefined();
      expect(applied.notices).toEqual([{ kind, key: '', problem: expect.stringContaining('metadata.name') }]);
    }
  });

  test('with nothing but a name is taken', () => {
    const applied = new ClusterIndex().upsert(kind, {
      metadata: { namespace: 'default', name: 'x' },
    } as never);
    expect(applied.change).toMatchObject({ kind, before: undefined });
  });

  test('with junk in every field is taken, changed and removed without a throw', () => {
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

const namespaced: ReadonlySet<Kind> = new Set(['PersistentVolumeClaim', 'CSIStorageCapacity', 'Pod']);
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

/** The same value in every place where the engine looks inside a spec or status. */
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
  readonly kind: Kind;
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
    name: 'a volume of unreadable size',
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
    name: 'a volume whose affinity compares with a word',
    kind: 'PersistentVolume',
    object: volume('x', '1Gi', {
      terms: [{ matchExpressions: [{ key: 'a', operator: 'Gt', values: ['b'] }] }],
    }),
    field: /matchExpressions\[0\]\.values: Gt compares with one whole number/,
  },
  {
    name: 'a volume with an access mode that nobody knows',
    kind: 'PersistentVolume',
    object: volume('x', '1Gi', { spec: { accessModes: ['ReadWriteSometimes' as 'ReadWriteOnce'] } }),
    field: /^spec\.accessModes: "ReadWriteSometimes" is not an access mode; use ReadWriteOnce/,
  },
  {
    name: 'a volume with an unreadable preference',
    kind: 'PersistentVolume',
    object: volume('x', '1Gi', {
      metadata: { name: 'x', annotations: { 'stowage.dev/preferred-node-affinity': '{' } },
    }),
    field: /^metadata\.annotations\[stowage\.dev\/preferred-node-affinity\]: is not a JSON list/,
  },
  {
    name: 'a claim that asks for less than nothing',
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
    object: madeBy('d', 'x', {
      allowedTopologies: [{ matchLabelExpressions: [{ key: 'a b', values: ['c'] }] }],
    }),
    field: /^allowedTopologies\[0\]\.matchLabelExpressions\[0\]\.key: "a b" is not a label key/,
  },
  {
    name: 'a limit of less than nothing',
    kind: 'CSINode',
    object: { metadata: { name: 'x' }, spec: { drivers: [{ name: 'd', allocatable: { count: -1 } }] } },
    field:
      /^spec\.drivers\[d\]\.allocatable\.count: must be a whole number of zero or more; taken as no limit/,
  },
  {
    name: 'a capacity of less than nothing',
    kind: 'CSIStorageCapacity',
    object: capacity('x', 'local', { capacity: '-1Gi' }),
    field: /^capacity: "-1Gi" is negative/,
  },
  {
    name: 'a capacity with a bad selector',
    kind: 'CSIStorageCapacity',
    object: capacity('x', 'local', { nodeTopology: { matchLabels: { 'a b': 'c' } } }),
    field: /^nodeTopology\.matchLabels/,
  },
  {
    name: 'a pool of unreadable size',
    kind: 'DriverCapacity',
    object: driverCapacity('x', [{ storageClassName: 'fast', pools: [pool('p', 'all')] }]),
    field: /^status\.storage\[fast\]\.pools\[p\]\.capacity: /,
  },
  {
    name: 'a pool with an unreadable expiry',
    kind: 'DriverCapacity',
    object: driverCapacity('x', [
      { storageClassName: 'fast', pools: [pool('p', '1', { expiryTime: 'soon' })] },
    ]),
    field: /^status\.storage\[fast\]\.pools\[p\]\.expiryTime: is not an RFC 3339 time/,
  },
  {
    name: 'a pod with an inline volume of negative size',
    kind: 'Pod',
    object: pod('x', [], { volumes: [inlineVolume('v', 'd', '-1')] }),
    field: /^spec\.volumes\[v\]\.csi\.fsSize: "-1" is negative/,
  },
];

describe('a mistake is told with object, field and remedy:', () => {
  test.each(byName(complaints))('%s', (_, { kind, object, field }) => {
    const [notice, ...others] = feed(new ClusterIndex(), kind, object);
    expect(others).toEqual([]);
    expect(notice).toMatchObject({ kind, problem: expect.stringMatching(field) });
    expect(notice!.key).toMatch(/(^|\/| )x$/);
  });

  test('once for each mistake', () => {
    const terms = [{ matchExpressions: [{ key: '', operator: 'Like' as 'In', values: ['b'] }] }];
    const notices = feed(new ClusterIndex(), 'PersistentVolume', volume('x', '-1', { terms }));
    expect(notices.length).toBeGreaterThanOrEqual(3);
  });

  test('and not again while the object stays the same', () => {
    const index = new ClusterIndex();
    feed(index, 'PersistentVolume', volume('x', '-1'));
    expect(feed(index, 'PersistentVolume', volume('x', '-1'))).toEqual([]);
  });
});

describe('a pod that cannot be read', () => {
  const broken = pod('p', [], { volumes: [inlineVolume('v', 'd', 'much')] });

  test('is refused with the field', () => {
    const answer = refusalOf(clusterOf({ Node: [node('n1')] }), broken);
    expect(answer.podRefusals).toMatchObject([{ reason: 'MalformedPod', claim: undefined }]);
    expect(answer.message).toContain('pod "default/p" is malformed: spec.volumes[v].csi.fsSize');
  });

  test('is not refused where inline volumes have no size: kube-scheduler knows no such field', () => {
    expect(outcomeOf(clusterOf({ Node: [node('n1')] }, upstreamProfile), broken)).toMatchObject({
      node: 'n1',
    });
  });

  test('is placed if it says nothing at all', () => {
    const index = clusterOf({ Node: [node('n1')] });
    for (const nothing of [{}, { spec: null }, { metadata: null, spec: { volumes: null } }]) {
      expect(plan(nothing as unknown as Pod, index, { nowMs: 0 }).kind).toBe('placement');
    }
  });

  test('with a volume that names no claim is refused for the claim that is not there', () => {
    const index = clusterOf({ Node: [node('n1')] });
    const nameless = pod('p', [], { volumes: [{ name: 'v', persistentVolumeClaim: {} }] });
    expect(plan(nameless, index, { nowMs: 0 }).kind).toBe('refusal');
  });
});

describe('objects that are too large are taken in stride:', () => {
  const bound = { PersistentVolumeClaim: [boundClaim('data', '1Gi', 'v1')] };

  test('a hundred thousand labels on one node, more than an API server takes', () => {
    const labels: Record<string, string> = { [hostname]: 'n1' };
    for (let at = 0; at < 100_000; at++) labels[`label-${at}`] = 'x';
    const index = clusterOf(bound);
    index.upsert('Node', { metadata: { name: 'n1', resourceVersion: '1', labels } });
    index.upsert(
      'PersistentVolume',
      volume('v1', '1Gi', { phase: 'Bound', terms: [onlyAt('label-99999', 'x')] }),
    );
    expect(outcomeOf(index, pod('p', ['data']))).toMatchObject({ node: 'n1' });
  });

  test('ten thousand terms in one affinity', () => {
    const terms = Array.from({ length: 10_000 }, (_, at) => onlyAt(hostname, `n${at}`));
    const index = clusterOf({ ...bound, Node: [node('n9999'), node('m1')] });
    index.upsert('PersistentVolume', volume('v1', '1Gi', { phase: 'Bound', terms }));
    expect(outcomeOf(index, pod('p', ['data']))).toMatchObject({ node: 'n9999' });
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
    const index = clusterOf({ Node: [node('n19999')], StorageClass: [madeBy('d', 'local')] });
    index.upsert('DriverCapacity', driverCapacity('d', [{ storageClassName: 'local', pools }]));
    index.upsert('PersistentVolumeClaim', claim('data', '1Gi'));
    expect(outcomeOf(index, pod('p', ['data']))).toMatchObject({ pools: { data: 'p19999' } });
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

test('names and labels that are properties of every object are only names', () => {
  const names = ['constructor', 'toString', 'hasOwnProperty'];
  const index = clusterOf({
    Node: [...names, 'other'].map((name) => node(name, { [name]: 'yes' })),
    StorageClass: [...names, '__proto__'].map((name) => madeBy('d', name)),
    PersistentVolume: names.map((name) =>
      volume(name, '1Gi', { className: name, terms: [onlyAt(name, 'yes')] }),
    ),
    PersistentVolumeClaim: [...names, '__proto__'].map((name) => claim(name, '1Gi', { className: name })),
  });
  for (const name of names) {
    expect(outcomeOf(index, pod('p', [name]))).toMatchObject({ node: name, volumes: { [name]: name } });
  }
  expect(plan(pod('p', ['__proto__']), index, { nowMs: 0 })).toMatchObject({
    provisions: [{ claim: 'default/__proto__', pool: undefined }],
  });
});
