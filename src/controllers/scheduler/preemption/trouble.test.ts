/** Making room for a pod when something goes wrong halfway, or comes too late. */
import { expect, test } from 'vitest';
import { isObjectWrite, onlyFor } from '../../../cluster/testing/fault-hooks.ts';
import { type ClusterCall, InterceptedCluster } from '../../../cluster/testing/intercepted-cluster.ts';
import type { PodSpec } from '../../../kube/api/core.ts';
import { getCondition } from '../../../kube/conditions.ts';
import { pods, priorityClasses } from '../../../kube/resources.ts';
import { cpu } from '../scenarios/testing/fixtures.ts';
import { runController, startBinding } from '../testing/binding-fixture.ts';
import { namespace, type SchedulerFixture } from '../testing/scheduler-fixture.ts';

const urgent = { priorityClassName: 'urgent' };

interface TroubledFixture {
  readonly fixture: SchedulerFixture;
  readonly way: InterceptedCluster;
}

async function startTroubled(): Promise<TroubledFixture> {
  let way: InterceptedCluster | undefined;
  const fixture = await startBinding({
    nodes: ['n1'],
    wrapCluster: (cluster) => {
      way = new InterceptedCluster(cluster);
      return way;
    },
  });
  runController(fixture, 'node-agent');
  await fixture.cluster.resource(priorityClasses).create({ metadata: { name: 'urgent' }, value: 1000 });
  return { fixture, way: way! };
}

test.each([
  { what: 'the nomination', fails: ({ verb, name }: ClusterCall) => verb === 'patch' && name === 'high' },
  { what: 'the mark', fails: ({ verb, name }: ClusterCall) => verb === 'patch' && name === 'low' },
  { what: 'the deletion', fails: ({ verb, name }: ClusterCall) => verb === 'delete' && name === 'low' },
])('$what that fails once is tried again, though no event calls for it', async ({ fails }) => {
  const { fixture, way } = await startTroubled();
  await using _ = fixture;
  await fixture.pod('low', [], { spec: { nodeName: 'n1', ...cpu('6') } });
  await fixture.settle(2_000);
  let failures = 0;
  way.addHooks(
    onlyFor(isObjectWrite, {
      before: (write) => {
        if (!fails(write) || failures > 0) return;
        failures += 1;
        throw new Error('connection reset');
      },
    }),
  );
  await fixture.pod('high', [], { spec: { ...cpu('4'), ...urgent } });
  await fixture.settle(20_000);
  expect(failures).toBe(1);
  expect(await fixture.place('high')).toBe('n1');
});

test('a pod whose binding is being written is not let go of but deleted', async () => {
  const { fixture, way } = await startTroubled();
  await using _ = fixture;
  let finish = () => {};
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  way.addHooks(
    onlyFor(isObjectWrite, {
      before: ({ verb, name }) => (verb === 'post' && name === 'low' ? held : undefined),
    }),
  );
  await fixture.pod('low', [], { spec: cpu('6') });
  await fixture.settle();
  await fixture.pod('high', [], { spec: { ...cpu('4'), ...urgent } });
  await fixture.settle();
  finish();
  await fixture.settle(20_000);
  expect(await fixture.place('high')).toBe('n1');
});

function onPorts(...hostPorts: readonly number[]): PodSpec {
  const ports = hostPorts.map((hostPort) => ({ hostPort, containerPort: hostPort }));
  return { containers: [{ name: 'main', image: 'pause', ports }] };
}

test.each([
  { what: 'cpu', low: cpu('5'), peer: cpu('3'), high: cpu('6') },
  { what: 'ports', low: onPorts(80), peer: onPorts(443), high: onPorts(80, 443) },
])(
  'one that leaves is the chance of a pod that can make the rest of the room itself: $what',
  async (specs) => {
    const { fixture } = await startTroubled();
    await using _ = fixture;
    await fixture.pod('low', [], { spec: { nodeName: 'n1', ...specs.low } });
    await fixture.pod('peer', [], { spec: { nodeName: 'n1', ...specs.peer, ...urgent } });
    await fixture.settle(2_000);
    await fixture.pod('high', [], { spec: { ...specs.high, ...urgent } });
    await fixture.settle(2_000);
    expect(await fixture.place('high')).toContain('0/1 nodes are available');
    await fixture.cluster.resource(pods).delete({ namespace, name: 'peer' }, { gracePeriodSeconds: 0 });
    await fixture.settle(20_000);
    expect(await fixture.place('high')).toBe('n1');
  },
);

test('a pod goes to the node that it is nominated to, whoever said so and whatever else would do', async () => {
  const { fixture } = await startTroubled();
  await using _ = fixture;
  for (const name of ['n2', 'n3', 'n4']) await fixture.node(name);
  await fixture.pod('gone', [], { spec: { nodeName: 'n3', ...cpu('5') } });
  await fixture.pod('web', [], { spec: { schedulingGates: [{ name: 'wait' }], ...cpu('1') } });
  const client = fixture.cluster.resource(pods);
  const nominated = { status: { nominatedNodeName: 'n3' } };
  await client.patch(
    { namespace, name: 'web' },
    { type: 'merge', body: nominated },
    { subresource: 'status' },
  );
  await client.patch(
    { namespace, name: 'web' },
    { type: 'merge', body: { spec: { schedulingGates: null } } },
  );
  await fixture.settle(5_000);
  expect(await fixture.place('web')).toBe('n3');
});

test('a pod that is deleted before its nomination is written leaves the node to those that wait', async () => {
  const { fixture, way } = await startTroubled();
  await using _ = fixture;
  await fixture.pod('low', [], { spec: { nodeName: 'n1', ...cpu('6') } });
  await fixture.settle(2_000);
  let finish = () => {};
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  way.addHooks(
    onlyFor(isObjectWrite, {
      before: ({ verb, name }) => (verb === 'patch' && name === 'high' ? held : undefined),
    }),
  );
  await fixture.pod('high', [], { spec: { ...cpu('8'), ...urgent } });
  await fixture.settle();
  await fixture.pod('next', [], { spec: cpu('2') });
  await fixture.settle();
  expect(await fixture.place('next')).toContain('1 Insufficient cpu');
  await fixture.cluster.resource(pods).delete({ namespace, name: 'high' }, { gracePeriodSeconds: 0 });
  await fixture.settle();
  finish();
  await fixture.settle(20_000);
  expect(await fixture.place('next')).toBe('n1');
});

test('a pod whose volumes pin it to a node leaves that to those that wait, though it could never say that it was to go there', async () => {
  const { fixture, way } = await startTroubled();
  await using _ = fixture;
  await fixture.disk('d1', '5Gi', 'n1');
  await fixture.claim('data', '5Gi');
  way.addHooks(
    onlyFor(isObjectWrite, {
      before: ({ name }) => {
        if (name === 'pinned') throw new Error('connection reset');
      },
    }),
  );
  await fixture.pod('pinned', ['data'], { spec: cpu('6') });
  await fixture.settle(200);
  await fixture.pod('next', [], { spec: cpu('6') });
  await fixture.settle(200);
  expect(await fixture.place('next')).toContain('1 Insufficient cpu');
  await fixture.cluster.resource(pods).delete({ namespace, name: 'pinned' }, { gracePeriodSeconds: 0 });
  await fixture.settle(20_000);
  expect(await fixture.place('next')).toBe('n1');
});

test('a word said late does not take back the room that has been made since', async () => {
  const { fixture, way } = await startTroubled();
  await using _ = fixture;
  const low = { nodeName: 'n1', terminationGracePeriodSeconds: 30, ...cpu('6') };
  await fixture.pod('low', [], { spec: low });
  await fixture.claim('data', '5Gi');
  await fixture.settle(2_000);
  let finish = () => {};
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let patches = 0;
  const nominees: (string | undefined)[] = [];
  way.addHooks(
    onlyFor(isObjectWrite, {
      before: ({ verb, name }) => {
        if (verb !== 'patch' || name !== 'high') return;
        patches += 1;
        // That evicting others would not help.
        return patches === 1 ? held : undefined;
      },
      after: async ({ verb, name }) => {
        if (verb === 'patch' && name === 'high')
          nominees.push((await fixture.getPod('high')).status?.nominatedNodeName);
      },
    }),
  );
  await fixture.pod('high', ['data'], { spec: { ...cpu('4'), ...urgent } });
  await fixture.settle();
  await fixture.disk('d1', '5Gi', 'n1');
  await fixture.settle(2_000);
  finish();
  await fixture.settle();
  expect((await fixture.getPod('low')).metadata?.deletionTimestamp).toBeDefined();
  expect(new Set(nominees.slice(nominees.indexOf('n1')))).toEqual(new Set(['n1']));
  expect(await fixture.place('high')).toBe('0/1 nodes are available: 1 Insufficient cpu.');
});

test('what was to be said of a pod is not said of another that has come under its name', async () => {
  const { fixture, way } = await startTroubled();
  await using _ = fixture;
  await fixture.pod('low', [], { spec: { nodeName: 'n1', ...cpu('6') } });
  await fixture.settle(2_000);
  let finish = () => {};
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  way.addHooks(
    onlyFor(isObjectWrite, {
      before: ({ verb, name }) => (verb === 'delete' && name === 'low' ? held : undefined),
    }),
  );
  await fixture.pod('high', [], { spec: { ...cpu('4'), ...urgent } });
  await fixture.settle();
  await fixture.cluster.resource(pods).delete({ namespace, name: 'high' }, { gracePeriodSeconds: 0 });
  await fixture.pod('high', [], { spec: { schedulingGates: [{ name: 'wait' }] } });
  await fixture.settle();
  finish();
  await fixture.settle();
  const { status } = await fixture.getPod('high');
  expect(getCondition(status?.conditions, 'PodScheduled')?.reason).toBe('SchedulingGated');
});
