/** A pod whose room is being made on a node, and what becomes of it when that node turns out not to be the answer. */
import { expect, test } from 'vitest';
import type { PodSpec } from '../../../kube/api/core.ts';
import { nodes, pods, priorityClasses } from '../../../kube/resources.ts';
import { cpu } from '../scenarios/testing/fixtures.ts';
import { deletePod } from '../testing/binding-fixture.ts';
import { namespace, type PodOptions, SchedulerFixture } from '../testing/scheduler-fixture.ts';

function on(nodeName: string, amount: string, rest: PodSpec = {}): PodOptions {
  return { spec: { nodeName, terminationGracePeriodSeconds: 30, ...cpu(amount), ...rest } };
}

/** `high` waits for `n1`, which the least important pod is leaving; making room on `n2` would cost more. */
async function startWaiting(lowAmount: string, highAmount: string): Promise<SchedulerFixture> {
  const fixture = await SchedulerFixture.start({ nodes: ['n1', 'n2'], otherControllers: ['node-agent'] });
  const classes = fixture.cluster.resource(priorityClasses);
  await classes.create({ metadata: { name: 'urgent' }, value: 1000 });
  await classes.create({ metadata: { name: 'middle' }, value: 500 });
  await fixture.pod('low', [], on('n1', lowAmount));
  await fixture.pod('dear', [], on('n2', '8', { priorityClassName: 'middle' }));
  await fixture.settle(2_000);
  await fixture.pod('high', [], { spec: { ...cpu(highAmount), priorityClassName: 'urgent' } });
  await fixture.settle(2_000);
  expect((await fixture.getPod('high')).status?.nominatedNodeName).toBe('n1');
  return fixture;
}

test('room that somebody else takes first is made elsewhere', async () => {
  await using fixture = await startWaiting('6', '8');
  await fixture.pod('daemon', [], on('n1', '1', { priorityClassName: 'system-node-critical' }));
  await fixture.settle(100_000);
  expect(await fixture.place('high')).toBe('n2');
});

test('room on a node that goes is made elsewhere', async () => {
  await using fixture = await startWaiting('8', '4');
  await fixture.cluster.resource(nodes).delete({ name: 'n1' });
  await fixture.settle(100_000);
  expect(await fixture.place('high')).toBe('n2');
});

test('room that does not suffice once the last has left is made elsewhere, also by a scheduler that found it so', async () => {
  await using fixture = await startWaiting('6', '8');
  await fixture.pause();
  fixture.resume({ otherControllers: [] });
  await fixture.settle(1_000);
  await fixture.pod('daemon', [], on('n1', '1', { priorityClassName: 'system-node-critical' }));
  await fixture.settle(1_000);
  await deletePod(fixture, 'low');
  await fixture.settle(1_000);
  expect((await fixture.getPod('high')).status?.nominatedNodeName).toBe('n2');
  const dear = await fixture.cluster.resource(pods).get({ namespace, name: 'dear' });
  expect(dear.metadata?.deletionTimestamp).toBeDefined();
});
