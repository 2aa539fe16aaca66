import { describe, expect, test } from 'vitest';
import { RegistryWorld, settle } from './testing/registry-world.ts';

/** What a call has come to so far. */
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

/** Something that somebody writes, and a call that would tell of it. The writes never become durable. */
interface Scenario {
  readonly name: string;
  before?(world: RegistryWorld): Promise<unknown>;
  write(world: RegistryWorld): Promise<unknown>;
  ask(world: RegistryWorld): Promise<unknown>;
}

const makeIt = (world: RegistryWorld) => world.create('configmaps', { metadata: { name: 'a' } });
const changeIt = (world: RegistryWorld) => world.patch('configmaps', 'a', { data: { k: 'v' } });

const scenarios: readonly Scenario[] = [
  { name: 'GET of it', write: makeIt, ask: (world) => world.get('configmaps', 'a') },
  { name: 'LIST', write: makeIt, ask: (world) => world.list('configmaps') },
  { name: 'LIST of others', write: makeIt, ask: (world) => world.list('secrets') },
  { name: 'AlreadyExists', write: makeIt, ask: makeIt },
  {
    name: 'a dry run that finds it there',
    write: makeIt,
    ask: (world) => world.create('configmaps', { metadata: { name: 'a' } }, { dryRun: true }),
  },
  {
    name: 'NotFound of what was removed',
    before: makeIt,
    write: (world) => world.delete('configmaps', 'a'),
    ask: (world) => world.get('configmaps', 'a'),
  },
  {
    name: 'a deletion that finds nothing',
    before: makeIt,
    write: (world) => world.delete('configmaps', 'a'),
    ask: (world) => world.delete('configmaps', 'a'),
  },
  {
    name: 'Conflict',
    before: makeIt,
    write: changeIt,
    ask: (world) => world.patch('configmaps', 'a', { metadata: { resourceVersion: '1' } }),
  },
  { name: 'a patch that changes nothing', before: makeIt, write: changeIt, ask: changeIt },
  {
    name: 'a dry run of a patch',
    before: makeIt,
    write: changeIt,
    ask: (world) => world.patch('configmaps', 'a', { data: { l: 'w' } }, { dryRun: true }),
  },
  {
    name: 'a dry run of a deletion',
    before: makeIt,
    write: changeIt,
    ask: (world) => world.delete('configmaps', 'a', {}, { dryRun: true }),
  },
  {
    name: 'a second deletion of what finalizers hold',
    before: (world) => world.create('configmaps', held),
    write: (world) => world.delete('configmaps', 'held'),
    ask: (world) => world.delete('configmaps', 'held'),
  },
  {
    name: 'a second deletion of what grace holds',
    before: (world) => world.create('pods', pod('p')),
    write: (world) => world.delete('pods', 'p'),
    ask: (world) => world.delete('pods', 'p'),
  },
  {
    name: 'a second deletion of a namespace',
    before: (world) => world.create('namespaces', { metadata: { name: 'n' } }),
    write: (world) => world.delete('namespaces', 'n'),
    ask: (world) => world.delete('namespaces', 'n'),
  },
  {
    name: 'a refused binding',
    before: (world) => world.create('pods', pod('p', '')),
    write: (world) => world.post('pods', 'p', 'binding', { target: { name: 'n1' } }),
    ask: (world) => world.post('pods', 'p', 'binding', { target: { name: 'n2' } }),
  },
  {
    name: 'a refused creation in a namespace that ends',
    before: (world) => world.create('namespaces', { metadata: { name: 'n' } }),
    write: (world) => world.delete('namespaces', 'n'),
    ask: (world) => world.create('configmaps', { metadata: { namespace: 'n', name: 'a' } }),
  },
  {
    name: 'a version of the future',
    write: makeIt,
    ask: (world) => world.list('configmaps', { resourceVersion: '99999' }),
  },
  {
    name: 'a watch from a version of the future',
    write: makeIt,
    ask: (world) => world.watch('configmaps', { resourceVersion: '99999', sendInitialEvents: true }),
  },
  {
    name: 'the scale of what was scaled',
    before: (world) => world.create('deployments', deployment),
    write: (world) => world.patch('deployments', 'd', { spec: { replicas: 5 } }, { subresource: 'scale' }),
    ask: (world) => world.get('deployments', 'd', 'scale'),
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
  const world = await RegistryWorld.start();
  await before?.(world);
  world.gate.shut();
  const written = outcome(write(world));
  const answer = outcome(ask(world));
  await settle();
  expect([written.now, answer.now]).toEqual(['waits', 'waits']);
  expect(world.gate.waitingRevision).toBeDefined();
  return { world, written, answer };
}

describe('what others wrote a moment ago is told when it is durable', () => {
  test.each(scenarios)('$name', async (scenario) => {
    const { world, written, answer } = await asked(scenario);
    world.gate.open();
    await settle();
    expect(written.now).toBe('answered');
    expect(answer.now).not.toBe('waits');
  });
});

describe('what was never durable is never told', () => {
  test.each(scenarios)('$name', async (scenario) => {
    const { world, written, answer } = await asked(scenario);
    world.gate.fail(diskFull);
    await settle();
    expect([written.now, answer.now]).toEqual([diskFull.message, diskFull.message]);
  });
});

test('a watch begins with what is durable, and goes on with what becomes so', async () => {
  const world = await RegistryWorld.start();
  await makeIt(world);
  world.gate.shut();
  const written = outcome(changeIt(world));
  const { told } = await world.watch('configmaps', { namespace: 'default' });
  const before = told();
  await settle();
  expect([before.length, told(), written.now]).toEqual([1, before, 'waits']);
  world.gate.open();
  await settle();
  expect(told().map((event) => event.split(' ')[0])).toEqual(['ADDED', 'MODIFIED']);
});

test('a read of what is durable does not wait for what is not', async () => {
  const world = await RegistryWorld.start();
  await makeIt(world);
  world.gate.shut();
  outcome(world.create('configmaps', { metadata: { name: 'b' } }));
  expect((await world.get('configmaps', 'a')).metadata.name).toBe('a');
});
