/** Preemption when a write fails, or takes effect too late. */
import { expect, test } from 'vitest';
import { type ClusterCall, InterceptedCluster } from '../../../cluster/intercepted-cluster.ts';
import { isObjectWrite, onlyFor, WatchGate } from '../../../cluster/testing/fault-hooks.ts';
import type { PodSpec } from '../../../kube/api/core.ts';
import { failure } from '../../../kube/api-error.ts';
import { getCondition } from '../../../kube/conditions.ts';
import { pods, priorityClasses } from '../../../kube/resources.ts';
import { cpu } from '../scenarios/testing/fixtures.ts';
import { deletePod, runController, startBinding } from '../testing/binding-fixture.ts';
import { namespace, type SchedulerFixture } from '../testing/scheduler-fixture.ts';

const urgent = { priorityClassName: 'urgent' };

interface InterceptedFixture {
  readonly fixture: SchedulerFixture;
  readonly connection: InterceptedCluster;
}

async function startIntercepted(): Promise<InterceptedFixture> {
  let connection: InterceptedCluster | undefined;
  const fixture = await startBinding({
    nodes: ['n1'],
    wrapCluster: (cluster) => {
      connection = new InterceptedCluster(cluster);
      return connection;
    },
  });
  runController(fixture, 'node-agent');
  await fixture.cluster.resource(priorityClasses).create({ metadata: { name: 'urgent' }, value: 1000 });
  return { fixture, connection: connection! };
}

test.each([
  { what: 'the nomination', fails: ({ verb, name }: ClusterCall) => verb === 'patch' && name === 'high' },
  { what: 'the condition', fails: ({ verb, name }: ClusterCall) => verb === 'patch' && name === 'low' },
  { what: 'the deletion', fails: ({ verb, name }: ClusterCall) => verb === 'delete' && name === 'low' },
])('$what is retried after a failure, although no event follows', async ({ fails }) => {
  const { fixture, connection } = await startIntercepted();
  await using _ = fixture;
  await fixture.pod('low', [], { spec: { nodeName: 'n1', ...cpu('6') } });
  await fixture.settle(2_000);
  let failures = 0;
  connection.addHooks(
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

test('a preemptor that is gone, which the cache does not show yet, is not tried again at once', async () => {
  const { fixture, connection } = await startIntercepted();
  await using _ = fixture;
  await fixture.pod('low', [], { spec: { nodeName: 'n1', ...cpu('6') } });
  await fixture.settle(2_000);
  const gate = new WatchGate(pods);
  let patches = 0;
  connection.addHooks(gate);
  connection.addHooks({
    before: async ({ verb, name }) => {
      if (verb !== 'patch' || name !== 'high') return;
      patches += 1;
      if (patches > 100) throw new Error('the scheduler tries again and again');
      if (patches > 1) return;
      gate.hold();
      await fixture.cluster.resource(pods).delete({ namespace, name });
    },
  });
  await fixture.pod('high', [], { spec: { ...cpu('4'), ...urgent } });
  await fixture.settle(5_000);
  // Some attempts, each after a longer back-off.
  expect(patches).toBeLessThan(20);
  gate.release();
});

test('a victim whose binding is being written is deleted, not cancelled', async () => {
  const { fixture, connection } = await startIntercepted();
  await using _ = fixture;
  let finish = () => {};
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  connection.addHooks(
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
])('a pod that terminates wakes a pod that can preempt the rest: $what', async (specs) => {
  const { fixture } = await startIntercepted();
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
});

test('a pod goes to its nominated node, even if another client nominated it and other nodes fit', async () => {
  const { fixture } = await startIntercepted();
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

test('deleting a preemptor before its nomination is written wakes the pods that wait for the node', async () => {
  const { fixture, connection } = await startIntercepted();
  await using _ = fixture;
  await fixture.pod('low', [], { spec: { nodeName: 'n1', ...cpu('6') } });
  await fixture.settle(2_000);
  let finish = () => {};
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  connection.addHooks(
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

test('deleting a pod that its volumes constrain to a node wakes the pods that wait for it, even if its nomination was never written', async () => {
  const { fixture, connection } = await startIntercepted();
  await using _ = fixture;
  await fixture.disk('d1', '5Gi', 'n1');
  await fixture.claim('data', '5Gi');
  connection.addHooks(
    onlyFor(isObjectWrite, {
      before: ({ name }) => {
        if (name === 'constrained') throw new Error('connection reset');
      },
    }),
  );
  await fixture.pod('constrained', ['data'], { spec: cpu('6') });
  await fixture.settle(200);
  await fixture.pod('next', [], { spec: cpu('6') });
  await fixture.settle(200);
  expect(await fixture.place('next')).toContain('1 Insufficient cpu');
  await fixture.cluster.resource(pods).delete({ namespace, name: 'constrained' }, { gracePeriodSeconds: 0 });
  await fixture.settle(20_000);
  expect(await fixture.place('next')).toBe('n1');
});

test('a late status write does not clear a newer nomination', async () => {
  const { fixture, connection } = await startIntercepted();
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
  connection.addHooks(
    onlyFor(isObjectWrite, {
      before: ({ verb, name }) => {
        if (verb !== 'patch' || name !== 'high') return;
        patches += 1;
        // The report that preemption would not help.
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

test('the report about a pod is not written to its re-created successor', async () => {
  const { fixture, connection } = await startIntercepted();
  await using _ = fixture;
  await fixture.pod('low', [], { spec: { nodeName: 'n1', ...cpu('6') } });
  await fixture.settle(2_000);
  let finish = () => {};
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  connection.addHooks(
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

test('a nomination that has ended does not keep other pods waiting, although its removal fails at first', async () => {
  const { fixture, connection } = await startIntercepted();
  await using _ = fixture;
  const slow = { terminationGracePeriodSeconds: 30 };
  await fixture.pod('low', [], { spec: { nodeName: 'n1', ...cpu('6'), ...slow } });
  await fixture.settle(2_000);
  await fixture.pod('high', [], { spec: { ...cpu('8'), ...urgent } });
  await fixture.settle(2_000);
  expect((await fixture.getPod('high')).status?.nominatedNodeName).toBe('n1');
  await fixture.pod('small', [], { spec: cpu('1') });
  const critical = { nodeName: 'n1', priorityClassName: 'system-node-critical' };
  await fixture.pod('daemon', [], { spec: { ...critical, ...cpu('1') } });
  await fixture.settle(2_000);
  expect(await fixture.place('small')).toMatch('Insufficient cpu');
  let failures = 0;
  let placeMeanwhile = '';
  connection.addHooks(
    onlyFor(isObjectWrite, {
      before: async ({ name }) => {
        if (name !== 'high' || failures > 0) return;
        failures += 1;
        await fixture.environment.clock.sleep(1_000, new AbortController().signal);
        placeMeanwhile = await fixture.place('small');
        throw failure(422, 'Invalid', 'a webhook is broken');
      },
    }),
  );
  await deletePod(fixture, 'low');
  await fixture.settle(30_000);
  expect(failures).toBe(1);
  expect(placeMeanwhile).toBe('n1');
  expect((await fixture.getPod('high')).status?.nominatedNodeName).toBeUndefined();
});
