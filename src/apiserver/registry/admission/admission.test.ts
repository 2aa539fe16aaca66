import { beforeEach, describe, expect, test } from 'vitest';
import { errorOf, RegistryFixture } from '../testing/registry-fixture.ts';

let fixture: RegistryFixture;

beforeEach(async () => {
  fixture = await RegistryFixture.start();
});

const containers = [{ name: 'c', image: 'i' }];
const makePod = (spec: object = {}, metadata: object = {}) =>
  fixture.create('pods', { metadata: { name: 'p', ...metadata }, spec: { containers, ...spec } });
const makeClaim = (spec: object = {}, metadata: object = {}) =>
  fixture.create('persistentvolumeclaims', {
    metadata: { name: 'c', ...metadata },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  });

describe('namespaces', () => {
  test('a missing one accepts no objects', async () => {
    const call = fixture.create('configmaps', { metadata: { namespace: 'nowhere', name: 'a' } });
    expect(await errorOf(call)).toBe('NotFound: namespaces "nowhere" not found');
  });

  test('a terminating one accepts no new objects, but updates and deletions', async () => {
    await fixture.create('namespaces', { metadata: { name: 'n' } });
    const kind = fixture.kind('configmaps');
    const write = { manager: 'test', user: 'test', warn() {} };
    await fixture.create('configmaps', { metadata: { namespace: 'n', name: 'a' } });
    await fixture.delete('namespaces', 'n');
    const late = fixture.create('configmaps', { metadata: { namespace: 'n', name: 'b' } });
    expect(await errorOf(late)).toBe(
      'Forbidden: configmaps "b" is forbidden: unable to create new content in namespace n because it is being terminated',
    );
    await fixture.update('configmaps', { metadata: { namespace: 'n', name: 'a' }, data: { k: 'v' } });
    await fixture.registry.delete(kind, { namespace: 'n', name: 'a' }, {}, write);
    expect((await fixture.list('configmaps', { namespace: 'n' })).names).toEqual([]);
  });
});

describe('priority', () => {
  const makeClass = (name: string, value: number, more: object = {}) =>
    fixture.create('priorityclasses', { metadata: { name }, value, ...more });

  test.each([
    [{}, { priority: 0, preemptionPolicy: 'PreemptLowerPriority' }],
    [{ priorityClassName: 'high' }, { priority: 1000, preemptionPolicy: 'Never', priorityClassName: 'high' }],
    [{ priorityClassName: 'high', priority: 1000 }, { priority: 1000 }],
    [{ priorityClassName: 'system-node-critical' }, { priority: 2_000_001_000 }],
  ])('of %j', async (spec, expected) => {
    await makeClass('high', 1000, { preemptionPolicy: 'Never' });
    expect((await makePod(spec)).spec).toMatchObject(expected);
  });

  test('the default class applies to pods without a class', async () => {
    await makeClass('usual', 7, { globalDefault: true });
    expect((await makePod()).spec).toMatchObject({ priority: 7, priorityClassName: 'usual' });
  });

  test.each([
    [{ priorityClassName: 'none' }, /^Forbidden: .*no PriorityClass with name none was found$/],
    [{ priority: 5 }, /^Forbidden: .*the integer value of priority \(5\) must not be provided in pod spec/],
    [{ preemptionPolicy: 'Never' }, /^Forbidden: .*the string value of PreemptionPolicy \(Never\) must not/],
  ])('%j is refused', async (spec, expected) => {
    expect(await errorOf(makePod(spec))).toMatch(expected);
  });

  test('it is kept if an update omits it', async () => {
    await makeClass('usual', 7, { globalDefault: true });
    await makePod();
    await fixture.patch('pods', 'p', { metadata: { labels: { a: 'b' } }, spec: { priority: null } });
    expect((await fixture.get('pods', 'p')).spec).toMatchObject({ priority: 7 });
  });

  test('only one class can be the default, and may be updated', async () => {
    await makeClass('usual', 7, { globalDefault: true });
    expect(await errorOf(makeClass('other', 8, { globalDefault: true }))).toMatch(
      /^Forbidden: .*PriorityClass usual is already marked as default. Only one default can exist$/,
    );
    await fixture.patch('priorityclasses', 'usual', { description: 'as ever' });
    await makeClass('other', 8);
    expect(await errorOf(fixture.patch('priorityclasses', 'other', { globalDefault: true }))).toMatch(
      /^Forbidden/,
    );
  });
});

describe('tolerations', () => {
  const keyOf = (trouble: string) => `node.kubernetes.io/${trouble}`;
  const given = (await_: string, effect?: string) => ({
    key: await_,
    operator: 'Exists',
    ...(effect === undefined ? {} : { effect }),
  });

  test.each([
    [[], ['not-ready', 'unreachable']],
    [[given(keyOf('not-ready'), 'NoExecute')], ['unreachable']],
    [[given(keyOf('not-ready'))], ['unreachable']],
    [[given(keyOf('not-ready'), 'NoSchedule')], ['not-ready', 'unreachable']],
    [[{ operator: 'Exists' }], []],
  ])('%j leaves %j to add', async (tolerations, added) => {
    const { spec } = await makePod({ tolerations });
    const all = spec?.tolerations as readonly {
      readonly key?: string;
      readonly tolerationSeconds?: number;
    }[];
    const ours = all.filter(({ tolerationSeconds }) => tolerationSeconds === 300);
    expect(ours.map(({ key }) => key)).toEqual(added.map(keyOf));
  });
});

describe('the class of a claim', () => {
  const isDefault = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  const makeClass = (name: string, annotations: object = {}, more: object = {}) =>
    fixture.create('storageclasses', { metadata: { name, annotations }, provisioner: 'p.x.io', ...more });

  test('is the newest default; of equally new ones the first by name', async () => {
    expect((await makeClaim()).spec).not.toHaveProperty('storageClassName');
    await makeClass('old', isDefault);
    await makeClass('plain');
    await fixture.clock.advance(1000);
    await makeClass('newer-b', isDefault);
    await makeClass('newer-a', isDefault);
    expect((await makeClaim({}, { name: 'd' })).spec).toMatchObject({ storageClassName: 'newer-a' });
  });

  test.each([
    [{ storageClassName: '' }, {}, ''],
    [{ storageClassName: 'plain' }, {}, 'plain'],
    [{}, { annotations: { 'volume.beta.kubernetes.io/storage-class': 'x' } }, undefined],
  ])('%j %j stays as it is', async (spec, metadata, expected) => {
    await makeClass('usual', isDefault);
    expect((await makeClaim(spec, metadata)).spec?.storageClassName).toBe(expected);
  });

  const grow = (storage = '2Gi') =>
    fixture.patch('persistentvolumeclaims', 'c', { spec: { resources: { requests: { storage } } } });
  const bindClaim = () =>
    fixture.patch('persistentvolumeclaims', 'c', { status: { phase: 'Bound' } }, { subresource: 'status' });

  test('allows a bound claim to grow if expansion is allowed', async () => {
    await makeClass('elastic', {}, { allowVolumeExpansion: true });
    await makeClaim({ storageClassName: 'elastic' });
    expect(await errorOf(grow())).toMatch(/^(Forbidden|Invalid): /);
    await bindClaim();
    expect((await grow()).spec?.resources).toEqual({ requests: { storage: '2Gi' } });
  });

  test('refuses growth if expansion is not allowed or the class is missing', async () => {
    await makeClass('rigid');
    await makeClaim({ storageClassName: 'rigid' });
    await bindClaim();
    const why = /^Forbidden: .*only dynamically provisioned pvc can be resized and the storageclass/;
    expect(await errorOf(grow())).toMatch(why);
    await fixture.delete('storageclasses', 'rigid');
    expect(await errorOf(grow())).toMatch(why);
  });
});

test('objects that may be in use get one protection finalizer at creation', async () => {
  const volume = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' } };
  const made = [
    await makeClaim({}, { finalizers: ['x.io/a'] }),
    await fixture.create('persistentvolumes', {
      metadata: { name: 'v', finalizers: ['kubernetes.io/pv-protection'] },
      spec: volume,
    }),
    await fixture.create('volumeattributesclasses', {
      metadata: { name: 'a' },
      driverName: 'd',
      parameters: { k: 'v' },
    }),
  ];
  expect(made.map(({ metadata }) => metadata.finalizers)).toEqual([
    ['x.io/a', 'kubernetes.io/pvc-protection'],
    ['kubernetes.io/pv-protection'],
    ['kubernetes.io/vac-protection'],
  ]);
});

test('a pod created with a node has the zone of the node', async () => {
  const labels = { 'topology.kubernetes.io/zone': 'z1', other: 'x' };
  await fixture.create('nodes', { metadata: { name: 'n1', labels } });
  expect((await makePod({ nodeName: 'n1' })).metadata.labels).toEqual({
    'topology.kubernetes.io/zone': 'z1',
  });
});
