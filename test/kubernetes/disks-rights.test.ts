/** `stowage run` for disks, with the rights of `deploy/disks.yaml`, and no others. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFailed, onTestFinished, test } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { diskSchedules } from '../../src/kube/disks/disk-schedule.ts';
import { replicas } from '../../src/kube/disks/replica.ts';
import { storageNodes } from '../../src/kube/disks/storage-node.ts';
import { diskVolumes } from '../../src/kube/disks/volume.ts';
import { persistentVolumeClaims, persistentVolumes, storageClasses } from '../../src/kube/resources.ts';
import { projectRoot } from '../project-root.ts';
import type { TestBed } from './test-bed.ts';
import { auditedRequestsOf, grantedRights } from './testing/audited-rights.ts';
import { accessModes, runScheduler, serviceAccountKubeconfig, until } from './testing/run-scheduler.ts';
import { lacks, serverPrograms, startTestBed } from './vitest-beds.ts';

const namespace = 'default';
const gib = 2 ** 30;
const manifest = join(projectRoot, 'deploy/disks.yaml');
const users = ['stowage-disks', 'stowage-disk-agent'];
const auditPolicy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] };

/** Rights for moments that this test does not have: images, objects that another process has made, repeated Events, the last class. */
const rare: readonly string[] = [
  '*: get stowage.dev/replicas',
  '*: delete stowage.dev/replicas',
  '*: patch stowage.dev/replicas/status',
  '*: get stowage.dev/backingimages',
  '*: patch stowage.dev/backingimages',
  '*: patch stowage.dev/backingimages/status',
  '*: delete storage.k8s.io/csistoragecapacities',
  '*: get /nodes',
  '*: create events.k8s.io/events',
  '*: patch events.k8s.io/events',
];

describe.skipIf(lacks(...serverPrograms, 'kube-controller-manager'))(
  'disks, with the rights of deploy/disks.yaml',
  () => {
    test('claims are bound, expanded and deleted, and no other right is needed', {
      timeout: 240_000,
    }, async () => {
      const { bed, folder, auditLog } = await startAuditedBed();
      const cluster = await bed.connect();
      const controllers = runScheduler(
        await serviceAccountKubeconfig(bed, 'kube-system', 'stowage-disks'),
        '--controllers=disks,provisioner,expander',
        '--allocation-only',
        '--lease-suffix=disks',
      );
      onTestFailed(() => void process.stderr.write(controllers.stderr));
      await startAgent(bed, folder, cluster);
      await createNode(cluster, 'n2');
      await createNode(cluster, 'n3');
      await makeClass(cluster);

      await makeClaim(cluster, 'data');
      const claim = async () =>
        await cluster.resource(persistentVolumeClaims).get({ namespace, name: 'data' });
      await until(async () => (await claim()).status?.phase === 'Bound', 200);
      expect((await cluster.resource(replicas).list()).items).toHaveLength(3);
      const name = (await claim()).spec?.volumeName ?? '';
      const body = { spec: { resources: { requests: { storage: '2Gi' } } } };
      await cluster
        .resource(persistentVolumeClaims)
        .patch({ namespace, name: 'data' }, { type: 'merge', body }, {});
      const size = async () => (await cluster.resource(diskVolumes).get({ name })).status?.size;
      await until(async () => (await size()) === 2 * gib, 200);
      const capacity = async () => (await cluster.resource(persistentVolumes).get({ name })).spec?.capacity;
      await until(async () => (await capacity())?.storage === '2Gi', 200);

      await cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'data' });
      await until(async () => (await cluster.resource(persistentVolumes).list()).items.length === 0, 200);
      expect((await cluster.resource(diskVolumes).list()).items).toEqual([]);
      expect((await cluster.resource(replicas).list()).items).toEqual([]);
      await cluster.resource(storageNodes).delete({ name: 'n3' });
      await until(async () => (await cluster.resource(diskSchedules).list()).items.length === 2, 200);

      const unused = () => {
        const all = users.map((user) =>
          auditedRequestsOf(`system:serviceaccount:kube-system:${user}`, auditLog),
        );
        expect(all.flatMap(({ forbidden }) => forbidden)).toEqual([]);
        const used = new Set(all.flatMap(({ rights }) => rights));
        return [...new Set(grantedRights(manifest))].filter(
          (right) => !used.has(right) && !rare.includes(right),
        );
      };
      await until(() => unused().length === 0, 500);
    });
  },
);

async function startAuditedBed() {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-audit-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const policy = join(folder, 'policy.json');
  const auditLog = join(folder, 'audit.log');
  writeFileSync(policy, JSON.stringify(auditPolicy));
  const extraFlags = {
    'authorization-mode': 'RBAC,Node',
    'audit-policy-file': policy,
    'audit-log-path': auditLog,
  };
  const controllers = [
    'garbage-collector-controller',
    'persistentvolume-binder-controller',
    'persistentvolume-protection-controller',
    'persistentvolumeclaim-protection-controller',
  ];
  const bed = await startTestBed({ apiServer: { extraFlags }, controllerManager: { controllers } });
  await kubectl(bed, ['apply', '--server-side', '-f', join(projectRoot, 'deploy/crds')]);
  await kubectl(bed, ['wait', '--for=condition=Established', 'crd', '--all', '--timeout=120s']);
  await kubectl(bed, ['apply', '-f', manifest]);
  return { bed, folder, auditLog };
}

async function kubectl(bed: TestBed, args: readonly string[]): Promise<void> {
  const { stderr, code } = await bed.kubectl(args);
  if (code !== 0) throw new Error(stderr);
}

/** The agent of node n1, with one disk of this machine. */
async function startAgent(bed: TestBed, folder: string, cluster: Cluster): Promise<void> {
  const path = join(folder, 'disk');
  mkdirSync(path);
  await cluster.resource(storageNodes).create({
    apiVersion: 'stowage.dev/v1alpha1',
    kind: 'StorageNode',
    metadata: { name: 'n1' },
    spec: { disks: { d: { path } } },
  });
  const agent = runScheduler(
    await serviceAccountKubeconfig(bed, 'kube-system', 'stowage-disk-agent'),
    '--controllers=disk-agent',
    '--node-name=n1',
    '--disk-agent-address=127.0.0.1:0',
    '--leader-elect=false',
  );
  onTestFailed(() => void process.stderr.write(agent.stderr));
}

/** A node without an agent, whose status another program writes. */
async function createNode(cluster: Cluster, name: string): Promise<void> {
  const uuid = `00000000-0000-4000-8000-${name.slice(1).padStart(12, '0')}`;
  const client = cluster.resource(storageNodes);
  const created = await client.create({
    apiVersion: 'stowage.dev/v1alpha1',
    kind: 'StorageNode',
    metadata: { name },
    spec: { disks: { d: { path: '/d' } } },
  });
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'DiskReady',
    message: '',
    lastTransitionTime,
  } as const;
  const disk = { diskUUID: uuid, storageMaximum: 20 * gib, storageAvailable: 20 * gib, conditions: [ready] };
  await client.update({ ...created, status: { diskStatus: { d: disk } } }, { subresource: 'status' });
}

/** As the class of the manifest, but its claims need no pod. */
async function makeClass(cluster: Cluster): Promise<void> {
  await cluster.resource(storageClasses).create({
    metadata: { name: 'disks-now' },
    provisioner: 'disks.stowage.dev',
    allowVolumeExpansion: true,
    volumeBindingMode: 'Immediate',
  });
}

async function makeClaim(cluster: Cluster, name: string): Promise<void> {
  await cluster.resource(persistentVolumeClaims).create({
    metadata: { namespace, name },
    spec: { accessModes, storageClassName: 'disks-now', resources: { requests: { storage: '1Gi' } } },
  });
}
