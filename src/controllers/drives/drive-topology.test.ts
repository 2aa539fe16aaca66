import { expect, test } from 'vitest';
import { csiNodes, persistentVolumes, pods } from '../../kube/resources.ts';
import { drives, drivesDriver } from '../../kube/stowage/drive.ts';
import {
  addClass,
  addDrive,
  addPod,
  namespace,
  phases,
  rackKey,
  relabel,
  start,
  zoneKey,
} from './testing/drives-cluster.ts';

test('allowedTopologies by zone or rack find drives, and volumes are pinned to their node alone', async () => {
  const started = await start('n1', 'n2', 'n3');
  await using _ = started.environment;
  const { cluster, environment, failed } = started;
  await relabel(started, 'n1', { [zoneKey]: 'a', [rackKey]: 'k1' });
  await relabel(started, 'n2', { [zoneKey]: 'b', [rackKey]: 'k2' });
  await relabel(started, 'n3', { [zoneKey]: 'b', [rackKey]: 'k3' });
  for (const node of ['n1', 'n2', 'n3']) await addDrive(started, `${node}-a`, node, 10);
  await addClass(started, 'zone-b', zoneKey, 'b');
  await addClass(started, 'rack-3', rackKey, 'k3');
  await addClass(started, 'zone-a-at-once', zoneKey, 'a', true);
  await environment.settle(2_000);
  const keys = [rackKey, 'stowage.dev/node', zoneKey];
  expect((await cluster.resource(csiNodes).get({ name: 'n3' })).spec?.drivers).toEqual([
    { name: drivesDriver, nodeID: 'n3', topologyKeys: keys },
  ]);
  expect((await cluster.resource(drives).get({ name: 'n3-a' })).status?.topology).toEqual({
    'stowage.dev/node': 'n3',
    [zoneKey]: 'b',
    [rackKey]: 'k3',
  });
  await addPod(started, 'zonal', [1], 'zone-b');
  await addPod(started, 'racked', [1], 'rack-3');
  await addPod(started, 'early', [1], 'zone-a-at-once');
  await environment.settle(10_000);
  const { items } = await cluster.resource(pods).list();
  const placed = items.map(({ metadata, spec }) => [metadata?.name, spec?.nodeName]);
  const at = Object.fromEntries(placed);
  expect(at).toMatchObject({ early: 'n1', racked: 'n3', zonal: expect.stringMatching(/^n[23]$/) });
  const { items: volumes } = await cluster.resource(persistentVolumes).list();
  const pinned = volumes.map(({ spec }) => spec?.nodeAffinity?.required?.nodeSelectorTerms);
  expect(pinned.flat()).toEqual(
    volumes.map(() => ({
      matchExpressions: [{ key: 'stowage.dev/node', operator: 'In', values: [expect.any(String)] }],
    })),
  );
  expect(failed).toEqual([]);
});

test('a Node that is relabelled moves its drives to another zone, and its volumes stay usable', async () => {
  const started = await start('n1');
  await using _ = started.environment;
  const { cluster, environment } = started;
  await addDrive(started, 'n1-a', 'n1', 10);
  await addClass(started, 'zone-b', zoneKey, 'b');
  await addPod(started, 'before', [1]);
  await addPod(started, 'waiting', [1], 'zone-b');
  await environment.settle(10_000);
  expect(await phases(started)).toEqual(['before Running', 'waiting Pending']);
  await relabel(started, 'n1', { [zoneKey]: 'b' });
  await environment.settle(60_000);
  expect(await phases(started)).toEqual(['before Running', 'waiting Running']);
  await relabel(started, 'n1', { [zoneKey]: null });
  await environment.settle(10_000);
  expect((await cluster.resource(drives).get({ name: 'n1-a' })).status?.topology).toEqual({
    'stowage.dev/node': 'n1',
  });
  expect((await cluster.resource(csiNodes).get({ name: 'n1' })).spec?.drivers).toMatchObject([
    { topologyKeys: ['stowage.dev/node'] },
  ]);
  await cluster.resource(pods).delete({ namespace, name: 'waiting' }, { gracePeriodSeconds: 0 });
  await cluster.resource(pods).create({
    metadata: { namespace, name: 'again' },
    spec: {
      schedulerName: 'stowage',
      containers: [{ name: 'main', image: 'registry.example.com/app:1' }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'waiting-0' } }],
    },
  });
  await environment.settle(10_000);
  expect(await phases(started)).toEqual(['again Running', 'before Running']);
});

test('an entry in the CSINode with a key that only another process knows stays', async () => {
  const started = await start('n1');
  await using _ = started.environment;
  const { cluster, environment } = started;
  const topologyKeys = ['example.com/row', 'stowage.dev/node'];
  const entries = [{ name: drivesDriver, nodeID: 'n1', topologyKeys }];
  await cluster.resource(csiNodes).create({ metadata: { name: 'n1' }, spec: { drivers: entries } });
  await relabel(started, 'n1', { [zoneKey]: 'a' });
  await addDrive(started, 'n1-a', 'n1', 10);
  await environment.settle(2_000);
  expect((await cluster.resource(csiNodes).get({ name: 'n1' })).spec?.drivers).toEqual(entries);
});
