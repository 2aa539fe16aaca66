import { expect, test } from 'vitest';
import { InterceptedCluster } from '../../../cluster/intercepted-cluster.ts';
import { CrashAfterWrites } from '../../../cluster/testing/fault-hooks.ts';
import { controllerRevisions, pods, statefulSets } from '../../../kube/resources.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import { garbageCollectorController } from '../garbage-collector.ts';
import { namespace, podNames } from '../testing/workload-fixture.ts';
import { statefulSetController } from './stateful-set-controller.ts';
import { makeSet } from './testing/sets.ts';

/** More than a deletion takes, and small enough that an endless loop ends. */
const writesMax = 100;

async function makeSettledSet(fixture: VirtualTimeCluster): Promise<void> {
  const run = fixture.run([statefulSetController]);
  await makeSet(fixture.cluster);
  await fixture.settle();
  await run.close();
}

const hold = (finalizers: readonly string[] | null) =>
  ({ type: 'merge', body: { metadata: { finalizers } } }) as const;

test.each(['Foreground', 'Background', 'Orphan'] as const)(
  'a deleted set gets no new revision while it waits for its pods: %s',
  async (propagationPolicy) => {
    await using fixture = await VirtualTimeCluster.start();
    const { cluster } = fixture;
    await makeSettledSet(fixture);
    const pod = { namespace, name: 'web-0' };
    await cluster.resource(pods).patch(pod, hold(['example.com/hold']));
    const crash = new CrashAfterWrites(writesMax);
    const crashing = new InterceptedCluster(cluster, crash);
    fixture.run([statefulSetController, garbageCollectorController], crashing);
    await cluster.resource(statefulSets).delete({ namespace, name: 'web' }, { propagationPolicy });
    await fixture.settle(60_000);
    await cluster.resource(pods).patch(pod, hold(null));
    await fixture.settle(60_000);
    expect(crash.written).toBeLessThan(writesMax);
    expect((await cluster.resource(statefulSets).list({ namespace })).items).toEqual([]);
    const left = (await cluster.resource(controllerRevisions).list({ namespace })).items;
    expect(left).toHaveLength(propagationPolicy === 'Orphan' ? 1 : 0);
  },
);

test('a set uses an existing revision of its name and template that has another owner', async () => {
  await using fixture = await VirtualTimeCluster.start();
  const { cluster } = fixture;
  await makeSettledSet(fixture);
  const revisions = cluster.resource(controllerRevisions);
  const [revision] = (await revisions.list({ namespace })).items;
  const name = revision?.metadata?.name ?? '';
  // Without labels no selector matches it, so no set can adopt it.
  const body = { metadata: { ownerReferences: null, labels: null } };
  await revisions.patch({ namespace, name }, { type: 'merge', body });
  await cluster
    .resource(statefulSets)
    .delete({ namespace, name: 'web' }, { propagationPolicy: 'Background' });
  await makeSet(cluster, { replicas: 2, podManagementPolicy: 'Parallel' });
  fixture.run([statefulSetController, garbageCollectorController]);
  await fixture.settle(60_000);
  expect(await podNames(cluster)).toEqual(['web-0', 'web-1']);
  const { status } = await cluster.resource(statefulSets).get({ namespace, name: 'web' });
  expect(status?.updateRevision).toBe(name);
});
