import { describe, expect, test } from 'vitest';
import { RegistryFixture, settle } from '../testing/registry-fixture.ts';

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

const makeIt = (fixture: RegistryFixture) => fixture.create('configmaps', { metadata: { name: 'a' } });
const changeIt = (fixture: RegistryFixture) => fixture.patch('configmaps', 'a', { data: { k: 'v' } });

const scenarios: readonly Scenario[] = [
  { name: 'GET of it', write: makeIt, ask: (fixture) => fixture.get('configmaps', 'a') },
  { name: 'LIST', write: makeIt, ask: (fixture) => fixture.list('configmaps') },
  { name: 'LIST of others', write: makeIt, ask: (fixture) => fixture.list('secrets') },
  { name: 'AlreadyExists', write: makeIt, ask: makeIt },
  {
    name: 'a dry run that finds it there',
    write: makeIt,
    ask: (fixture) => fixture.create('configmaps', { metadata: { name: 'a' } }, { dryRun: true }),
  },
  {
    name: 'NotFound of what was removed',
    before: makeIt,
    write: (fixture) => fixture.delete('configmaps', 'a'),
    ask: (fixture) => fixture.get('configmaps', 'a'),
  },
  {
    name: 'a deletion that finds nothing',
    before: makeIt,
    write: (fixture) => fixture.delete('configmaps', 'a'),
    ask: (fixture) => fixture.delete('configmaps', 'a'),
  },
  {
    name: 'Conflict',
    before: makeIt,
    write: changeIt,
    ask: (fixture) => fixture.patch('configmaps', 'a', { metadata: { resourceVersion: '1' } }),
  },
  { name: 'a patch that changes nothing', before: makeIt, write: changeIt, ask: changeIt },
  {
    name: 'a dry run of a patch',
    before: makeIt,
    write: changeIt,
    ask: (fixture) => fixture.patch('configmaps', 'a', { data: { l: 'w' } }, { dryRun: true }),
  },
  {
    name: 'a dry run of a deletion',
    before: makeIt,
    write: changeIt,
    ask: (fixture) => fixture.delete('configmaps', 'a', {}, { dryRun: true }),
  },
  {
    name: 'a second deletion of what finalizers hold',
    before: (fixture) => fixture.create('configmaps', held),
    write: (fixture) => fixture.delete('configmaps', 'held'),
    ask: (fixture) => fixture.delete('configmaps', 'held'),
  },
  {
    name: 'a second deletion of what grace holds',
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
    name: 'a refused creation in a namespace that ends',
    before: (fixture) => fixture.create('namespaces', { metadata: { name: 'n' } }),
    write: (fixture) => fixture.delete('namespaces', 'n'),
    ask: (fixture) => fixture.create('configmaps', { metadata: { namespace: 'n', name: 'a' } }),
  },
  {
    name: 'a version of the future',
    write: makeIt,
    ask: (fixture) => fixture.list('configmaps', { resourceVersion: '99999' }),
  },
  {
    name: 'a watch from a version of the future',
    write: makeIt,
    ask: (fixture) => fixture.watch('configmaps', { resourceVersion: '99999', sendInitialEvents: true }),
  },
  {
    name: 'the scale of what was scaled',
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

describe('what others wrote a moment ago is told when it is durable', () => {
  test.each(scenarios)('$name', async (scenario) => {
    const { fixture, written, answer } = await asked(scenario);
    fixture.gate.open();
    await settle();
    expect(written.now).toBe('answered');
    expect(answer.now).not.toBe('waits');
  });
});

describe('what was never durable is never told', () => {
  test.each(scenarios)('$name', async (scenario) => {
    const { fixture, written, answer } = await asked(scenario);
    fixture.gate.fail(diskFull);
    await settle();
    expect([written.now, answer.now]).toEqual([diskFull.message, diskFull.message]);
  });
});

test('a watch begins with what is durable, and goes on with what becomes so', async () => {
  const fixture = await RegistryFixture.start();
  await makeIt(fixture);
  fixture.gate.shut();
  const written = outcome(changeIt(fixture));
  const { told } = await fixture.watch('configmaps', { namespace: 'default' });
  const before = told();
  await settle();
  expect([before.length, told(), written.now]).toEqual([1, before, 'waits']);
  fixture.gate.open();
  await settle();
  expect(told().map((event) => event.split(' ')[0])).toEqual(['ADDED', 'MODIFIED']);
});

test('a read of what is durable does not wait for what is not', async () => {
  const fixture = await RegistryFixture.start();
  await makeIt(fixture);
  fixture.gate.shut();
  outcome(fixture.create('configmaps', { metadata: { name: 'b' } }));
  expect((await fixture.get('configmaps', 'a')).metadata.name).toBe('a');
});
