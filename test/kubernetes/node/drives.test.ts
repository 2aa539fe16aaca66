import { afterAll, describe, expect, test } from 'vitest';
import { persistentVolumes, pods } from '../../../src/kube/resources.ts';
import type { Drive } from '../../../src/kube/stowage/drive.ts';
import { lacks, serverPrograms } from '../vitest-beds.ts';
import { busyboxImage } from './busybox-image.ts';
import { lacksXfs } from './drive-requirements.ts';
import { DrivesOnNode, eventually } from './drives-on-node.ts';
import { leftBehind } from './left-behind.ts';
import { LoopDrive } from './loop-drive.ts';
import { lacksRealNode } from './node-requirements.ts';

const mib = 2 ** 20;
const container = {
  name: 'c',
  image: busyboxImage,
  imagePullPolicy: 'Never',
  command: ['sh', '-c', 'trap "exit 0" TERM; while :; do sleep 1; done'],
  volumeMounts: [{ name: 'data', mountPath: '/data' }],
};
const podSpec = { schedulerName: 'stowage', terminationGracePeriodSeconds: 1, containers: [container] };

describe.skipIf(
  lacks('1.36', ...serverPrograms, 'kube-controller-manager', 'kubelet') || lacksRealNode() || lacksXfs(),
)('local drives on a real node', () => {
  afterAll(async () => expect(await leftBehind()).toEqual([]));

  test('a StatefulSet keeps its data; volumes grow; drives are cordoned, lost and found; nothing is left', {
    timeout: 1_200_000,
  }, async () => {
    const bed = await DrivesOnNode.start({ driveCount: 2 });
    await bed.apply(statefulSet());
    await bed.kubectl('rollout', 'status', 'statefulset/db', '--timeout=300s');
    for (const pod of ['db-0', 'db-1'])
      await bed.kubectl('exec', pod, '--', 'sh', '-c', `echo ${pod} > /data/file`);
    expect(volumesOf(await bed.drives())).toEqual(['data-db-0 100Mi', 'data-db-1 100Mi']);

    await keepsDataAcrossRestarts(bed);
    await growsOnline(bed);
    await servesInlineVolumes(bed);
    await respectsCordon(bed);
    await survivesLoss(bed);
    await leavesNothing(bed);
  });
});

/** The pod, the kubelet and the driver end at the same time, the driver without notice. */
async function keepsDataAcrossRestarts(bed: DrivesOnNode): Promise<void> {
  await bed.stopDriver('SIGKILL');
  await bed.node.stopKubelet();
  await bed.startDriver();
  await bed.node.startKubelet();
  const before = await uidOf(bed, 'db-0');
  await bed.kubectl('delete', 'pod', 'db-0');
  await eventually(
    () => uidOf(bed, 'db-0').catch(() => before),
    (uid) => uid !== before,
  );
  await bed.kubectl('wait', '--for=condition=Ready', 'pod/db-0', '--timeout=300s');
  expect(await bed.kubectl('exec', 'db-0', '--', 'cat', '/data/file')).toBe('db-0');
}

async function growsOnline(bed: DrivesOnNode): Promise<void> {
  const patch = { spec: { resources: { requests: { storage: '150Mi' } } } };
  await bed.kubectl('patch', 'pvc', 'data-db-0', '--patch', JSON.stringify(patch));
  const capacity = 'jsonpath={.status.capacity.storage}';
  await eventually(
    () => bed.kubectl('get', 'pvc', 'data-db-0', '-o', capacity),
    (size) => size === '150Mi',
  );
  expect(volumesOf(await bed.drives())).toContain('data-db-0 150Mi');
  expect(await bed.kubectl('exec', 'db-0', '--', 'cat', '/data/file')).toBe('db-0');
}

async function servesInlineVolumes(bed: DrivesOnNode): Promise<void> {
  await bed.apply(inlinePod('scratch', '40Mi'));
  await bed.kubectl('wait', '--for=condition=Ready', 'pod/scratch', '--timeout=300s');
  await bed.kubectl('exec', 'scratch', '--', 'sh', '-c', 'echo temporary > /data/file');
  expect(volumesOf(await bed.drives())).toContain('pod scratch 40Mi');
  await bed.kubectl('delete', 'pod', 'scratch');
  await bed.untilDrives((all) => volumesOf(all).length === 2);
}

/** A new volume goes to the drive that is not cordoned; with both cordoned the pod waits, and is woken. */
async function respectsCordon(bed: DrivesOnNode): Promise<void> {
  const [first, second] = (await bed.drives()).map(({ metadata }) => metadata?.name ?? '');
  await bed.stowage('drives', 'cordon', first!, second!);
  await bed.apply(claim('later'), claimPod('later'));
  const scheduled = async () => {
    const { status } = await bed.cluster.resource(pods).get({ namespace: 'default', name: 'later' });
    return status?.conditions?.find(({ type }) => type === 'PodScheduled');
  };
  await eventually(scheduled, (condition) => condition?.reason === 'Unschedulable');
  await bed.stowage('drives', 'uncordon', second!);
  await bed.kubectl('wait', '--for=condition=Ready', 'pod/later', '--timeout=300s');
  const [holder] = (await bed.drives()).filter((drive) => volumesOf([drive]).includes('later 30Mi'));
  expect(holder?.metadata?.name).toBe(second);
  await bed.stowage('drives', 'uncordon', first!);
}

/** The device of a drive disappears while the driver is away, and comes back under another name. */
async function survivesLoss(bed: DrivesOnNode): Promise<void> {
  await bed.kubectl('delete', 'pod', 'later');
  await bed.kubectl('scale', 'statefulset', 'db', '--replicas=0');
  await eventually(() => podNames(bed), isEmpty);
  await eventually(() => volumeMounts(bed), isEmpty);
  const before = volumesOf(await bed.drives());
  const [lost] = bed.devices;
  const drive = (await bed.drives()).find(({ status }) => status?.device?.path === lost!.device);
  const uuid = drive?.spec?.filesystemUUID ?? '';
  await bed.stopDriver('SIGTERM');
  await bed.node.exec('umount', `/var/lib/stowage/drives/${uuid}`);
  const oldDevice = lost!.device;
  await lost!.detach();
  await bed.startDriver();
  const stateOf = (all: readonly Drive[]) =>
    all.find(({ spec }) => spec?.filesystemUUID === uuid)?.status?.state;
  await bed.untilDrives((all) => stateOf(all) === 'Lost');
  expect(volumesOf(await bed.drives())).toEqual(before);

  // Another device has its name now.
  await LoopDrive.create({ device: oldDevice });
  await bed.stopDriver('SIGTERM');
  await lost!.attach();
  await bed.startDriver();
  await bed.untilDrives((all) => stateOf(all) === 'Ready');
  await bed.untilRegistered();
  await bed.kubectl('scale', 'statefulset', 'db', '--replicas=2');
  await bed.kubectl('rollout', 'status', 'statefulset/db', '--timeout=300s');
  for (const pod of ['db-0', 'db-1'])
    expect(await bed.kubectl('exec', pod, '--', 'cat', '/data/file')).toBe(pod);
}

async function leavesNothing(bed: DrivesOnNode): Promise<void> {
  await bed.kubectl('delete', 'statefulset', 'db');
  await bed.kubectl('delete', 'pvc', '--all');
  const volumes = bed.cluster.resource(persistentVolumes);
  await eventually(async () => (await volumes.list()).items, isEmpty);
  await bed.untilDrives((all) => volumesOf(all).length === 0);
  // A kubelet unstages a volume some time after its last pod is gone.
  await eventually(() => volumeMounts(bed), isEmpty);
  await eventually(
    async () => (await bed.node.exec('find', '/var/lib/stowage/drives', '-mindepth', '3')).stdout,
    isEmpty,
  );
}

/** Mounts of volumes on the node, those of the drives themselves aside. */
async function volumeMounts(bed: DrivesOnNode): Promise<readonly string[]> {
  const { stdout } = await bed.node.exec('cat', '/proc/self/mountinfo');
  return stdout.split('\n').filter((line) => / \/volumes\//.test(line));
}

async function podNames(bed: DrivesOnNode): Promise<readonly string[]> {
  const { items } = await bed.cluster.resource(pods).list();
  return items.map(({ metadata }) => metadata?.name ?? '');
}

function isEmpty(list: readonly unknown[] | string): boolean {
  return list.length === 0;
}

/** Sorted, such as `data-db-0 100Mi`. */
function volumesOf(all: readonly Drive[]): readonly string[] {
  return all
    .flatMap(({ spec }) => spec?.volumes ?? [])
    .map(({ claimRef, podRef, sizeBytes }) => {
      const user = podRef === undefined ? claimRef?.name : `pod ${podRef.name}`;
      return `${user} ${sizeBytes / mib}Mi`;
    })
    .sort();
}

async function uidOf(bed: DrivesOnNode, name: string): Promise<string> {
  return (await bed.cluster.resource(pods).get({ namespace: 'default', name })).metadata?.uid ?? '';
}

function statefulSet(): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', namespace: 'default' },
    spec: {
      serviceName: 'db',
      replicas: 2,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: { app: 'db' } },
      template: { metadata: { labels: { app: 'db' } }, spec: podSpec },
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: claimSpec('100Mi') }],
    },
  };
}

function claimSpec(storage: string): object {
  return {
    storageClassName: 'stowage-drives',
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage } },
  };
}

function claim(name: string): object {
  const metadata = { name, namespace: 'default' };
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec: claimSpec('30Mi') };
}

function claimPod(name: string): object {
  return podWith(name, { persistentVolumeClaim: { claimName: name } });
}

function inlinePod(name: string, size: string): object {
  return podWith(name, {
    csi: { driver: 'drives.stowage.dev', volumeAttributes: { 'csi.storage.k8s.io/size': size } },
  });
}

function podWith(name: string, source: object): object {
  const metadata = { name, namespace: 'default' };
  const spec = { ...podSpec, volumes: [{ name: 'data', ...source }] };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec };
}
