import { expect, test } from 'vitest';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { isObjectWrite, onlyFor } from '../../cluster/testing/fault-hooks.ts';
import { persistentVolumeClaims, pods } from '../../kube/resources.ts';
import { patchCapacity, publishCapacity, trackedClass } from './scenarios/testing/fixtures.ts';
import { deletePod, selectedNode, startBinding } from './testing/binding-fixture.ts';
import { FakeProvisioner } from './testing/fake-provisioner.ts';
import { namespace, type SchedulerFixture } from './testing/scheduler-fixture.ts';

const tracked = { storageClassName: 'tracked' };

/** Free capacity of 10Gi on n1 and on no other node. */
async function startTracked(
  wrapCluster?: (cluster: SchedulerFixture['cluster']) => InterceptedCluster,
): Promise<SchedulerFixture> {
  const fixture = await startBinding({
    provisioner: new FakeProvisioner(),
    ...(wrapCluster !== undefined && { wrapCluster }),
  });
  await trackedClass(fixture, 'tracked', { provisioner: FakeProvisioner.provisionerName });
  await publishCapacity(fixture, 'n1', '10Gi');
  return fixture;
}

test('a bound pod has no reservation any more, even if no event follows', async () => {
  await using fixture = await startTracked();
  await fixture.claim('first', '6Gi', tracked);
  await fixture.pod('first', ['first']);
  await fixture.settle();
  await patchCapacity(fixture, 'n1', { capacity: '4Gi' });
  await fixture.claim('second', '4Gi', tracked);
  await fixture.pod('second', ['second']);
  await fixture.settle();
  expect(await fixture.place('second')).toBe('n1');
});

test('a bound pod has no reservation any more if its event comes before the response to its binding', async () => {
  await using fixture = await startTracked((cluster) => {
    const never = new AbortController().signal;
    return new InterceptedCluster(
      cluster,
      onlyFor(isObjectWrite, {
        after: ({ verb }) => (verb === 'post' ? fixture.environment.clock.sleep(50, never) : undefined),
      }),
    );
  });
  await fixture.claim('first', '6Gi', tracked);
  await fixture.pod('first', ['first']);
  await fixture.settle();
  await patchCapacity(fixture, 'n1', { capacity: '4Gi' });
  await fixture.claim('second', '4Gi', tracked);
  await fixture.pod('second', ['second']);
  await fixture.settle();
  expect(await fixture.place('second')).toBe('n1');
});

test('a pod that is deleted right after its binding, before any event, frees its capacity', async () => {
  await using fixture = await startBinding({
    nodes: ['n1'],
    wrapCluster: (cluster) => {
      const never = new AbortController().signal;
      return new InterceptedCluster(
        cluster,
        onlyFor(isObjectWrite, {
          after: async ({ verb, name }) => {
            if (verb !== 'post' || name !== 'first') return;
            await cluster.resource(pods).delete({ namespace, name }, { gracePeriodSeconds: 0 });
            await fixture.environment.clock.sleep(50, never);
          },
        }),
      );
    },
  });
  const large = { containers: [{ name: 'main', image: 'pause', resources: { requests: { cpu: '6' } } }] };
  await fixture.pod('first', [], { spec: large });
  await fixture.settle();
  await fixture.pod('second', [], { spec: large });
  await fixture.settle();
  expect(await fixture.place('second')).toBe('n1');
});

test('capacity stays promised while the claim has a selected node, and is free again when the claim is deleted', async () => {
  await using fixture = await startBinding();
  await trackedClass(fixture, 'tracked', { provisioner: FakeProvisioner.provisionerName });
  await publishCapacity(fixture, 'n1', '10Gi');
  await fixture.claim('first', '6Gi', tracked);
  await fixture.pod('first', ['first']);
  await fixture.settle();
  await fixture.claim('second', '6Gi', tracked);
  await fixture.pod('second', ['second']);
  await deletePod(fixture, 'first');
  await fixture.settle(5_000);
  expect(await fixture.place('second')).toMatch('did not have enough free storage');
  await fixture.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'first' });
  await fixture.settle();
  expect(await selectedNode(fixture, 'second')).toBe('n1');
});

test('a pod whose volume is bound keeps its capacity on that node between attempts', async () => {
  let isDown = true;
  const wrapCluster = (cluster: SchedulerFixture['cluster']) => {
    return new InterceptedCluster(
      cluster,
      onlyFor(isObjectWrite, {
        before: ({ verb, name }) => {
          if (verb === 'post' && name === 'web' && isDown) throw new Error('connection reset');
        },
      }),
    );
  };
  await using fixture = await startBinding({ nodes: [], wrapCluster });
  await fixture.node('n1', { allocatable: { pods: '1' } });
  await fixture.disk('d1', '10Gi', 'n1');
  await fixture.claim('data', '5Gi');
  await fixture.pod('web', ['data']);
  await fixture.settle(100);
  await fixture.pod('other');
  await fixture.settle(500);
  expect(await fixture.summary()).toEqual(
    expect.arrayContaining(['claim data has d1', 'pod other on no node', 'pod web on no node']),
  );
  expect((await fixture.getPod('web')).status?.nominatedNodeName).toBe('n1');
  isDown = false;
  await fixture.settle(15_000);
  expect(await fixture.place('web')).toBe('n1');
});
