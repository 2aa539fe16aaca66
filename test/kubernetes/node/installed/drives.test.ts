import { afterAll, describe, expect, test } from 'vitest';
import { csiNodes, csiStorageCapacities, persistentVolumes } from '../../../../src/kube/resources.ts';
import { type Drive, drives, drivesDriver } from '../../../../src/kube/stowage/drive.ts';
import { lacks, serverPrograms } from '../../vitest-beds.ts';
import { lacksXfs } from '../drive-requirements.ts';
import { eventually } from '../drives-on-node.ts';
import { leftBehind } from '../left-behind.ts';
import { LoopDrive } from '../loop-drive.ts';
import { lacksRealNode } from '../node-requirements.ts';
import type { RealNode } from '../real-node.ts';
import { initDrive } from './init-drives.ts';
import { InstalledBed } from './installed-bed.ts';
import { bundlesLogsAndMetrics } from './support-bundle.ts';
import { claimNamed, claimSpec, podWith, scheduled, withVolume } from './test-pods.ts';

const programs = [...serverPrograms, 'kube-controller-manager', 'kube-scheduler', 'kubelet', 'helm'] as const;
/** `stowage drives init` refuses smaller ones. */
const driveMiB = 600;
const mib = 2 ** 20;
const className = 'stowage-drives';
const daemonSet = ['daemonset', 'stowage-drives-node', '--namespace=kube-system'];

describe.skipIf(lacks('1.36', ...programs) || lacksRealNode() || lacksXfs())(
  'the driver of local drives, installed by the chart on two nodes',
  () => {
    afterAll(async () => expect(await leftBehind()).toEqual([]));

    test('a set keeps its data; volumes grow; drives are cordoned, lost and found; Helm removes all of it', {
      timeout: 1_800_000,
    }, async () => {
      // Created first, so that they end last: mounts of the nodes use them.
      const devices = { a: await emptyDrive(), b: await emptyDrive() };
      const bed = await InstalledBed.start();
      // No kernel here has XFS project quota; test/kubernetes/uml has one.
      await bed.install({ drives: { enabled: true, node: { unenforcedQuota: true } } });
      await initDrive(bed, 'a', devices.a.device);
      await initDrive(bed, 'b', devices.b.device);
      await untilDrives(
        bed,
        (all) => all.length === 2 && all.every(({ status }) => status?.state === 'Ready'),
      );
      for (const node of [bed.a, bed.b]) await untilRegistered(bed, node);

      await runsASet(bed);
      await bundlesLogsAndMetrics(bed);
      await keepsDataAcrossRestarts(bed);
      await growsOnline(bed);
      await servesInlineVolumes(bed);
      await respectsCordon(bed);
      await survivesLoss(bed, devices);
      await leavesNothing(bed);
    });
  },
);

async function emptyDrive(): Promise<LoopDrive> {
  return await LoopDrive.create({ sizeMiB: driveMiB, isFormatted: false });
}

/** One pod a node; what is left of each drive is published. */
async function runsASet(bed: InstalledBed): Promise<void> {
  await bed.apply(statefulSet);
  await bed.untilReady('db-0', 'db-1');
  for (const pod of ['db-0', 'db-1']) await bed.exec(pod, 'sh', '-c', `echo ${pod} > /data/file`);
  expect(await volumes(bed)).toEqual(['data-db-0 100Mi', 'data-db-1 100Mi']);
  const published = async () => (await bed.cluster.resource(csiStorageCapacities).list()).items;
  const figures = await eventually(
    published,
    (all) => all.length === 2 && all.every(({ capacity }) => capacity !== '0'),
  );
  // Helm's uninstallation then removes them: the garbage collector follows the owner.
  expect(figures.map(({ metadata }) => metadata?.ownerReferences?.[0]?.kind)).toEqual([
    'Deployment',
    'Deployment',
  ]);
}

/** The pod, the kubelet and the driver of its node end at the same time. */
async function keepsDataAcrossRestarts(bed: InstalledBed): Promise<void> {
  const node = (await bed.nodeOf('db-0')) === 'a' ? bed.a : bed.b;
  const uid = await bed.uidOf('db-0');
  await node.exec('pkill', '-9', '-f', 'services=node');
  await node.stopKubelet();
  await bed.kubectl('delete', 'pod', 'db-0', '--wait=false');
  await node.startKubelet();
  await bed.untilReplaced('db-0', uid);
  expect(await bed.nodeOf('db-0')).toBe(node.name);
  expect(await bed.exec('db-0', 'cat', '/data/file')).toBe('db-0');
}

async function growsOnline(bed: InstalledBed): Promise<void> {
  const uid = await bed.uidOf('db-0');
  const patch = { spec: { resources: { requests: { storage: '150Mi' } } } };
  await bed.kubectl('patch', 'pvc', 'data-db-0', '--patch', JSON.stringify(patch));
  await eventually(
    () => bed.kubectl('get', 'pvc', 'data-db-0', '-o', 'jsonpath={.status.capacity.storage}'),
    (size) => size === '150Mi',
  );
  expect(await volumes(bed)).toContain('data-db-0 150Mi');
  expect(await bed.uidOf('db-0')).toBe(uid);
  expect(await bed.exec('db-0', 'cat', '/data/file')).toBe('db-0');
}

async function servesInlineVolumes(bed: InstalledBed): Promise<void> {
  const volumeAttributes = { 'csi.storage.k8s.io/size': '40Mi' };
  await bed.apply(podWith('scratch', { csi: { driver: drivesDriver, volumeAttributes } }));
  await bed.untilReady('scratch');
  await bed.exec('scratch', 'sh', '-c', 'echo temporary > /data/file');
  expect(await volumes(bed)).toContain('pod scratch 40Mi');
  await bed.kubectl('delete', 'pod', 'scratch');
  await eventually(
    () => volumes(bed),
    (all) => all.length === 2,
  );
  // Too large for any drive: the pod is refused before a kubelet sees it.
  await bed.apply(
    podWith('huge', {
      csi: { driver: drivesDriver, volumeAttributes: { 'csi.storage.k8s.io/size': '1Gi' } },
    }),
  );
  await eventually(
    () => bed.kubectl('get', 'pod', 'huge', '-o', 'jsonpath={.status.conditions[0].reason}'),
    (reason) => reason === 'Unschedulable',
  );
  await bed.kubectl('delete', 'pod', 'huge');
}

/** A pod waits while both drives are cordoned, and gets the drive that is uncordoned. */
async function respectsCordon(bed: InstalledBed): Promise<void> {
  const all = await readDrives(bed);
  const nameOn = (node: string) => all.find(({ spec }) => spec?.nodeName === node)?.metadata?.name ?? '';
  await bed.stowage('drives', 'cordon', nameOn('a'), nameOn('b'));
  await bed.apply(
    claimNamed('later', className, '30Mi'),
    podWith('later', { persistentVolumeClaim: { claimName: 'later' } }),
  );
  await eventually(
    () => bed.kubectl('get', 'pod', 'later', '-o', 'jsonpath={.status.conditions[0].reason}'),
    (reason) => reason === 'Unschedulable',
  );
  await bed.stowage('drives', 'uncordon', nameOn('b'));
  await bed.untilReady('later');
  expect(await bed.nodeOf('later')).toBe('b');
  await bed.stowage('drives', 'uncordon', nameOn('a'));
  await bed.kubectl('delete', 'pod', 'later');
}

/** The device of a drive disappears and comes back under another name; the driver is away when that happens. */
async function survivesLoss(bed: InstalledBed, devices: { readonly a: LoopDrive }): Promise<void> {
  await bed.kubectl('scale', 'statefulset', 'db', '--replicas=0');
  await eventually(() => bed.kubectl('get', 'pods', '-o', 'name'), isEmpty);
  await eventually(() => mountsOfVolumes(bed.a), isEmpty);
  const before = await volumes(bed);
  const drive = (await readDrives(bed)).find(({ spec }) => spec?.nodeName === 'a');
  const uuid = drive?.spec?.filesystemUUID ?? '';
  const isState = (state: string) => (all: readonly Drive[]) =>
    all.some(({ spec, status }) => spec?.filesystemUUID === uuid && status?.state === state);

  await removeDrivers(bed);
  await bed.a.exec('umount', `/var/lib/stowage/drives/${uuid}`);
  await devices.a.detach();
  await returnDrivers(bed);
  await untilDrives(bed, isState('Lost'));
  expect(await volumes(bed)).toEqual(before);

  await devices.a.attach();
  // The driver looks every half minute, and when it starts.
  await bed.deletePods('drives-node', bed.a);
  await untilDrives(bed, isState('Ready'));
  await bed.untilRolledOut();
  await untilRegistered(bed, bed.a);
  await bed.kubectl('scale', 'statefulset', 'db', '--replicas=2');
  await bed.untilReady('db-0', 'db-1');
  for (const pod of ['db-0', 'db-1']) expect(await bed.exec(pod, 'cat', '/data/file')).toBe(pod);
}

async function removeDrivers(bed: InstalledBed): Promise<void> {
  const nodeSelector = { 'example.com/none': 'here' };
  await bed.kubectl(
    'patch',
    ...daemonSet,
    '--patch',
    JSON.stringify({ spec: { template: { spec: { nodeSelector } } } }),
  );
  const left = [
    'get',
    'pods',
    '-n',
    'kube-system',
    '-l',
    'app.kubernetes.io/component=drives-node',
    '-o',
    'name',
  ];
  await eventually(() => bed.kubectl(...left), isEmpty);
}

async function returnDrivers(bed: InstalledBed): Promise<void> {
  await bed.kubectl(
    'patch',
    ...daemonSet,
    '--type=json',
    '--patch',
    '[{"op":"remove","path":"/spec/template/spec/nodeSelector"}]',
  );
  await bed.untilRolledOut();
}

/** Volumes first, then the chart. */
async function leavesNothing(bed: InstalledBed): Promise<void> {
  await bed.kubectl('delete', 'statefulset', 'db');
  await bed.kubectl('delete', 'pvc', '--all');
  await eventually(async () => (await bed.cluster.resource(persistentVolumes).list()).items, isEmpty);
  await eventually(() => volumes(bed), isEmpty);
  for (const node of [bed.a, bed.b]) {
    // A kubelet unstages a volume some time after its last pod is gone.
    await eventually(() => mountsOfVolumes(node), isEmpty);
    await eventually(
      async () => (await node.exec('find', '/var/lib/stowage/drives', '-mindepth', '3')).stdout,
      isEmpty,
    );
  }
  await bed.uninstall();
  for (const { name } of [bed.a, bed.b]) {
    await eventually(() => registered(bed, name), isEmpty);
  }
  await eventually(async () => (await bed.cluster.resource(csiStorageCapacities).list()).items, isEmpty);
  // The ledgers stay: a new installation goes on with them.
  expect(await readDrives(bed)).toHaveLength(2);
}

/** Until the node's CSINode has the driver, which a kubelet writes for a driver that answered. */
async function untilRegistered(bed: InstalledBed, { name }: RealNode): Promise<void> {
  await eventually(
    () => registered(bed, name),
    (found) => found.includes(drivesDriver),
  );
}

async function registered(bed: InstalledBed, name: string): Promise<readonly string[]> {
  const { spec } = await bed.cluster.resource(csiNodes).get({ name });
  return (spec?.drivers ?? []).map((driver) => driver.name ?? '');
}

async function readDrives(bed: InstalledBed): Promise<readonly Drive[]> {
  return (await bed.cluster.resource(drives).list()).items;
}

async function untilDrives(bed: InstalledBed, isSo: (all: readonly Drive[]) => boolean): Promise<void> {
  await eventually(() => readDrives(bed), isSo);
}

/** Sorted, such as `data-db-0 100Mi`. */
async function volumes(bed: InstalledBed): Promise<readonly string[]> {
  return (await readDrives(bed))
    .flatMap(({ spec }) => spec?.volumes ?? [])
    .map(({ claimRef, podRef, sizeBytes }) => {
      const user = podRef === undefined ? claimRef?.name : `pod ${podRef.name}`;
      return `${user} ${sizeBytes / mib}Mi`;
    })
    .sort();
}

/** Mounts of volumes on the node, those of the drives themselves aside. */
async function mountsOfVolumes(node: RealNode): Promise<readonly string[]> {
  const { stdout } = await node.exec('cat', '/proc/self/mountinfo');
  return stdout.split('\n').filter((line) => / \/volumes\//.test(line));
}

function isEmpty(list: readonly unknown[] | string): boolean {
  return list.length === 0;
}

const statefulSet = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'db', namespace: 'default' },
  spec: {
    serviceName: 'db',
    replicas: 2,
    podManagementPolicy: 'Parallel',
    selector: { matchLabels: { app: 'db' } },
    template: {
      metadata: { labels: { app: 'db' } },
      spec: {
        ...scheduled,
        ...withVolume({}),
        volumes: [],
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'db' } } },
            ],
          },
        },
      },
    },
    volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claimSpec(className, '100Mi') }],
  },
};
