import { beforeEach, describe, expect, test } from 'vitest';
import { errorOf, RegistryFixture } from '../testing/registry-fixture.ts';

let fixture: RegistryFixture;

beforeEach(async () => {
  fixture = await RegistryFixture.start();
});

const zone = 'topology.kubernetes.io/zone';
const spec = { containers: [{ name: 'c', image: 'i' }] };
const makePod = (more: object = {}) =>
  fixture.create('pods', { metadata: { name: 'p' }, spec: { ...spec, ...more } });
const bind = (name: string, metadata: object = {}, dryRun = false) =>
  fixture.post(
    'pods',
    'p',
    'binding',
    { metadata: { name: 'p', ...metadata }, target: { name } },
    { dryRun },
  );

test('sets the node, the topology labels and the condition', async () => {
  const labels = { [zone]: 'z1', 'topology.kubernetes.io/region': 'r1', other: 'x' };
  await fixture.create('nodes', { metadata: { name: 'n1', labels } });
  await makePod();
  await fixture.patch('pods', 'p', { status: { nominatedNodeName: 'n9' } }, { subresource: 'status' });
  expect(await bind('n1', { annotations: { by: 'test' }, labels: { mine: 'yes' } })).toMatchObject({
    code: 201,
  });
  const { metadata, spec: bound, status } = await fixture.get('pods', 'p');
  expect(bound?.nodeName).toBe('n1');
  expect(metadata.annotations).toEqual({ by: 'test' });
  expect(metadata.labels).toEqual({ mine: 'yes', [zone]: 'z1', 'topology.kubernetes.io/region': 'r1' });
  expect(status?.conditions).toMatchObject([{ type: 'PodScheduled', status: 'True' }]);
  expect(status?.nominatedNodeName).toBeUndefined();
});

test('does not require the node to exist', async () => {
  await makePod();
  await bind('nowhere');
  expect((await fixture.get('pods', 'p')).metadata.labels).toBeUndefined();
});

test('one of two concurrent bindings wins', async () => {
  await makePod();
  const outcomes = await Promise.allSettled([bind('n1'), bind('n2')]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect((await fixture.get('pods', 'p')).spec?.nodeName).toBe('n1');
});

test('a dry run does not change the pod', async () => {
  await makePod();
  const before = fixture.store.revision;
  await bind('n1', {}, true);
  expect(fixture.store.revision).toBe(before);
});

describe('is refused', () => {
  test('if the pod has a node', async () => {
    await makePod({ nodeName: 'n1' });
    expect(await errorOf(bind('n2'))).toMatch(/^Conflict: .*pod p is already assigned to node "n1"$/);
  });

  test('if the pod is being deleted', async () => {
    await fixture.create('pods', { metadata: { name: 'p', finalizers: ['x.io/a'] }, spec });
    await fixture.delete('pods', 'p');
    expect(await errorOf(bind('n1'))).toMatch(/^Conflict: .*being deleted, cannot be assigned to a host$/);
  });

  test('if the pod has scheduling gates', async () => {
    await makePod({ schedulingGates: [{ name: 'x.io/wait' }] });
    expect(await errorOf(bind('n1'))).toMatch(/^Conflict: .*pod p has non-empty .spec.schedulingGates$/);
  });

  test.each([{ uid: 'other' }, { resourceVersion: '1' }])(
    'if the pod does not match %j',
    async (metadata) => {
      await makePod();
      expect(await errorOf(bind('n1', metadata))).toMatch(/^Conflict: .*Precondition failed/);
      expect((await fixture.get('pods', 'p')).spec?.nodeName).toBeUndefined();
    },
  );

  test('if the pod does not exist or the name differs', async () => {
    expect(await errorOf(bind('n1'))).toBe('NotFound: pods "p" not found');
    await makePod();
    expect(await errorOf(bind('n1', { name: 'q' }))).toMatch(/^BadRequest: name in URL does not match/);
  });
});
