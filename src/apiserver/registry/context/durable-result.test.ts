import { describe, expect, test } from 'vitest';
import { settle } from '../../store/testing/manual-durability.ts';
import { RegistryFixture } from '../testing/registry-fixture.ts';

/** The state of a call so far. */
function outcome(call: Promise<unknown>): { readonly now: string } {
  const seen = { now: 'waits' };
  call.then(
    () => {
      seen.now = 'answered';
    },
    (error: Error) => {
      seen.now = error.message;
    },
  );
  return seen;
}

const diskFull = new Error('the disk is full');
const held = { metadata: { name: 'held', finalizers: ['example.com/hold'] } };
const pod = (name: string, nodeName = 'n1') => ({
  metadata: { name },
  spec: { nodeName, containers: [{ name: 'c', image: 'i' }] },
});

/** A write that never becomes durable, and a call whose result would reveal it. */
interface Scenario {
  readonly name: string;
  before?(fixture: RegistryFixture): Promise<unknown>;
  write(fixture: RegistryFixture): Promise<unknown>;
  ask(fixture: RegistryFixture): Promise<unknown>;
}

const createConfigMap = (fixture: RegistryFixture) =>
  fixture.create('configmaps', { metadata: { name: 'a' } });
const changeConfigMap = (fixture: RegistryFixture) => fixture.patch('configmaps', 'a', { data: { k: 'v' } });

const scenarios: readonly Scenario[] = [
  { name: 'GET of the object', write: createConfigMap, ask: (fixture) => fixture.get('configmaps', 'a') },
  { name: 'LIST', write: createConfigMap, ask: (fixture) => fixture.list('configmaps') },
  { name: 'LIST of another kind', write: createConfigMap, ask: (fixture) => fixture.list('secrets') },
  { name: 'AlreadyExists', write: createConfigMap, ask: createConfigMap },
  {
    name: 'a dry run of the same creation',
    write: createConfigMap,
    ask: (fixture) => fixture.create('configmaps', { metadata: { name: 'a' } }, { dryRun: true }),
  },
  {
    name: 'NotFound of a removed object',
    before: createConfigMap,
    write: (fixture) => fixture.delete('configmaps', 'a'),
    ask: (fixture) => fixture.get('configmaps', 'a'),
  },
  {
    name: 'the deletion of a removed object',
    before: createConfigMap,
    write: (fixture) => fixture.delete('configmaps', 'a'),
    ask: (fixture) => fixture.delete('configmaps', 'a'),
  },
  {
    name: 'Conflict',
    before: createConfigMap,
    write: changeConfigMap,
    ask: (fixture) => fixture.patch('configmaps', 'a', { metadata: { resourceVersion: '1' } }),
  },
  {
    name: 'a patch that changes nothing',
    before: createConfigMap,
    write: changeConfigMap,
    ask: changeConfigMap,
  },
  {
    name: 'a dry run of a patch',
    before: createConfigMap,
    write: changeConfigMap,
    ask: (fixture) => fixture.patch('configmaps', 'a', { data: { l: 'w' } }, { dryRun: true }),
  },
  {
    name: 'a dry run of a deletion',
    before: createConfigMap,
    write: changeConfigMap,
    ask: (fixture) => fixture.delete('configmaps', 'a', {}, { dryRun: true }),
  },
  {
    name: 'a second deletion of an object with finalizers',
    before: (fixture) => fixture.create('configmaps', held),
    write: (fixture) => fixture.delete('configmaps', 'held'),
    ask: (fixture) => fixture.delete('configmaps', 'held'),
  },
  {
    name: 'a second deletion within the grace period',
    before: (fixture) => fixture.create('pods', pod('p')),
    write: (fixture) => fixture.delete('pods', 'p'),
    ask: (fixture) => fixture.delete('pods', 'p'),
  },
  {
    name: 'a second deletion of a namespace',
    before: (fixture) => fixture.create('namespaces', { metadata: { name: 'n' } }),
    write: (fixture) => fixture.delete('namespaces', 'n'),
    ask: (fixture) => fixture.delete('namespaces', 'n'),
  },
  {
    name: 'a refused binding',
    before: (fixture) => fixture.create('pods', pod('p', '')),
    write: (fixture) => fixture.post('pods', 'p', 'binding', { target: { name: 'n1' } }),
    ask: (fixture) => fixture.post('pods', 'p', 'binding', { target: { name: 'n2' } }),
  },
  {
    name: 'a refused creation in a terminating namespace',
    before: (fixture) => fixture.create('namespaces', { metadata: { name: 'n' } }),
    write: (fixture) => fixture.delete('namespaces', 'n'),
    ask: (fixture) => fixture.create('configmaps', { metadata: { namespace: 'n', name: 'a' } }),
  },
  {
    name: 'a future version',
    write: createConfigMap,
    ask: (fixture) => fixture.list('configmaps', { resourceVersion: '99999' }),
  },
  {
    name: 'a watch from a future version',
    write: createConfigMap,
    ask: (fixture) => fixture.watch('configmaps', { resourceVersion: '99999', sendInitialEvents: true }),
  },
  {
    name: 'the scale of a scaled object',
    before: (fixture) => fixture.create('deployments', deployment),
    write: (fixture) =>
      fixture.patch('deployments', 'd', { spec: { replicas: 5 } }, { subresource: 'scale' }),
    ask: (fixture) => fixture.get('deployments', 'd', 'scale'),
  },
];

const labels = { app: 'd' };
const deployment = {
  metadata: { name: 'd' },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
};

async function asked({ before, write, ask }: Scenario) {
  const fixture = await RegistryFixture.start();
  await before?.(fixture);
  fixture.gate.shut();
  const written = outcome(write(fixture));
  const answer = outcome(ask(fixture));
  await settle();
  expect([written.now, answer.now]).toEqual(['waits', 'waits']);
  expect(fixture.gate.waitingRevision).toBeDefined();
  return { fixture, written, answer };
}

describe('a pending write of others is revealed only when it is durable', () => {
  test.each(scenarios)('$name', async (scenario) => {
    const { fixture, written, answer } = await asked(scenario);
    fixture.gate.open();
    await settle();
    expect(written.now).toBe('answered');
    expect(answer.now).not.toBe('waits');
  });
});

describe('a write that is rolled back is never revealed', () => {
  test.each(scenarios)('$name', async (scenario) => {
    const { fixture, written, answer } = await asked(scenario);
    fixture.gate.fail(diskFull);
    await settle();
    expect([written.now, answer.now]).toEqual([diskFull.message, diskFull.message]);
  });
});

test('a watch begins with the durable state and continues with changes as they become durable', async () => {
  const fixture = await RegistryFixture.start();
  await createConfigMap(fixture);
  fixture.gate.shut();
  const written = outcome(changeConfigMap(fixture));
  const { described } = await fixture.watch('configmaps', { namespace: 'default' });
  const before = described();
  await settle();
  expect([before.length, described(), written.now]).toEqual([1, before, 'waits']);
  fixture.gate.open();
  await settle();
  expect(described().map((event) => event.split(' ')[0])).toEqual(['ADDED', 'MODIFIED']);
});

test('a read of durable objects does not wait for pending writes', async () => {
  const fixture = await RegistryFixture.start();
  await createConfigMap(fixture);
  fixture.gate.shut();
  outcome(fixture.create('configmaps', { metadata: { name: 'b' } }));
  expect((await fixture.get('configmaps', 'a')).metadata.name).toBe('a');
});
