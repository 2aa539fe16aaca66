import { expect, test } from 'vitest';
import { persistentVolumeClaims, pods } from '../../kube/resources.ts';
import { changeRoom, room, trackedClass } from './scenarios/testing/furniture.ts';
import { deletePod, selectedNode, startBinding } from './testing/binding-world.ts';
import { Maker } from './testing/maker.ts';
import { namespace, type SchedulerWorld } from './testing/scheduler-world.ts';
import { TroubledCluster } from './testing/troubled-cluster.ts';

const tracked = { storageClassName: 'tracked' };

/** Room for 10Gi on n1 and nowhere else. */
async function startTracked(
  way?: (cluster: SchedulerWorld['cluster']) => TroubledCluster,
): Promise<SchedulerWorld> {
  const world = await startBinding({ maker: new Maker(), ...(way !== undefined && { way }) });
  await trackedClass(world, 'tracked', { provisioner: Maker.provisionerName });
  await room(world, 'n1', '10Gi');
  return world;
}

test('once a pod is on its node nothing is held for it any more, even if no event follows', async () => {
  await using world = await startTracked();
  await world.claim('first', '6Gi', tracked);
  await world.pod('first', ['first']);
  await world.settle();
  await changeRoom(world, 'n1', { capacity: '4Gi' });
  await world.claim('second', '4Gi', tracked);
  await world.pod('second', ['second']);
  await world.settle();
  expect(await world.place('second')).toBe('n1');
});

test('the same when news of the pod comes before the answer to its binding', async () => {
  await using world = await startTracked((cluster) => {
    const troubled = new TroubledCluster(cluster);
    const never = new AbortController().signal;
    troubled.troubles = {
      after: ({ verb }) => (verb === 'post' ? world.trial.clock.sleep(50, never) : undefined),
    };
    return troubled;
  });
  await world.claim('first', '6Gi', tracked);
  await world.pod('first', ['first']);
  await world.settle();
  await changeRoom(world, 'n1', { capacity: '4Gi' });
  await world.claim('second', '4Gi', tracked);
  await world.pod('second', ['second']);
  await world.settle();
  expect(await world.place('second')).toBe('n1');
});

test('a pod that is deleted right after its binding, before we hear of either, leaves its room to others', async () => {
  await using world = await startBinding({
    nodes: ['n1'],
    way: (cluster) => {
      const troubled = new TroubledCluster(cluster);
      const never = new AbortController().signal;
      troubled.troubles = {
        after: async ({ verb, name }) => {
          if (verb !== 'post' || name !== 'first') return;
          await cluster.resource(pods).delete({ namespace, name }, { gracePeriodSeconds: 0 });
          await world.trial.clock.sleep(50, never);
        },
      };
      return troubled;
    },
  });
  const large = { containers: [{ name: 'main', image: 'pause', resources: { requests: { cpu: '6' } } }] };
  await world.pod('first', [], { spec: large });
  await world.settle();
  await world.pod('second', [], { spec: large });
  await world.settle();
  expect(await world.place('second')).toBe('n1');
});

test('room stays promised while a claim says that its volume is being made, and is free again when the claim goes', async () => {
  await using world = await startBinding();
  await trackedClass(world, 'tracked', { provisioner: Maker.provisionerName });
  await room(world, 'n1', '10Gi');
  await world.claim('first', '6Gi', tracked);
  await world.pod('first', ['first']);
  await world.settle();
  await world.claim('second', '6Gi', tracked);
  await world.pod('second', ['second']);
  await deletePod(world, 'first');
  await world.settle(5_000);
  expect(await world.place('second')).toMatch('did not have enough free storage');
  await world.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'first' });
  await world.settle();
  expect(await selectedNode(world, 'second')).toBe('n1');
});

test('a pod whose volume is bound keeps its place on that node while it tries again', async () => {
  let isDown = true;
  const way = (cluster: SchedulerWorld['cluster']) => {
    const troubled = new TroubledCluster(cluster);
    troubled.troubles = {
      before: ({ verb, name }) => {
        if (verb === 'post' && name === 'web' && isDown) throw new Error('the line is dead');
      },
    };
    return troubled;
  };
  await using world = await startBinding({ nodes: [], way });
  await world.node('n1', { allocatable: { pods: '1' } });
  await world.disk('d1', '10Gi', 'n1');
  await world.claim('data', '5Gi');
  await world.pod('web', ['data']);
  await world.settle(100);
  await world.pod('other');
  await world.settle(500);
  expect(await world.lines()).toEqual(
    expect.arrayContaining(['claim data has d1', 'pod other on no node', 'pod web on no node']),
  );
  expect((await world.getPod('web')).status?.nominatedNodeName).toBe('n1');
  isDown = false;
  await world.settle(15_000);
  expect(await world.place('web')).toBe('n1');
});
