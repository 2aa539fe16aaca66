import { expect, test } from 'vitest';
import { nodes, persistentVolumeClaims, persistentVolumes } from '../../kube/resources.ts';
import { annotations } from '../../kube/well-known.ts';
import {
  annotateClaim,
  claimRefs,
  deletePod,
  reserve,
  runBeside,
  runMaker,
  selectedNode,
  startBinding,
  withoutBinder,
} from './testing/binding-world.ts';
import { Maker } from './testing/maker.ts';
import { namespace, type SchedulerWorld } from './testing/scheduler-world.ts';
import { TroubledCluster } from './testing/troubled-cluster.ts';

const made = { storageClassName: 'made' };

/** A pod whose disk is claimed, and nobody completes the binding. Its disk is the first of the claimRefs. */
async function waitingForBinder(): Promise<SchedulerWorld> {
  const world = await startBinding({ beside: ['protection'] });
  await world.disk('d1', '10Gi', 'n1');
  await world.disk('d2', '10Gi', 'n2');
  await withoutBinder(world);
  await world.claim('data', '5Gi');
  await world.pod('web', ['data']);
  await world.settle();
  expect(await claimRefs(world)).toHaveLength(1);
  return world;
}

test('a volume that is deleted while it is being bound makes the pod go elsewhere', async () => {
  await using world = await waitingForBinder();
  const [taken = ''] = (await claimRefs(world))[0]!.split(' ');
  await world.cluster.resource(persistentVolumes).delete({ name: taken });
  await world.settle(2_000);
  expect(await world.toldOf('web')).toContainEqual(
    `FailedScheduling: binding volumes: PersistentVolume ${taken} is gone`,
  );
  runBeside(world, 'pv-binder');
  await world.settle(2_000);
  const other = taken === 'd1' ? '2' : '1';
  expect(await world.lines()).toEqual([
    `claim data has d${other}`,
    `disk d${other} Bound to data`,
    `pod web on n${other}`,
  ]);
});

test('a claim that is deleted while it is being bound frees its volume; a new one of its name is another', async () => {
  await using world = await waitingForBinder();
  await world.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'data' });
  await world.settle(2_000);
  expect(await claimRefs(world)).toEqual([]);
  expect(await world.place('web')).toMatch('persistentvolumeclaim "data" not found');
  await world.claim('data', '5Gi');
  runBeside(world, 'pv-binder');
  await world.settle(2_000);
  expect(await world.place('web')).toMatch(/^n[12]$/);
});

test('a claimRef that somebody clears is written again', async () => {
  await using world = await waitingForBinder();
  const [name = ''] = (await claimRefs(world))[0]!.split(' ');
  const body = {
    spec: { claimRef: null },
    metadata: { annotations: { [annotations.boundByController]: null } },
  };
  await world.cluster.resource(persistentVolumes).patch({ name }, { type: 'merge', body });
  await world.settle();
  expect(await world.toldOf('web')).toContainEqual(
    `FailedScheduling: binding volumes: ClaimRef got reset for pv "${name}"`,
  );
  runBeside(world, 'pv-binder');
  await world.settle(2_000);
  expect(await world.place('web')).toMatch(/^n[12]$/);
});

test('a pod that is deleted while it waits gives its volume back', async () => {
  await using world = await waitingForBinder();
  await deletePod(world, 'web');
  await world.settle();
  expect(await claimRefs(world)).toEqual([]);
  await world.claim('other', '5Gi');
  await world.claim('another', '5Gi');
  await world.pod('heir', ['other']);
  await world.pod('second', ['another']);
  await world.settle();
  expect(await claimRefs(world)).toHaveLength(2);
});

test('a volume that another pod counts on stays when one of the two is deleted', async () => {
  await using world = await startBinding({ beside: ['protection'] });
  await world.disk('d1', '10Gi', 'n1');
  await withoutBinder(world);
  await world.claim('data', '5Gi');
  await world.pod('one', ['data']);
  await world.settle();
  await world.pod('other', ['data']);
  await world.settle();
  await deletePod(world, 'one');
  await world.settle();
  expect(await claimRefs(world)).toEqual(['d1 data']);
  runBeside(world, 'pv-binder');
  await world.settle();
  expect(await world.place('other')).toBe('n1');
  expect(await world.toldOf('other')).toEqual(['Scheduled: Successfully assigned default/other to n1']);
});

test('a node that is deleted while its pod waits for a disk there is left', async () => {
  await using world = await waitingForBinder();
  const [taken = ''] = (await claimRefs(world))[0]!.split(' ');
  const node = taken === 'd1' ? 'n1' : 'n2';
  await world.cluster.resource(nodes).delete({ name: node });
  await world.settle(2_000);
  expect(await world.toldOf('web')).toContainEqual(
    `FailedScheduling: binding volumes: node "${node}" not found`,
  );
  runBeside(world, 'pv-binder');
  await world.settle(2_000);
  expect(await world.place('web')).toBe(node === 'n1' ? 'n2' : 'n1');
});

test('a volume that another scheduler takes first ends in Conflict, and the pod takes another', async () => {
  let stolen = '';
  const way = (cluster: SchedulerWorld['cluster']) => {
    const troubled = new TroubledCluster(cluster);
    troubled.troubles = {
      before: async ({ plural, name }) => {
        if (plural !== 'persistentvolumes' || stolen !== '') return;
        stolen = name;
        await reserve(world, name, 'rival');
      },
    };
    return troubled;
  };
  await using world = await startBinding({ way });
  await world.disk('d1', '10Gi', 'n1');
  await world.disk('d2', '10Gi', 'n2');
  await world.claim('rival', '5Gi');
  await world.claim('data', '5Gi');
  await world.pod('web', ['data']);
  await world.settle(5_000);
  const left = stolen === 'd1' ? '2' : '1';
  expect(await world.lines()).toEqual(
    [
      `claim rival has ${stolen}`,
      `claim data has d${left}`,
      `disk ${stolen} Bound to rival`,
      `disk d${left} Bound to data`,
      `pod web on n${left}`,
    ].sort(),
  );
});

test('a provisioner that says no for one node is asked for another', async () => {
  const maker = new Maker();
  maker.answer = (_, node) => (node === 'n3' ? 'makes' : 'refuses');
  await using world = await startBinding({ maker });
  await world.claim('data', '5Gi', made);
  await world.pod('web', ['data']);
  await world.settle(10_000);
  expect(await world.place('web')).toBe('n3');
  expect(new Set(maker.asked).size).toBe(maker.asked.length);
});

test('a provisioner that says no everywhere is not asked in a circle', async () => {
  const maker = new Maker();
  maker.answer = () => 'refuses';
  await using world = await startBinding({ maker });
  await world.claim('data', '5Gi', made);
  await world.pod('web', ['data']);
  await world.settle(8_000);
  expect(maker.asked.toSorted()).toEqual(['data n1', 'data n2', 'data n3']);
  expect(await world.place('web')).toMatch('3 node(s) recently failed to provide a volume');
  await world.settle(52_000);
  expect(maker.asked.length).toBeLessThanOrEqual(9);
  maker.answer = () => 'makes';
  await world.settle(60_000);
  expect(await world.place('web')).toMatch(/^n/);
});

test('a selected node that is moved by hand takes the pod along', async () => {
  const maker = new Maker();
  await using world = await startBinding();
  await world.claim('data', '5Gi', made);
  await world.pod('web', ['data']);
  await world.settle();
  const other = (await selectedNode(world, 'data')) === 'n1' ? 'n2' : 'n1';
  await annotateClaim(world, 'data', { [annotations.selectedNode]: other });
  await world.settle(2_000);
  runMaker(world, maker);
  await world.settle(2_000);
  expect(maker.asked).toEqual([`data ${other}`]);
  expect(await world.place('web')).toBe(other);
});

test('a claim whose selected node is gone says so, and goes elsewhere once its provisioner has let go', async () => {
  await using world = await startBinding();
  await world.claim('data', '5Gi', made);
  await world.pod('web', ['data']);
  await world.settle();
  const node = (await selectedNode(world, 'data'))!;
  await world.cluster.resource(nodes).delete({ name: node });
  await world.settle(3_000);
  expect(await world.toldOf('web')).toContainEqual(
    expect.stringContaining(
      `VolumesPinPod: the volume of claim default/data is being made for node ${node}, which is gone`,
    ),
  );
  runMaker(world, new Maker());
  await world.settle(3_000);
  expect(await world.place('web')).toMatch(/^n/);
  expect(await world.place('web')).not.toBe(node);
});

test('a volume that comes after the time is up is adopted', async () => {
  const maker = new Maker();
  maker.answer = () => 'waits';
  await using world = await startBinding({ maker, scheduler: { bindTimeoutMs: 30_000 } });
  await world.claim('data', '5Gi', made);
  await world.pod('web', ['data']);
  await world.settle();
  const node = (await selectedNode(world, 'data'))!;
  await world.settle(70_000);
  expect(await world.toldOf('web')).toContainEqual(
    'FailedScheduling: binding volumes: context deadline exceeded',
  );
  maker.release();
  await world.settle(11_000);
  expect(await world.place('web')).toBe(node);
  expect(maker.asked).toEqual([`data ${node}`]);
});

test('a new volume that its node cannot reach makes the pod follow it', async () => {
  const maker = new Maker();
  maker.answer = (_, node) => ({ elsewhere: node === 'n1' ? 'n2' : 'n1' });
  await using world = await startBinding({ maker });
  await world.claim('data', '5Gi', made);
  await world.pod('web', ['data']);
  await world.settle(3_000);
  const [asked = ''] = maker.asked;
  expect(await world.place('web')).toBe(asked === 'data n1' ? 'n2' : 'n1');
  expect(await world.toldOf('web')).toContainEqual(
    expect.stringMatching(/^FailedScheduling: binding volumes: pv ".*" node affinity doesn't match node/),
  );
});
