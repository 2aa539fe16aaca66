import { expect, test } from 'vitest';
import { provisionerController } from '../../../controllers/provisioner/provisioner-controller.ts';
import { SchedulerFixture } from '../../../controllers/scheduler/testing/scheduler-fixture.ts';
import { csiStorageCapacities, nodes, persistentVolumeClaims } from '../../../kube/resources.ts';
import { PoolDriver } from './pool-driver.ts';

/** A scheduler, a provisioner and the driver; nodes with pools as given. */
async function demoClusterView(pools: Readonly<Record<string, string>>): Promise<SchedulerFixture> {
  const driver = new PoolDriver();
  const provisioner = provisionerController({ provisioners: [driver.provisioner] });
  const view = await SchedulerFixture.start({
    nodes: Object.keys(pools),
    otherControllers: ['pv-binder', 'protection', 'node-agent'],
    extraControllers: [driver.controller, provisioner],
  });
  await view.storageClass('pools', { provisioner: 'pools.demo.stowage.dev' });
  for (const [name, pool] of Object.entries(pools)) await resize(view, name, pool);
  await view.settle();
  return view;
}

async function resize(view: SchedulerFixture, name: string, pool: string | null): Promise<void> {
  const body = { metadata: { annotations: { 'demo.stowage.dev/pool': pool } } };
  await view.cluster.resource(nodes).patch({ name }, { type: 'merge', body });
}

async function published(view: SchedulerFixture): Promise<readonly string[]> {
  const { items } = await view.cluster.resource(csiStorageCapacities).list();
  return items.map(({ metadata, capacity }) => `${metadata?.name} ${capacity}`).sort();
}

async function use(view: SchedulerFixture, name: string, size: string): Promise<void> {
  await view.claim(name, size, { storageClassName: 'pools' });
  await view.pod(name, [name]);
  await view.settle(5_000);
}

test('what is left of each pool is published, and follows what is taken and given back', async () => {
  await using view = await demoClusterView({ n1: '100Gi', n2: '50Gi' });
  expect(await published(view)).toEqual(['demo-pools-n1 100Gi', 'demo-pools-n2 50Gi']);
  await use(view, 'a', '60Gi');
  expect(await published(view)).toEqual(['demo-pools-n1 40Gi', 'demo-pools-n2 50Gi']);
  await view.deletePod('a');
  await view.cluster.resource(persistentVolumeClaims).delete({ namespace: 'default', name: 'a' });
  await view.settle(60_000);
  expect(await published(view)).toEqual(['demo-pools-n1 100Gi', 'demo-pools-n2 50Gi']);
});

test('a pool may grow, shrink below what is taken, and go away', async () => {
  await using view = await demoClusterView({ n1: '100Gi' });
  await use(view, 'a', '60Gi');
  await resize(view, 'n1', '200Gi');
  await view.settle(2_000);
  expect(await published(view)).toEqual(['demo-pools-n1 140Gi']);
  await resize(view, 'n1', '10Gi');
  await view.settle(2_000);
  expect(await published(view)).toEqual(['demo-pools-n1 0']);
  await resize(view, 'n1', null);
  await view.settle(2_000);
  expect(await published(view)).toEqual([]);
});

test('what a driver before us made is known before anybody is served', async () => {
  await using view = await demoClusterView({ n1: '100Gi' });
  await use(view, 'a', '60Gi');
  await view.stopControllers();
  const driver = new PoolDriver();
  const provisioner = provisionerController({ provisioners: [driver.provisioner] });
  view.startControllers({
    otherControllers: ['pv-binder', 'node-agent'],
    extraControllers: [driver.controller, provisioner],
  });
  await use(view, 'b', '60Gi');
  expect(await published(view)).toEqual(['demo-pools-n1 40Gi']);
});

test('free capacity is found although other pods have just taken some', async () => {
  await using view = await demoClusterView({ n1: '100Gi' });
  await use(view, 'a', '40Gi');
  await use(view, 'b', '40Gi');
  await use(view, 'c', '40Gi');
  expect([await view.place('a'), await view.place('b')]).toEqual(['n1', 'n1']);
  expect(await published(view)).toEqual(['demo-pools-n1 20Gi']);
});
