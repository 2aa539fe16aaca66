import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { lacks, serverPrograms } from '../../vitest-beds.ts';
import { lacksXfs } from '../drive-requirements.ts';
import { eventually } from '../drives-on-node.ts';
import { leftBehind } from '../left-behind.ts';
import { lacksRealNode } from '../node-requirements.ts';
import type { RealNode } from '../real-node.ts';
import { xfsDisk } from '../xfs-disk.ts';
import { InstalledBed } from './installed-bed.ts';
import { mockName, startMockDriver } from './mock-driver-on-node.ts';
import { claimNamed, podWith } from './test-pods.ts';

const programs = [
  ...serverPrograms,
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'helm',
  'csi-mock',
] as const;
const mib = 2 ** 20;
const diskPath = '/var/lib/stowage/disks/d1';

describe.skipIf(lacks('1.36', ...programs) || lacksRealNode() || lacksXfs())(
  'disks, and controllers beside a driver on each node, installed by the chart on two nodes',
  () => {
    afterAll(async () => expect(await leftBehind()).toEqual([]));

    test('agents keep replicas and images as files; each node publishes its capacity and creates its volumes', {
      timeout: 1_800_000,
    }, async () => {
      const bed = await InstalledBed.start();
      for (const node of [bed.a, bed.b]) await xfsDisk(node, diskPath);
      await startMockDriver(bed.a, 2);
      await startMockDriver(bed.b, 8);
      await bed.install({
        disks: { enabled: true, allocationOnly: true },
        csi: {
          enabled: true,
          workload: 'daemonset',
          controllers: ['provisioner', 'capacity'],
          socketHostPath: `/var/lib/kubelet/plugins/${mockName}`,
          extraArgs: ['--capacity-poll-interval=1s'],
        },
      });
      await keepsReplicas(bed);
      await keepsImages(bed);
      await publishesPerNode(bed);
    });
  },
);

/** A file for each replica, also after the agents were restarted; it grows and goes with its Volume. */
async function keepsReplicas(bed: InstalledBed): Promise<void> {
  await bed.apply(...[bed.a, bed.b].map(storageNode));
  await bed.kubectl('wait', '--for=condition=Ready', 'storagenodes', '--all', '--timeout=300s');
  await bed.apply(volume(64 * mib));
  await bed.kubectl('wait', '--for=condition=DiskAllocation', 'volumes.stowage.dev/db', '--timeout=300s');
  await untilFiles(bed, 64 * mib);
  await bed.deletePods('disk-agent');
  await bed.apply(volume(96 * mib));
  await untilFiles(bed, 96 * mib);
  await bed.kubectl('delete', 'volumes.stowage.dev', 'db');
  await eventually(
    () => replicaFiles(bed),
    (files) => files.every((sizes) => sizes === ''),
  );
}

/** The upload goes to the address of a node; its agent is in a pod. */
async function keepsImages(bed: InstalledBed): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-upload-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'ubuntu.img');
  await writeFile(file, Buffer.alloc(5 * mib, 'image'));
  await bed.untilRolledOut();
  await bed.stowage('disks', 'image', 'upload', 'ubuntu', file, '--copies', '2');
  // The other node's agent copies it from the one that has it.
  const { stdout } = await bed.a.exec('sha256sum', file);
  const [checksum] = stdout.split(' ');
  const copies = () =>
    Promise.all(
      [bed.a, bed.b].map((node) =>
        node
          .exec('sha256sum', `${diskPath}/images/ubuntu/data.img`)
          .then((found) => found.stdout.split(' ')[0], String),
      ),
    );
  await eventually(copies, (found) => found.every((each) => each === checksum));
}

async function publishesPerNode(bed: InstalledBed): Promise<void> {
  await bed.apply(mockDriver, mockClass);
  await untilPublished(bed, 'a 2Gi, b 8Gi');
  await bed.apply(
    claimNamed('mock', 'mock', '5Gi'),
    podWith('mock', { persistentVolumeClaim: { claimName: 'mock' } }),
  );
  await bed.untilReady('mock');
  expect(await bed.nodeOf('mock')).toBe('b');
  await untilPublished(bed, 'a 2Gi, b 3Gi');
  // The garbage collector removes the figures with the DaemonSet.
  const owners = 'jsonpath={.items[*].metadata.ownerReferences[0].kind}';
  expect(
    await bed.kubectl('get', 'csistoragecapacities', '-n', 'kube-system', '-l', ofMock, '-o', owners),
  ).toBe('DaemonSet DaemonSet');
  await bed.kubectl('delete', 'pod', 'mock');
  await bed.kubectl('delete', 'pvc', 'mock');
  await untilPublished(bed, 'a 2Gi, b 8Gi');
}

const ofMock = `csi.storage.k8s.io/drivername=${mockName}`;

async function untilPublished(bed: InstalledBed, expected: string): Promise<void> {
  const range = '{range .items[*]}{.nodeTopology.matchLabels.*} {.capacity}{"\\n"}{end}';
  const args = ['get', 'csistoragecapacities', '-n', 'kube-system', '-l', ofMock, '-o', `jsonpath=${range}`];
  await eventually(
    async () => (await bed.kubectl(...args)).split('\n').sort().join(', '),
    (text) => text === expected,
  );
}

async function untilFiles(bed: InstalledBed, bytes: number): Promise<void> {
  await eventually(
    () => replicaFiles(bed),
    (files) => files.every((sizes) => sizes === `${bytes}`),
  );
}

/** The sizes of the files on each node. */
async function replicaFiles(bed: InstalledBed): Promise<readonly string[]> {
  const find = async (node: RealNode) => {
    const { stdout } = await node.exec('find', diskPath, '-path', '*/replicas/*/data.img', '-printf', '%s\n');
    return stdout.trim();
  };
  return await Promise.all([bed.a, bed.b].map(find));
}

function storageNode({ name }: RealNode): object {
  return {
    apiVersion: 'stowage.dev/v1alpha1',
    kind: 'StorageNode',
    metadata: { name },
    spec: { disks: { ssd: { path: diskPath } } },
  };
}

function volume(size: number): object {
  return {
    apiVersion: 'stowage.dev/v1alpha1',
    kind: 'Volume',
    metadata: { name: 'db' },
    spec: { size, numberOfReplicas: 2 },
  };
}

const mockDriver = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIDriver',
  metadata: { name: mockName },
  spec: { attachRequired: false, storageCapacity: true },
};

const mockClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'mock' },
  provisioner: mockName,
  volumeBindingMode: 'WaitForFirstConsumer',
};
