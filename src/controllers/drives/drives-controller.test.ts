import { expect, test } from 'vitest';
import {
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  events,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  storageClasses,
} from '../../kube/resources.ts';
import { formatDriftRecord } from '../../kube/stowage/drift-record.ts';
import { drives, drivesDriver } from '../../kube/stowage/drive.ts';
import { annotations } from '../../kube/well-known.ts';
import { addDrive, addPod, gib, namespace, phases, start } from './testing/drives-cluster.ts';

test('a Drive and a claim are enough: the claim is bound and the pod runs', async () => {
  const started = await start('n1', 'n2');
  await using _ = started.environment;
  const { cluster, environment } = started;
  await addDrive(started, 'n1-b7f6', 'n1', 10);
  await environment.settle(1_000);
  expect(await cluster.resource(csiDrivers).get({ name: drivesDriver })).toMatchObject({
    spec: { storageCapacity: true, podInfoOnMount: true, attachRequired: false },
  });
  expect(await cluster.resource(storageClasses).get({ name: 'stowage-drives' })).toMatchObject({
    provisioner: drivesDriver,
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  expect((await cluster.resource(nodes).get({ name: 'n1' })).metadata?.labels).toMatchObject({
    'stowage.dev/node': 'n1',
  });
  expect((await cluster.resource(csiNodes).get({ name: 'n1' })).spec?.drivers).toEqual([
    { name: drivesDriver, nodeID: 'n1', topologyKeys: ['stowage.dev/node'] },
  ]);
  await addPod(started, 'db', [4]);
  await environment.settle(5_000);
  expect(await phases(started)).toEqual(['db Running']);
  const claim = await cluster.resource(persistentVolumeClaims).get({ namespace, name: 'db-0' });
  expect(claim.status?.phase).toBe('Bound');
  expect(claim.metadata?.annotations?.[annotations.drive]).toBe('n1-b7f6');
  const { spec, status } = await cluster.resource(drives).get({ name: 'n1-b7f6' });
  expect(spec?.volumes).toMatchObject([
    { name: `pvc-${claim.metadata?.uid}`, sizeBytes: 4 * gib, claimRef: { namespace, name: 'db-0' } },
  ]);
  expect(status?.state).toBe('Ready');
});

test('a drive that fails is reported by an Event on the claim of its volume', async () => {
  const started = await start('n1');
  await using _ = started.environment;
  const { cluster, environment } = started;
  await addDrive(started, 'n1-a', 'n1', 10);
  await addPod(started, 'db', [4]);
  await environment.settle(5_000);
  const claim = await cluster.resource(persistentVolumeClaims).get({ namespace, name: 'db-0' });
  const body = { status: { state: 'Error' } };
  await cluster.resource(drives).patch({ name: 'n1-a' }, { type: 'merge', body }, { subresource: 'status' });
  await environment.settle(1_000);
  const { items } = await cluster.resource(events).list();
  const failures = items.filter(({ reason }) => reason === 'DriveError');
  expect(failures.map(({ regarding }) => regarding?.uid)).toContain(claim.metadata?.uid);
  expect(failures).toHaveLength(2);
});

test('volumes of other drivers work on simulated nodes with drives', async () => {
  const started = await start('n1');
  await using _ = started.environment;
  const { cluster, environment } = started;
  await addDrive(started, 'n1-a', 'n1', 10);
  await environment.settle(1_000);
  const spec = { storageClassName: '', accessModes: ['ReadWriteOnce' as const] };
  await cluster.resource(persistentVolumes).create({
    metadata: { name: 'other' },
    spec: { ...spec, capacity: { storage: '1Gi' }, csi: { driver: 'csi.example.com', volumeHandle: 'h' } },
  });
  await cluster.resource(persistentVolumeClaims).create({
    metadata: { namespace, name: 'other' },
    spec: { ...spec, volumeName: 'other', resources: { requests: { storage: '1Gi' } } },
  });
  await cluster.resource(pods).create({
    metadata: { namespace, name: 'app' },
    spec: {
      schedulerName: 'stowage',
      containers: [{ name: 'main', image: 'registry.example.com/app:1' }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'other' } }],
    },
  });
  await environment.settle(10_000);
  expect(await phases(started)).toEqual(['app Running']);
});

test('an invalid class is named by Events of the pod and of the claim', async () => {
  const started = await start('n1');
  await using _ = started.environment;
  const { cluster, environment, failed } = started;
  await addDrive(started, 'n1-a', 'n1', 10);
  await cluster.resource(storageClasses).create({
    metadata: { name: 'ext4' },
    provisioner: drivesDriver,
    volumeBindingMode: 'WaitForFirstConsumer',
    parameters: { 'csi.storage.k8s.io/fstype': 'ext4' },
  });
  await addPod(started, 'db', [1], 'ext4');
  await environment.settle(5_000);
  const problem = 'parameter csi.storage.k8s.io/fstype: drives have the filesystem xfs, not "ext4"';
  const lines = (await environment.eventLines()).filter((line) => line.includes(problem)).join('\n');
  expect(lines).toContain('FailedScheduling');
  expect(lines).toContain('ProvisioningFailed');
  expect(failed).toEqual([]);
});

test('pods that fill all drives exactly cause no failed CreateVolume', async () => {
  const started = await start('n1', 'n2');
  await using _ = started.environment;
  const { environment } = started;
  await addDrive(started, 'a', 'n1', 10);
  await addDrive(started, 'b', 'n1', 10);
  await addDrive(started, 'c', 'n2', 15);
  await addDrive(started, 'd', 'n2', 5);
  await environment.settle(1_000);
  for (let at = 0; at < 8; at += 1) await addPod(started, `pod-${at}`, [5]);
  await addPod(started, 'too-large', [8, 8]);
  await environment.settle(30_000);
  const lines = await phases(started);
  expect(lines.filter((line) => line.endsWith('Running'))).toHaveLength(8);
  expect(lines).toContain('too-large Pending');
  expect(started.failed).toEqual([]);
});

test('a change of a Drive is published at once, and only figures of its node are measured', async () => {
  const started = await start('n1', 'n2');
  await using _ = started.environment;
  const { cluster, environment, measured } = started;
  for (const node of ['n1', 'n2']) await addDrive(started, `${node}-a`, node, 10);
  await environment.settle(10_000);
  const published = async () => {
    const { items } = await cluster.resource(csiStorageCapacities).list();
    return items.map(({ nodeTopology, capacity }) => {
      return `${nodeTopology?.matchLabels?.['stowage.dev/node']} ${capacity}`;
    });
  };
  expect((await published()).sort()).toEqual(['n1 10Gi', 'n2 10Gi']);
  measured.length = 0;
  const change = (body: object) =>
    cluster.resource(drives).patch({ name: 'n1-a' }, { type: 'merge', body }, {});
  await change({ spec: { unschedulable: true } });
  await environment.settle(1_500);
  expect((await published()).sort()).toEqual(['n1 0', 'n2 10Gi']);
  await change({ spec: { unschedulable: false } });
  await environment.settle(1_500);
  await addDrive(started, 'n1-b', 'n1', 5);
  await environment.settle(1_500);
  expect((await published()).sort()).toEqual(['n1 15Gi', 'n2 10Gi']);
  await cluster.resource(drives).delete({ name: 'n1-a' });
  await environment.settle(1_500);
  expect((await published()).sort()).toEqual(['n1 5Gi', 'n2 10Gi']);
  expect(new Set(measured)).toEqual(new Set(['n1']));
});

test('a drive that is added, cordoned, lost or removed is not drift, and a record of an earlier version is removed', async () => {
  const started = await start('n1');
  await using _ = started.environment;
  const { cluster, environment } = started;
  const client = cluster.resource(drives);
  const figures = cluster.resource(csiStorageCapacities);
  const findings = async () => {
    const { items } = await figures.list();
    const rendered = environment.metrics.render().match(/^stowage_capacity_(drift|unknown).* [1-9]\d*$/gm);
    return [items.map(({ metadata }) => metadata?.annotations?.[annotations.drift]), rendered ?? []];
  };
  await addDrive(started, 'n1-a', 'n1', 10);
  await addPod(started, 'db', [1]);
  await environment.settle(130_000);
  await addDrive(started, 'n1-b', 'n1', 20);
  await environment.settle(130_000);
  expect(await findings(), 'added').toEqual([[undefined], []]);
  const { items } = await figures.list();
  const { namespace: of = '', name = '' } = items[0]?.metadata ?? {};
  const last = { measuredAt: '2026-01-01T08:00:00Z', free: '9Gi', ours: '1Gi', otherClasses: '0' };
  const record = formatDriftRecord({ baseline: last, last, kind: 'none', difference: '0' });
  const body = { metadata: { annotations: { [annotations.drift]: record } } };
  await figures.patch({ namespace: of, name }, { type: 'merge', body });
  await client.patch({ name: 'n1-b' }, { type: 'merge', body: { spec: { unschedulable: true } } });
  await environment.settle(130_000);
  expect(await findings(), 'cordoned').toEqual([[undefined], []]);
  const lost = { status: { state: 'Lost' } };
  await client.patch({ name: 'n1-a' }, { type: 'merge', body: lost }, { subresource: 'status' });
  await environment.settle(130_000);
  expect(await findings(), 'lost').toEqual([[undefined], []]);
  await client.delete({ name: 'n1-b' });
  await environment.settle(130_000);
  expect(await findings(), 'removed').toEqual([[undefined], []]);
});

test('an entry that nothing uses is named on its Drive after two comparisons, and stays', async () => {
  const started = await start('n1');
  await using _ = started.environment;
  const { cluster, environment } = started;
  await addDrive(started, 'n1-a', 'n1', 10);
  const client = cluster.resource(drives);
  const change = (volumes: readonly object[]) =>
    client.patch({ name: 'n1-a' }, { type: 'merge', body: { spec: { volumes } } }, {});
  const conditions = async () => (await client.get({ name: 'n1-a' })).status?.conditions;
  await addPod(started, 'db', [1]);
  await environment.settle(130_000);
  expect(await conditions()).toBeUndefined();
  const used = (await client.get({ name: 'n1-a' })).spec?.volumes ?? [];
  const claimRef = { namespace, name: 'gone', uid: '11111111-2222-4333-8444-555555555555' };
  await change([...used, { name: 'pvc-gone', sizeBytes: gib, claimRef }]);
  await environment.settle(125_000);
  const message = 'volume pvc-gone takes 1Gi, and has no PersistentVolume; claim default/gone is gone';
  expect(await conditions()).toMatchObject([
    { type: 'LedgerMatches', status: 'False', reason: 'LeakedVolumes', message },
  ]);
  expect((await environment.eventLines()).join('\n')).toContain(`LeakedVolumes`);
  expect((await client.get({ name: 'n1-a' })).spec?.volumes).toHaveLength(2);
  await change([]);
  await environment.settle(125_000);
  expect(await conditions()).toMatchObject([{ status: 'False', reason: 'MissingEntries' }]);
  expect((await environment.eventLines()).join('\n')).toContain('of drive n1-a: its bytes are not counted');
  await change(used);
  await environment.settle(65_000);
  expect(await conditions()).toMatchObject([{ type: 'LedgerMatches', status: 'True', reason: 'Matches' }]);
});

test('kube-scheduler sees one figure for each node and class: the sum, and the largest drive', async () => {
  const started = await start('n1');
  await using _ = started.environment;
  const { cluster, environment } = started;
  await addDrive(started, 'a', 'n1', 10);
  await addDrive(started, 'b', 'n1', 4);
  await environment.settle(120_000);
  const { items } = await cluster.resource(csiStorageCapacities).list();
  expect(items).toMatchObject([
    { storageClassName: 'stowage-drives', capacity: '14Gi', maximumVolumeSize: '10Gi' },
  ]);
});
