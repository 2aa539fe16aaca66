/** `stowage run` for disks, with the rights of `deploy/disks.yaml`, and no others. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFailed, onTestFinished, test } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { FileServer } from '../../src/controllers/disk-agent/testing/file-server.ts';
import { publisherLabels } from '../../src/controllers/published-names.ts';
import { getCondition } from '../../src/kube/conditions.ts';
import {
  csiStorageCapacities,
  persistentVolumeClaims,
  persistentVolumes,
  storageClasses,
} from '../../src/kube/resources.ts';
import { backingImages } from '../../src/kube/stowage/backing-image.ts';
import { diskSchedules } from '../../src/kube/stowage/disk-schedule.ts';
import { replicas } from '../../src/kube/stowage/replica.ts';
import { agentLostReason, forceRemovalKey, storageNodes } from '../../src/kube/stowage/storage-node.ts';
import { disksDriver, diskVolumes } from '../../src/kube/stowage/volume.ts';
import { annotations } from '../../src/kube/well-known.ts';
import { projectRoot } from '../project-root.ts';
import type { StowageProcess } from '../up/stowage-process.ts';
import type { TestBed } from './test-bed.ts';
import { auditedRequestsOf, grantedRights, untilAllUsed, untilGranted } from './testing/audited-rights.ts';
import { failTwice } from './testing/failing-claim.ts';
import {
  accessModes,
  makeNode,
  runScheduler,
  serviceAccountKubeconfig,
  until,
  untilEvent,
  untilPasses,
} from './testing/run-scheduler.ts';
import { lacks, serverPrograms, startTestBed } from './vitest-beds.ts';

const namespace = 'default';
const gib = 2 ** 30;
const manifest = join(projectRoot, 'deploy/disks.yaml');
const apiVersion = 'stowage.dev/v1alpha1';
const accounts = ['stowage-disks', 'stowage-disk-agent'];
const auditPolicy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] };
const className = 'stowage-disks';
/** The node of pods. */
const worker = 'worker';
/** The tag of nodes without an agent. */
const plain = 'plain';
const staleCapacityReport = { namespace: 'kube-system', name: 'stale' };

describe.skipIf(lacks(...serverPrograms, 'kube-controller-manager'))(
  'disks, with the rights of deploy/disks.yaml',
  () => {
    test('claims, moves, images and removed nodes use all of them, and need no others', {
      timeout: 900_000,
    }, async () => {
      const { bed, folder, auditLog } = await startAuditedBed();
      const cluster = await bed.connect();
      for (const name of accounts)
        await untilGranted(bed, `system:serviceaccount:kube-system:${name}`, grantedRights(manifest, [name]));
      const controllers = runScheduler(
        await serviceAccountKubeconfig(bed, 'kube-system', 'stowage-disks'),
        '--controllers=disks,provisioner,expander',
        '--allocation-only',
        '--lease-suffix=disks',
      );
      onTestFailed(() => void process.stderr.write(controllers.stderr));
      const agent = await startAgent(bed, folder, cluster);
      await createNode(cluster, 'n2');
      await createNode(cluster, 'n3');
      await makeNode(cluster, worker);

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
      await untilPasses(async () => {
        expect((await cluster.resource(diskVolumes).list()).items).toEqual([]);
        expect((await cluster.resource(replicas).list()).items).toEqual([]);
      });
      await refuse(cluster);
      await move(cluster);
      await shrink(cluster);
      await copy(cluster);
      await release(cluster);
      await findOrphanTwice(cluster, folder);
      await lose(cluster, 'n3');
      await endAgent(cluster, agent);
      await until(async () => (await cluster.resource(diskSchedules).list()).items.length === 2, 200);

      const unused = () => accounts.flatMap((account) => unusedRights(account, auditLog));
      await untilAllUsed(unused);
    });
  },
);

/** Rights of the account's role that it has not used yet. Fails if it lacked one. */
function unusedRights(account: string, auditLog: string): readonly string[] {
  const { rights, forbidden } = auditedRequestsOf(`system:serviceaccount:kube-system:${account}`, auditLog);
  expect(forbidden).toEqual([]);
  return [...new Set(grantedRights(manifest, [account]))]
    .filter((right) => !rights.some((used) => used === right || isOneLease(used, right)))
    .map((right) => `${account}: ${right}`);
}

/** The role of agents can't name their Leases: one Lease of any name is enough. */
function isOneLease(used: string, right: string): boolean {
  return right.endsWith('/leases') && used.startsWith(`${right} `);
}

/** A claim that fits nowhere, a figure of a class that is gone, and the end of the class. */
async function refuse(cluster: Cluster): Promise<void> {
  await failTwice(cluster, { storageClassName: className, node: worker, storage: '900Gi' });
  const figures = cluster.resource(csiStorageCapacities);
  const labels = publisherLabels(disksDriver, undefined);
  await figures.create({
    metadata: { ...staleCapacityReport, labels },
    storageClassName: 'gone',
    capacity: '1Gi',
  });
  const isStale = async () =>
    (await figures.list()).items.some(({ metadata }) => metadata?.name === staleCapacityReport.name);
  await until(async () => !(await isStale()), 200);
  await cluster.resource(storageClasses).delete({ name: className });
}

/** A replica that is one too many goes, and the other one leaves its node. Neither has data, so none has to be copied. */
async function move(cluster: Cluster): Promise<void> {
  const client = cluster.resource(diskVolumes);
  const spec = { size: gib, numberOfReplicas: 2, nodeSelector: [plain] };
  await client.create({ apiVersion, kind: 'Volume', metadata: { name: 'moved' }, spec });
  const allocated = async () => (await client.get({ name: 'moved' })).status?.size;
  await until(async () => (await allocated()) === gib, 200);
  await client.patch({ name: 'moved' }, { type: 'merge', body: { spec: { numberOfReplicas: 1 } } });
  await until(async () => (await nodesOf(cluster, 'moved')).length === 1, 200);
  const [before = ''] = await nodesOf(cluster, 'moved');
  const evict = async (evictionRequested: boolean) =>
    await cluster
      .resource(storageNodes)
      .patch({ name: before }, { type: 'merge', body: { spec: { evictionRequested } } });
  await evict(true);
  await until(async () => !(await nodesOf(cluster, 'moved')).includes(before), 200);
  await evict(false);
  await client.delete({ name: 'moved' });
  await until(async () => (await nodesOf(cluster, 'moved')).length === 0, 200);
}

/** One of two replicas with data is removed. The other one is read again before. */
async function shrink(cluster: Cluster): Promise<void> {
  const client = cluster.resource(diskVolumes);
  const spec = { size: gib, numberOfReplicas: 2, nodeSelector: [plain] };
  await client.create({ apiVersion, kind: 'Volume', metadata: { name: 'shrunk' }, spec });
  const allocated = async () => (await client.get({ name: 'shrunk' })).status?.size;
  await until(async () => (await allocated()) === gib, 200);
  for (const name of ['shrunk-r0', 'shrunk-r1']) await reportData(cluster, name);
  await client.patch({ name: 'shrunk' }, { type: 'merge', body: { spec: { numberOfReplicas: 1 } } });
  await until(async () => (await nodesOf(cluster, 'shrunk')).length === 1, 200);
  await client.delete({ name: 'shrunk' });
  await until(async () => (await nodesOf(cluster, 'shrunk')).length === 0, 200);
}

/** The controller reports that the agent of n1 no longer renews its Lease. */
async function endAgent(cluster: Cluster, agent: StowageProcess): Promise<void> {
  await agent.kill();
  const client = cluster.resource(storageNodes);
  const ready = async () => getCondition((await client.get({ name: 'n1' })).status?.conditions, 'Ready');
  await until(async () => (await ready())?.reason === agentLostReason, 500);
}

/** As an agent does when a replica has all of its data. */
async function reportData(cluster: Cluster, name: string): Promise<void> {
  const status = { currentState: 'running', healthyAt: '2026-01-01T00:00:00Z', size: gib };
  await cluster
    .resource(replicas)
    .patch({ name }, { type: 'merge', body: { status } }, { subresource: 'status' });
}

/** An image with a copy on each disk, one of which an agent downloads. */
async function copy(cluster: Cluster): Promise<void> {
  const client = cluster.resource(backingImages);
  const { url } = await FileServer.start({ data: Buffer.from('image') });
  const spec = { source: { download: { url } }, expectedSize: gib, minNumberOfCopies: 3 };
  await client.create({ apiVersion, kind: 'BackingImage', metadata: { name: 'base' }, spec });
  const copies = async () => {
    const { items } = await cluster.resource(diskSchedules).list();
    return items.flatMap(({ status }) => Object.values(status?.backingImages ?? {}));
  };
  await until(async () => (await copies()).length === 3, 200);
  const size = async () => (await client.get({ name: 'base' })).status?.size;
  await until(async () => (await size()) !== undefined, 200);
  await client.delete({ name: 'base' });
  await until(async () => (await copies()).length === 0, 200);
}

/** Bytes that were requested for an image which does not exist. */
async function release(cluster: Cluster): Promise<void> {
  const client = cluster.resource(diskSchedules);
  const name = uuidOf('n2');
  const body = { spec: { backingImages: { gone: gib } } };
  await client.patch({ name }, { type: 'merge', body }, {});
  const requested = async () => Object.keys((await client.get({ name })).spec?.backingImages ?? {});
  await until(async () => !(await requested()).includes('gone'), 200);
}

/** Without its condition, data that the agent of n1 does not know is reported again, with the same Event. */
async function findOrphanTwice(cluster: Cluster, folder: string): Promise<void> {
  mkdirSync(join(folder, 'disk', 'replicas', 'unknown'), { recursive: true });
  writeFileSync(join(folder, 'disk', 'replicas', 'unknown', 'data.img'), 'data');
  const client = cluster.resource(storageNodes);
  const conditions = async () => (await client.get({ name: 'n1' })).status?.diskStatus?.d?.conditions ?? [];
  const isReported = async () =>
    (await conditions()).some(({ type, status }) => type === 'OrphanedData' && status === 'True');
  await until(isReported, 200);
  await untilEvent(cluster, 'n1', 'OrphanedData');
  const kept = (await conditions()).filter(({ type }) => type !== 'OrphanedData');
  const body = { status: { diskStatus: { d: { conditions: kept } } } };
  await client.patch({ name: 'n1' }, { type: 'merge', body }, { subresource: 'status' });
  await until(isReported, 200);
}

/** A node that is removed although it has the only data of a volume. */
async function lose(cluster: Cluster, node: string): Promise<void> {
  const client = cluster.resource(diskVolumes);
  const spec = { size: gib, numberOfReplicas: 1, nodeSelector: [node] };
  await client.create({ apiVersion, kind: 'Volume', metadata: { name: 'lost' }, spec });
  const allocated = async () => (await client.get({ name: 'lost' })).status?.size;
  await until(async () => (await allocated()) === gib, 200);
  const name = 'lost-r0';
  await reportData(cluster, name);
  await cluster.resource(storageNodes).delete({ name: node });
  const forced = { metadata: { annotations: { [forceRemovalKey]: 'true' } } };
  await cluster.resource(diskSchedules).patch({ name: uuidOf(node) }, { type: 'merge', body: forced });
  const isFailed = async () =>
    (await cluster.resource(replicas).get({ name })).status?.failedAt !== undefined;
  await until(isFailed, 200);
  await client.delete({ name: 'lost' });
}

/** The nodes of a volume's replicas; empty for one without a place. */
async function nodesOf(cluster: Cluster, volume: string): Promise<readonly string[]> {
  const { items } = await cluster.resource(replicas).list();
  const own = items.filter(({ spec }) => spec?.volumeName === volume);
  return own.map(({ spec }) => spec?.nodeID ?? '');
}

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
async function startAgent(bed: TestBed, folder: string, cluster: Cluster): Promise<StowageProcess> {
  const path = join(folder, 'disk');
  mkdirSync(path);
  await cluster.resource(storageNodes).create({
    apiVersion,
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
  return agent;
}

/** A node without an agent, whose status another program writes. */
async function createNode(cluster: Cluster, name: string): Promise<void> {
  const client = cluster.resource(storageNodes);
  const created = await client.create({
    apiVersion,
    kind: 'StorageNode',
    metadata: { name },
    spec: { tags: [plain, name], disks: { d: { path: '/d' } } },
  });
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'DiskReady',
    message: '',
    lastTransitionTime,
  } as const;
  const disk = {
    diskUUID: uuidOf(name),
    storageMaximum: 20 * gib,
    storageAvailable: 20 * gib,
    conditions: [ready],
  };
  await client.update({ ...created, status: { diskStatus: { d: disk } } }, { subresource: 'status' });
}

function uuidOf(node: string): string {
  return `00000000-0000-4000-8000-${node.slice(1).padStart(12, '0')}`;
}

/** A claim whose pod a scheduler has put on a node. */
async function makeClaim(cluster: Cluster, name: string): Promise<void> {
  await cluster.resource(persistentVolumeClaims).create({
    metadata: { namespace, name, annotations: { [annotations.selectedNode]: worker } },
    spec: { accessModes, storageClassName: className, resources: { requests: { storage: '1Gi' } } },
  });
}
