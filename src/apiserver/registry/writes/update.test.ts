import { beforeEach, describe, expect, test } from 'vitest';
import { type AnyObject, errorOf, RegistryFixture } from '../testing/registry-fixture.ts';

let fixture: RegistryFixture;

beforeEach(async () => {
  fixture = await RegistryFixture.start();
});

const labels = { app: 'd' };
const deployment = {
  metadata: { namespace: 'default', name: 'd' },
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
};
const configMap = (metadata: object = {}, data: object = {}) => ({
  metadata: { namespace: 'default', name: 'a', ...metadata },
  data,
});

const generation = async () => (await fixture.get('deployments', 'd')).metadata.generation;

describe('the generation', () => {
  test.each([
    ['a change of the spec', { spec: { replicas: 2 } }, undefined, 2],
    ['the same again', { spec: { replicas: 1 } }, undefined, 1],
    ['a label', { metadata: { labels } }, undefined, 1],
    ['a status', { status: { replicas: 1 } }, 'status', 1],
    [
      'a status write that also changes the spec',
      { spec: { replicas: 9 }, status: { replicas: 1 } },
      'status',
      1,
    ],
    ['a scale', { spec: { replicas: 2 } }, 'scale', 2],
    ['the same scale', { spec: { replicas: 1 } }, 'scale', 1],
    ['a generation set by the writer', { metadata: { generation: 9 }, spec: { replicas: 2 } }, undefined, 2],
  ])('%s', async (_name, body, subresource, expected) => {
    await fixture.create('deployments', deployment);
    await fixture.patch('deployments', 'd', body, { subresource });
    expect(await generation()).toBe(expected);
  });

  test('of a kind without one stays as created', async () => {
    await fixture.create('configmaps', configMap({ generation: 7 }));
    await fixture.update('configmaps', configMap({ generation: 9 }, { k: 'v' }));
    expect((await fixture.get('configmaps', 'a')).metadata.generation).toBe(7);
  });
});

describe('a write that changes nothing', () => {
  test.each([
    [
      'PUT of the stored object',
      () => fixture.get('configmaps', 'a').then((object) => fixture.update('configmaps', object)),
    ],
    ['PUT of the same', () => fixture.update('configmaps', configMap({}, { k: 'v' }))],
    ['PATCH of nothing', () => fixture.patch('configmaps', 'a', {})],
    ['PATCH of the same', () => fixture.patch('configmaps', 'a', { data: { k: 'v' } })],
    ['PATCH by another', () => fixture.patch('configmaps', 'a', { data: { k: 'v' } }, { manager: 'other' })],
  ])('%s', async (_name, write) => {
    await fixture.create('configmaps', configMap({}, { k: 'v' }));
    const before = fixture.store.revision;
    await fixture.clock.advance(5000);
    await write();
    expect(fixture.store.revision).toBe(before);
  });
});

describe('versions', () => {
  test.each([
    [{}, undefined],
    [{ resourceVersion: '0' }, undefined],
    [{ resourceVersion: '1' }, /^Conflict: .*the object has been modified/],
    [{ resourceVersion: '99999' }, /^Conflict: .*the object has been modified/],
    [{ uid: 'other' }, /^Conflict: .*Precondition failed: UID in precondition: other/],
    [{ uid: 'other', resourceVersion: '1' }, /^Conflict: .*Precondition failed: UID/],
  ])('PUT with %j', async (metadata, expected) => {
    await fixture.create('configmaps', configMap());
    const call = fixture.update('configmaps', configMap(metadata, { k: 'v' }));
    if (expected === undefined) expect((await call).snapshot.revision).toBe(fixture.store.revision);
    else expect(await errorOf(call)).toMatch(expected);
  });

  test('PUT requires a version for kinds that demand it', async () => {
    const { metadata, spec } = await fixture.create('leases', {
      metadata: { namespace: 'default', name: 'l' },
    });
    expect(
      await errorOf(fixture.update('leases', { metadata: { ...metadata, resourceVersion: '' }, spec })),
    ).toMatch(/^Invalid: .*metadata.resourceVersion: Invalid value: 0: must be specified for an update/);
  });

  test('one of several writers that read the same state wins', async () => {
    const { metadata } = await fixture.create('configmaps', configMap());
    const { resourceVersion } = metadata;
    const calls = ['a', 'b', 'c'].map((k) =>
      fixture.update('configmaps', configMap({ resourceVersion }, { k })),
    );
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect((await fixture.get('configmaps', 'a')).data).toEqual({ k: 'a' });
  });
});

describe('PUT of a missing object', () => {
  const lease = (metadata: object = {}) => ({
    metadata: { namespace: 'default', name: 'l', ...metadata },
    spec: { holderIdentity: 'x' },
  });

  test('creates it if the kind allows that, with any version', async () => {
    const { created, snapshot } = await fixture.update('leases', lease({ resourceVersion: '5' }));
    expect([created, snapshot.revision]).toEqual([true, fixture.store.revision]);
  });

  test.each([
    ['leases', lease({ uid: 'gone' }), /^Conflict: .*UID in precondition: gone, UID in object meta: $/],
    ['configmaps', configMap(), /^NotFound: configmaps "a" not found/],
  ])('of %s is refused', async (plural, object, expected) => {
    expect(await errorOf(fixture.update(plural, object))).toMatch(expected);
  });
});

describe('system fields', () => {
  test('stay, whatever the writer sends', async () => {
    const { metadata } = await fixture.create('configmaps', configMap());
    await fixture.clock.advance(5000);
    const sent = { creationTimestamp: '2001-01-01T00:00:00Z', deletionTimestamp: undefined, generation: 4 };
    await fixture.update('configmaps', configMap(sent, { k: 'v' }));
    const after = (await fixture.get('configmaps', 'a')).metadata;
    expect(after).toMatchObject({ uid: metadata.uid, creationTimestamp: metadata.creationTimestamp });
    expect(after.deletionTimestamp).toBeUndefined();
  });

  test('an object being deleted cannot be restored or get new finalizers', async () => {
    await fixture.create('configmaps', configMap({ finalizers: ['x.io/a'] }));
    await fixture.delete('configmaps', 'a');
    const back = fixture.patch('configmaps', 'a', { metadata: { deletionTimestamp: null } });
    expect((await back).metadata.deletionTimestamp).toBeDefined();
    const held = fixture.patch('configmaps', 'a', { metadata: { finalizers: ['x.io/a', 'x.io/b'] } });
    expect(await errorOf(held)).toMatch(/no new finalizers can be added if the object is being deleted/);
  });
});

describe('the scale', () => {
  beforeEach(() => fixture.create('deployments', deployment));

  test('is a Scale with the identity of the object', async () => {
    const { metadata } = await fixture.get('deployments', 'd');
    const scale = await fixture.get('deployments', 'd', 'scale');
    expect(scale).toMatchObject({ kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 1 } });
    expect(scale.metadata).toMatchObject({ uid: metadata.uid, resourceVersion: metadata.resourceVersion });
    expect(scale.status).toEqual({ replicas: 0, selector: 'app=d' });
  });

  test('a write to it records the subresource in managedFields', async () => {
    await fixture.patch(
      'deployments',
      'd',
      { spec: { replicas: 3 } },
      { subresource: 'scale', manager: 'hand' },
    );
    const { metadata } = await fixture.get('deployments', 'd');
    const entry = metadata.managedFields?.find(({ manager }) => manager === 'hand');
    expect(entry).toMatchObject({ subresource: 'scale', fieldsV1: { 'f:spec': { 'f:replicas': {} } } });
  });

  test.each([
    [{ metadata: { resourceVersion: '1' } }, /^Conflict/],
    [{ metadata: { uid: 'other' } }, /^Conflict: .*UID in precondition/],
    [{ spec: { replicas: -1 } }, /^Invalid: Scale.autoscaling "d" is invalid: spec.replicas/],
  ])('refuses %j', async (body, expected) => {
    const call = fixture.patch('deployments', 'd', body, { subresource: 'scale' });
    expect(await errorOf(call)).toMatch(expected);
  });

  test('a dry run returns the result', async () => {
    const body = { spec: { replicas: 4 } };
    const scale = await fixture.patch('deployments', 'd', body, { subresource: 'scale', dryRun: true });
    expect(scale.spec).toEqual({ replicas: 4 });
    expect((await fixture.get('deployments', 'd')).spec).toMatchObject({ replicas: 1 });
  });

  test('is not served for a kind without one', async () => {
    await fixture.create('configmaps', configMap());
    const patch: Promise<AnyObject> = fixture.patch('configmaps', 'a', {}, { subresource: 'scale' });
    expect(await errorOf(patch)).toMatch(/^MethodNotAllowed/);
  });
});
