import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runScheduler, untilPrinted } from '../testing/run-scheduler.ts';
import { lacks, serverPrograms } from '../vitest-beds.ts';
import { busyboxImage } from './busybox-image.ts';
import { lacksRealNode } from './node-requirements.ts';
import { RealNodeBed } from './real-node-bed.ts';
import { xfsDisk } from './xfs-disk.ts';

const storage = '50Mi';

describe.skipIf(lacks('1.36', ...serverPrograms, 'kube-controller-manager', 'kubelet') || lacksRealNode())(
  'a pod with a local volume, placed by stowage run',
  () => {
    test('finds its file again after it was deleted and the kubelet was restarted', {
      timeout: 900_000,
    }, async () => {
      const { bed, node } = await bedWithDisk();
      await untilPrinted(runScheduler(bed.kubeconfig), 'this process leads');
      const kubectl = async (...args: readonly string[]) => {
        const { stdout, stderr, code } = await bed.kubectl(args);
        if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
        return stdout.trim();
      };
      const startPod = async () => {
        const { stderr, code } = await bed.kubectl(['apply', '-f', '-'], manifest());
        expect(stderr, `${code}`).toBe('');
        await kubectl('wait', '--for=condition=Ready', 'pod/writer', '--timeout=300s');
      };

      await startPod();
      expect(await kubectl('get', 'pod', 'writer', '-o', 'jsonpath={.spec.nodeName}')).toBe('a');
      await kubectl('exec', 'writer', '--', 'sh', '-c', 'echo kept > /data/file');
      await kubectl('delete', 'pod', 'writer');
      await node.stopKubelet();
      await node.startKubelet();
      await startPod();
      expect(await kubectl('exec', 'writer', '--', 'cat', '/data/file')).toBe('kept');
    });
  },
);

async function bedWithDisk() {
  const real = await RealNodeBed.start();
  const node = await real.addNode('a');
  await xfsDisk(node, join('/var/lib/kubelet', 'disks', 'd1'));
  return { bed: real.bed, node };
}

/** A class, a volume on the disk, a claim and a pod that uses it. */
function manifest(): string {
  const path = '/var/lib/kubelet/disks/d1';
  const terms = [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['a'] }] }];
  const objects = [
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'local' },
      provisioner: 'kubernetes.io/no-provisioner',
      volumeBindingMode: 'WaitForFirstConsumer',
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'd1' },
      spec: {
        capacity: { storage },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'local',
        local: { path },
        nodeAffinity: { required: { nodeSelectorTerms: terms } },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data', namespace: 'default' },
      spec: {
        storageClassName: 'local',
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage } },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'writer', namespace: 'default' },
      spec: {
        schedulerName: 'stowage',
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: 'c',
            image: busyboxImage,
            imagePullPolicy: 'Never',
            command: ['sh', '-c', 'trap "exit 0" TERM; while :; do sleep 1; done'],
            volumeMounts: [{ name: 'data', mountPath: '/data' }],
          },
        ],
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
      },
    },
  ];
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
}
