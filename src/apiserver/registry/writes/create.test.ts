import { beforeEach, describe, expect, test } from 'vitest';
import { errorOf, RegistryFixture } from '../testing/registry-fixture.ts';

let fixture: RegistryFixture;

beforeEach(async () => {
  fixture = await RegistryFixture.start();
});

const named = (metadata: object) => ({ metadata: { namespace: 'default', name: 'a', ...metadata } });

describe('a new object that names a version', () => {
  test.each(['0', 'abc', '-1', ''])('is created if the version is %j', async (resourceVersion) => {
    const { metadata } = await fixture.create('configmaps', named({ resourceVersion }));
    expect(Number(metadata.resourceVersion)).toBeGreaterThan(1);
  });

  test('is refused if the version is valid', async () => {
    const call = fixture.create('configmaps', named({ resourceVersion: '5' }));
    expect(await errorOf(call)).toBe('500: resourceVersion should not be set on objects to be created');
  });

  test('is refused for other errors first', async () => {
    const call = fixture.create('configmaps', { ...named({ resourceVersion: '5' }), data: { 'a b': '' } });
    expect(await errorOf(call)).toMatch(/^Invalid: ConfigMap "a" is invalid: data\[a b\]: /);
  });
});

describe('system fields', () => {
  const deleting = { deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 5 };

  test('are cleared in a new object', async () => {
    const { metadata } = await fixture.create('endpoints', named(deleting));
    expect([metadata.deletionTimestamp, metadata.deletionGracePeriodSeconds]).toEqual([undefined, undefined]);
  });

  test('are kept if a PUT creates the object', async () => {
    const { snapshot, created } = await fixture.update('endpoints', named(deleting));
    expect([created, snapshot.object.metadata]).toMatchObject([true, deleting]);
  });
});

test.each(['abc', '-1'])(
  'a PUT that creates an object must not have the version %j',
  async (resourceVersion) => {
    const call = fixture.update('endpoints', named({ resourceVersion }));
    expect(await errorOf(call)).toBe(`500: strconv.ParseUint: parsing "${resourceVersion}": invalid syntax`);
  },
);

test.each([
  ['leases', { spec: { holderIdentity: 'a' } }],
  ['poddisruptionbudgets', { spec: { minAvailable: 1 } }],
])('finalizers of %s need no domain', async (kind, rest) => {
  const finalizers = ['mine'];
  await fixture.create(kind, { ...named({ finalizers }), ...rest });
  const changed = await fixture.patch(kind, 'a', { metadata: { finalizers: ['mine', 'yours'] } });
  expect(changed.metadata.finalizers).toEqual(['mine', 'yours']);
});
