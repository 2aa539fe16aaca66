import { expect, test } from 'vitest';
import { provisionerController } from '../../controllers/provisioner/provisioner-controller.ts';
import { SchedulerFixture } from '../../controllers/scheduler/testing/scheduler-fixture.ts';
import { csiStorageCapacities, nodes, persistentVolumeClaims } from '../../kube/resources.ts';
import { PoolDriver } from './pool-driver.ts';

/** A scheduler, a provisioner and the driver; nodes with pools as given. */
async function demoWorld(pools: Readonly<Record<string, string>>): Promise<SchedulerFixture> {
  const driver = new PoolDriver();
  const provisioner = provisionerController({ provisioners: [driver.provisioner] });
  const world = await SchedulerFixture.start({
    nodes: Object.keys(pools),
    otherControllers: ['pv-binder', 'protection', 'node-agent'],
    extraControllers: [driver.controller, provisioner],
  });
  await world.storageClass('pools', { provisioner: 'pools.demo.stowage.dev' });
  for (const [name, pool] of Object.entries(pools)) await resize(world, name, pool);
  await world.settle();
  return world;
}

async function resize(world: SchedulerFixture, name: string, pool: string | null): Promise<void> {
  const body = { metadata: { annotations: { 'demo.stowage.dev/pool': pool } } };
  await world.cluster.resource(nodes).patch({ name }, { type: 'merge', body });
}

async function published(world: SchedulerFixture): Promise<readonly string[]> {
  const { items } = await world.cluster.resource(csiStorageCapacities).list();
  return items.map(({ metadata, capacity }) => `${metadata?.name} ${capacity}`).sort();
}

async function use(world: SchedulerFixture, name: string, size: string): Promise<void> {
  await world.claim(name, size, { storageClassName: 'pools' });
  await world.pod(name, [name]);
  await world.settle(5_000);
}

test('what is left of each pool is published, and follows what is taken and given back', async () => {
  await using world = await demoWorld({ n1: '100Gi', n2: '50Gi' });
  expect(await published(world)).toEqual(['demo-pools-n1 100Gi', 'demo-pools-n2 50Gi']);
  await use(world, 'a', '60Gi');
  expect(await published(world)).toEqual(['demo-pools-n1 40Gi', 'demo-pools-n2 50Gi']);
  await world.deletePod('a');
  await world.cluster.resource(persistentVolumeClaims).delete({ namespace: 'default', name: 'a' });
  await world.settle(60_000);
  expect(await published(world)).toEqual(['demo-pools-n1 100Gi', 'demo-pools-n2 50Gi']);
});

test('a pool may grow, shrink below what is taken, and go away', async () => {
  await using world = await demoWorld({ n1: '100Gi' });
  await use(world, 'a', '60Gi');
  await resize(world, 'n1', '200Gi');
  await world.settle(2_000);
  expect(await published(world)).toEqual(['demo-pools-n1 140Gi']);
  await resize(world, 'n1', '10Gi');
  await world.settle(2_000);
  expect(await published(world)).toEqual(['demo-pools-n1 0']);
  await resize(world, 'n1', null);
  await world.settle(2_000);
  expect(await published(world)).toEqual([]);
});

test('what a driver before us made is known before anybody is served', async () => {
  await using world = await demoWorld({ n1: '100Gi' });
  await use(world, 'a', '60Gi');
  await world.pause();
  const driver = new PoolDriver();
  const provisioner = provisionerController({ provisioners: [driver.provisioner] });
  world.resume({ otherControllers: ['pv-binder', 'node-agent'], extraControllers: [driver.controller, provisioner] });
  await use(world, 'b', '60Gi');
  expect(await published(world)).toEqual(['demo-pools-n1 40Gi']);
});

test('room that is left is found, though others have just taken some', async () => {
  await using world = await demoWorld({ n1: '100Gi' });
  await use(world, 'a', '40Gi');
  await use(world, 'b', '40Gi');
  await use(world, 'c', '40Gi');
  expect([await world.place('a'), await world.place('b')]).toEqual(['n1', 'n1']);
  expect(await published(world)).toEqual(['demo-pools-n1 20Gi']);
});
