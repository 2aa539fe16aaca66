/** Preemptors that lose their nominated node while they wait for their victims. */
import { expect, test } from 'vitest';
import type { PodSpec } from '../../../kube/api/core.ts';
import { nodes, pods, priorityClasses } from '../../../kube/resources.ts';
import { cpu } from '../scenarios/testing/fixtures.ts';
import { deletePod } from '../testing/binding-fixture.ts';
import { namespace, type PodOptions, SchedulerFixture } from '../testing/scheduler-fixture.ts';

function on(nodeName: string, amount: string, rest: PodSpec = {}): PodOptions {
  return { spec: { nodeName, terminationGracePeriodSeconds: 30, ...cpu(amount), ...rest } };
}

/** `high` waits for `n1`, where the pod of lowest priority is terminating; preemption on `n2` would evict a pod of higher priority. */
async function startWaiting(lowAmount: string, highAmount: string): Promise<SchedulerFixture> {
  const fixture = await SchedulerFixture.start({ nodes: ['n1', 'n2'], otherControllers: ['node-agent'] });
  const classes = fixture.cluster.resource(priorityClasses);
  await classes.create({ metadata: { name: 'urgent' }, value: 1000 });
  await classes.create({ metadata: { name: 'middle' }, value: 500 });
  await fixture.pod('low', [], on('n1', lowAmount));
  await fixture.pod('middle', [], on('n2', '8', { priorityClassName: 'middle' }));
  await fixture.settle(2_000);
  await fixture.pod('high', [], { spec: { ...cpu(highAmount), priorityClassName: 'urgent' } });
  await fixture.settle(2_000);
  expect((await fixture.getPod('high')).status?.nominatedNodeName).toBe('n1');
  return fixture;
}

test('a preemptor whose node another pod takes first preempts elsewhere', async () => {
  await using fixture = await startWaiting('6', '8');
  await fixture.pod('daemon', [], on('n1', '1', { priorityClassName: 'system-node-critical' }));
  await fixture.settle(100_000);
  expect(await fixture.place('high')).toBe('n2');
});

test('a preemptor whose node is deleted preempts elsewhere', async () => {
  await using fixture = await startWaiting('8', '4');
  await fixture.cluster.resource(nodes).delete({ name: 'n1' });
  await fixture.settle(100_000);
  expect(await fixture.place('high')).toBe('n2');
});

test('a preemptor that does not fit after its last victim is gone preempts elsewhere, also after a restart of the scheduler', async () => {
  await using fixture = await startWaiting('6', '8');
  await fixture.stopControllers();
  fixture.startControllers({ otherControllers: [] });
  await fixture.settle(1_000);
  await fixture.pod('daemon', [], on('n1', '1', { priorityClassName: 'system-node-critical' }));
  await fixture.settle(1_000);
  await deletePod(fixture, 'low');
  await fixture.settle(1_000);
  expect((await fixture.getPod('high')).status?.nominatedNodeName).toBe('n2');
  const middle = await fixture.cluster.resource(pods).get({ namespace, name: 'middle' });
  expect(middle.metadata?.deletionTimestamp).toBeDefined();
});
