import { expect, test } from 'vitest';
import { JoiningDriverSet } from '../../../csi/joining-driver-set.ts';
import type { Pod } from '../../../kube/api/core.ts';
import { nodes, pods, statefulSets, storageClasses } from '../../../kube/resources.ts';
import { drives, drivesDriver } from '../../../kube/stowage/drive.ts';
import { allControllers } from '../../all-controllers.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';

const gib = 2 ** 30;
const namespace = 'default';
const size = { cpu: '8', memory: '32Gi', pods: '200' };
const containers = [{ name: 'main', image: 'registry.example.com/app:1' }];

/** All controllers, the driver of drives among them, and drives of so many GiB on nodes. */
async function start(fleet: readonly (readonly [string, string, number])[]) {
  const environment = await VirtualTimeCluster.start();
  await environment.installOwnKinds();
  const { cluster } = environment;
  for (const name of new Set(fleet.map(([, node]) => node)))
    await cluster
      .resource(nodes)
      .create({ metadata: { name }, status: { allocatable: size, capacity: size } });
  const inProcessDrivers = new JoiningDriverSet();
  const failed: unknown[] = [];
  inProcessDrivers.onJoin((driver) =>
    driver.onCallEnd(({ method, error }) => {
      if (method === 'CreateVolume' && error !== undefined) failed.push(error);
    }),
  );
  environment.run(allControllers({ csiDrivers: inProcessDrivers, inProcessDrivers }));
  for (const [at, [name, nodeName, sizeGib]] of fleet.entries()) {
    const filesystemUUID = `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`;
    const created = await cluster.resource(drives).create({
      apiVersion: 'stowage.dev/v1alpha1',
      kind: 'Drive',
      metadata: { name },
      spec: { nodeName, filesystemUUID },
    });
    const status = { capacityBytes: sizeGib * gib, state: 'Ready' };
    await cluster.resource(drives).update({ ...created, status }, { subresource: 'status' });
  }
  await environment.settle(1_000);
  return { environment, cluster, failed };
}

test('the volumes of a StatefulSet are spread over drives, and no CreateVolume is refused on the way', async () => {
  const { environment, cluster, failed } = await start([
    ['a', 'n1', 100],
    ['b', 'n1', 10],
    ['c', 'n2', 10],
  ]);
  await using _ = environment;
  await cluster.resource(storageClasses).create({
    metadata: { name: 'spread' },
    provisioner: drivesDriver,
    volumeBindingMode: 'WaitForFirstConsumer',
    parameters: { spreadBy: 'claim-owner' },
  });
  const labels = { app: 'db' };
  await cluster.resource(statefulSets).create({
    metadata: { namespace, name: 'db' },
    spec: {
      replicas: 4,
      serviceName: 'db',
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { schedulerName: 'stowage', containers } },
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: {
            storageClassName: 'spread',
            accessModes: ['ReadWriteOnce'],
            resources: { requests: { storage: '5Gi' } },
          },
        },
      ],
    },
  });
  await environment.settle(30_000);
  expect(failed).toEqual([]);
  const { items: ledgers } = await cluster.resource(drives).list();
  expect(ledgers.map(({ spec }) => spec?.volumes?.map(({ spreadGroup }) => spreadGroup))).toEqual([
    ['default/db'],
    ['default/db'],
    ['default/db'],
  ]);
  const { items } = await cluster.resource(pods).list({ namespace });
  const waiting = items.filter(({ spec }) => spec?.nodeName === undefined);
  expect(waiting.map(({ status }) => status?.conditions?.[0]?.message)).toEqual([
    expect.stringContaining('2 node(s) had too few drives without a volume of the same owner'),
  ]);
});

test('inline volumes on drives wait for bytes that another pod has, and get them when it goes', async () => {
  const { environment, cluster } = await start([['a', 'n1', 10]]);
  await using _ = environment;
  const create = (name: string) =>
    cluster.resource(pods).create({
      metadata: { namespace, name },
      spec: {
        schedulerName: 'stowage',
        containers,
        volumes: [{ name: 'scratch', csi: { driver: drivesDriver, fsSize: '8Gi' } }],
      },
    });
  const get = async (name: string): Promise<Pod> => await cluster.resource(pods).get({ namespace, name });
  await create('first');
  await environment.settle(10_000);
  await create('second');
  await environment.settle(10_000);
  expect((await get('first')).spec?.nodeName).toBe('n1');
  const second = await get('second');
  expect(second.spec?.nodeName).toBeUndefined();
  expect(second.status?.conditions?.[0]?.message).toContain('inline volume scratch, drive a');
  await cluster.resource(pods).delete({ namespace, name: 'first' });
  await environment.settle(60_000);
  expect((await get('second')).spec?.nodeName).toBe('n1');
});
