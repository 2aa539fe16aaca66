import { expect, test } from 'vitest';
import { diskSchedules } from '../../kube/stowage/disk-schedule.ts';
import { storageNodes } from '../../kube/stowage/storage-node.ts';
import { diskVolumes } from '../../kube/stowage/volume.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { VirtualTimeCluster } from '../testing/virtual-time-cluster.ts';
import { diskCaches } from './disk-caches.ts';
import { meterDisks } from './disk-metrics.ts';

test('disks and their requests are counted by state', async () => {
  await using trial = await VirtualTimeCluster.start();
  await trial.installOwnKinds();
  const { cluster } = trial;
  await cluster.resource(storageNodes).create({
    apiVersion: 'stowage.dev/v1alpha1',
    kind: 'StorageNode',
    metadata: { name: 'n1' },
    spec: {},
  });
  const client = cluster.resource(diskSchedules);
  const created = await client.create({
    apiVersion: 'stowage.dev/v1alpha1',
    kind: 'DiskSchedule',
    metadata: { name: 'disk-1' },
    spec: { name: 'd1', nodeID: 'n1', replicas: { a: 100, b: 50 } },
  });
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  const condition = { status: 'True', reason: 'R', message: 'm', lastTransitionTime } as const;
  await client.update(
    {
      ...created,
      status: {
        observedGeneration: 1,
        storageLimit: 1000,
        storageScheduled: 100,
        replicas: { a: { state: 'scheduled', scheduledSize: 100, observedSize: 100 } },
        conditions: [
          { ...condition, type: 'Ready' },
          { ...condition, type: 'Schedulable', status: 'False', reason: 'OverCommitted' },
        ],
      },
    },
    { subresource: 'status' },
  );
  const volumeClient = cluster.resource(diskVolumes);
  const volume = await volumeClient.create({
    apiVersion: 'stowage.dev/v1alpha1',
    kind: 'Volume',
    metadata: { name: 'v' },
    spec: { size: 10 },
  });
  await volumeClient.update({ ...volume, status: { robustness: 'faulted' } }, { subresource: 'status' });
  const metrics = new Metrics();
  let stop = () => {};
  trial.run([
    {
      name: 'metrics',
      run: async ({ informers }) => {
        stop = meterDisks(metrics, diskCaches(informers));
      },
    },
  ]);
  await trial.settle(1_000);
  const lines = metrics.render().split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'stowage_disks{state="over-committed"} 1',
      'stowage_disks{state="ready"} 0',
      'stowage_disk_requests{state="scheduled"} 1',
      'stowage_disk_requests{state="pending"} 1',
      'stowage_disk_limit_bytes{storage_node="n1",disk="d1",disk_uuid="disk-1"} 1000',
      'stowage_disk_scheduled_bytes{storage_node="n1",disk="d1",disk_uuid="disk-1"} 100',
      'stowage_storage_nodes_not_ready 1',
      'stowage_disk_volumes{robustness="faulted"} 1',
      'stowage_disk_volumes{robustness="healthy"} 0',
    ]),
  );
  stop();
});
