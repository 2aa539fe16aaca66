/** `stowage csi` with the rights of `deploy/drives.yaml`, and no others. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { CsiCallError } from '../../src/csi/csi-errors.ts';
import { events, nodes, persistentVolumeClaims, pods } from '../../src/kube/resources.ts';
import { type DriveVolume, driveNameKey, drives } from '../../src/kube/stowage/drive.ts';
import { projectRoot } from '../project-root.ts';
import { DriverProcess } from '../up/driver-process.ts';
import type { TestBed } from './test-bed.ts';
import {
  auditedRequestsOf,
  grantedRights,
  requestsBeyond,
  untilAllUsed,
  untilGranted,
  withdraw,
} from './testing/audited-rights.ts';
import { main, serviceAccountKubeconfig, until, untilEvent } from './testing/run-scheduler.ts';
import { lacks, serverPrograms, startTestBed } from './vitest-beds.ts';

const namespace = 'default';
const manifest = join(projectRoot, 'deploy/drives.yaml');
const users = ['stowage-drives', 'stowage-drives-node'];
const auditPolicy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] };

/** Refuses new entries on one drive, so that the driver reads it again. */
const refusing = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: refusing }
spec:
  matchConstraints:
    resourceRules:
      - { apiGroups: [stowage.dev], apiVersions: ["*"], operations: [UPDATE], resources: [drives] }
  matchConditions:
    - { name: refused, expression: "object.metadata.name == 'refused'" }
  validations:
    - { expression: "!has(object.spec.volumes) || size(object.spec.volumes) == 0" }
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: refusing }
spec: { policyName: refusing, validationActions: [Deny] }
`;

describe.skipIf(lacks(...serverPrograms))('stowage csi, with the rights of deploy/drives.yaml', () => {
  test('uses all of them, and needs no others', { timeout: 900_000 }, async () => {
    const { bed, folder, auditLog } = await startAuditedBed();
    const cluster = await bed.connect();
    for (const name of ['n1', 'n2']) await cluster.resource(nodes).create({ metadata: { name } });
    for (const name of ['d1', 'd2', 'refused']) await makeDrive(cluster, name);
    for (const name of ['d1', 'd2']) await addEntries(cluster, name, [{ name: 'twice', sizeBytes: 10 }]);
    const podUid = await makeClaims(cluster);
    for (const name of users)
      await untilGranted(bed, `system:serviceaccount:kube-system:${name}`, grantedRights(manifest, [name]));
    await untilRefused(bed);
    const kubeconfig = await serviceAccountKubeconfig(bed, 'kube-system', 'stowage-drives');
    const driver = new DriverProcess(folder, 'controller', kubeconfig);
    await driver.printed('calls are answered');
    // Inline volumes of a pod that ends while their drive is away.
    await makeDrive(cluster, 'away', 'n2', { isReady: true });
    const podRef = { namespace, name: 'app', uid: podUid };
    const inline = ['csi-ended', 'csi-later'].map((name) => ({ name, sizeBytes: 10, podRef }));
    await addEntries(cluster, 'away', inline);
    const node = startNode(folder, await serviceAccountKubeconfig(bed, 'kube-system', 'stowage-drives-node'));

    await createdFor(driver, 'of-set', { claim: 'data-db-0', drive: 'd1' });
    await createdFor(driver, 'of-pod', { claim: 'app-scratch', drive: 'd2' });
    await expect(driver.create('twice', 10)).rejects.toMatchObject({ code: 'Aborted' });
    const refused = driver.create('nowhere', 10, { 'stowage.dev/drive': 'refused' });
    await expect(refused).rejects.toBeInstanceOf(CsiCallError);
    await driver.call('DeleteVolume', { volumeId: 'of-set' });
    const status = async (name = 'of-node') => (await cluster.resource(drives).get({ name })).status;
    await makeDrive(cluster, 'of-node', 'n2');
    for (const name of ['away', 'of-node']) await until(async () => (await status(name))?.state === 'Lost');
    // The drive is lost, so the volume is refused; before that, the pod is read.
    await expect(publishInline(node, folder)).rejects.toMatchObject({ code: 'ResourceExhausted' });
    // The entry is released when the pod ends; the data is deleted when the drive is back.
    await unpublish(node, folder, 'csi-ended');
    const released = async () => {
      const { spec } = await cluster.resource(drives).get({ name: 'away' });
      return spec?.volumes?.filter(({ state }) => state === 'Releasing').map(({ name }) => name);
    };
    expect(await released()).toEqual(['csi-ended']);
    // A volume that the node does not know: it reads the drive that the PersistentVolume names.
    await expect(stageUnknown(node, folder)).rejects.toMatchObject({ code: 'NotFound' });
    // An empty drive that is to be removed is deleted by its node.
    const body = { status: { state: 'Removing' } };
    await cluster
      .resource(drives)
      .patch({ name: 'of-node' }, { type: 'merge', body }, { subresource: 'status' });
    await until(async () => (await status().catch(() => undefined)) === undefined, 200);

    await reportTwice(cluster, 'd1');

    await untilAllUsed(() => users.flatMap((name) => unusedRights(name, auditLog)));

    await withdraw(bed, 'stowage-drives-node', '*: patch stowage.dev/drives');
    await expect(unpublish(node, folder, 'csi-later')).rejects.toThrow('cannot patch resource "drives"');
    expect(await released()).toEqual(['csi-ended']);
  });
});

/** Rights of the role with the name of the account that it has not used yet. Fails if it has made a request that this role does not allow. */
function unusedRights(name: string, auditLog: string): readonly string[] {
  const audited = auditedRequestsOf(`system:serviceaccount:kube-system:${name}`, auditLog);
  const granted = grantedRights(manifest, [name]);
  expect(audited.forbidden).toEqual([]);
  // The account of the driver also has the role of the controllers beside it, which chart-rights.test.ts compares.
  expect(requestsBeyond(granted, audited)).toEqual([]);
  return granted.filter((right) => !audited.rights.includes(right)).map((right) => `${name}: ${right}`);
}

async function startAuditedBed() {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-audit-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const policy = join(folder, 'policy.json');
  const auditLog = join(folder, 'audit.log');
  writeFileSync(policy, JSON.stringify(auditPolicy));
  const extraFlags = {
    'authorization-mode': 'RBAC,Node',
    'audit-policy-file': policy,
    'audit-log-path': auditLog,
  };
  const bed = await startTestBed({ apiServer: { extraFlags } });
  await kubectl(bed, ['apply', '--server-side', '-f', join(projectRoot, 'deploy/crds')]);
  await kubectl(bed, ['wait', '--for=condition=Established', 'crd/drives.stowage.dev', '--timeout=300s']);
  await kubectl(bed, ['apply', '-f', manifest]);
  await kubectl(bed, ['apply', '-f', '-'], refusing);
  return { bed, folder, auditLog };
}

/** A policy takes effect some time after it was created. */
async function untilRefused(bed: TestBed): Promise<void> {
  const entry = JSON.stringify({ spec: { volumes: [{ name: 'never', sizeBytes: 1 }] } });
  const patch = ['patch', 'drives/refused', '--type=merge', '--dry-run=server', '-p', entry];
  await until(
    async () => (await bed.kubectl(patch)).stderr.includes("ValidatingAdmissionPolicy 'refusing'"),
    200,
  );
}

async function kubectl(bed: TestBed, args: readonly string[], input = ''): Promise<void> {
  const { stderr, code } = await bed.kubectl(args, input);
  if (code !== 0) throw new Error(stderr);
}

function startNode(folder: string, kubeconfig: string): DriverProcess {
  const place = ['--node-name', 'n2', '--drives-root', join(folder, 'drives'), '--unenforced-quota'];
  const node = new DriverProcess(folder, 'node', kubeconfig, ['--services=node', ...place]);
  onTestFinished(({ task }) => {
    if (task.result?.state === 'fail') process.stderr.write(`--- node\n${node.stowage.stderr}\n`);
  });
  return node;
}

async function publishInline(node: DriverProcess, folder: string): Promise<void> {
  await node.call('NodePublishVolume', {
    volumeId: 'csi-1',
    targetPath: join(folder, 'pod', 'volume'),
    volumeCapability: { accessType: { case: 'mount', value: {} }, accessMode: { mode: 1 } },
    volumeContext: {
      size: '1',
      'csi.storage.k8s.io/ephemeral': 'true',
      'csi.storage.k8s.io/pod.namespace': namespace,
      'csi.storage.k8s.io/pod.name': 'app',
      'csi.storage.k8s.io/pod.uid': '11111111-2222-4333-8444-555555555555',
    },
  });
}

async function unpublish(node: DriverProcess, folder: string, volumeId: string): Promise<void> {
  await node.call('NodeUnpublishVolume', { volumeId, targetPath: join(folder, 'pod', volumeId) });
}

async function stageUnknown(node: DriverProcess, folder: string): Promise<void> {
  await node.call('NodeStageVolume', {
    volumeId: 'unknown',
    stagingTargetPath: join(folder, 'staging'),
    volumeCapability: { accessType: { case: 'mount', value: {} }, accessMode: { mode: 1 } },
    volumeContext: { [driveNameKey]: 'of-node' },
  });
}

/** The test is the node service of n1. */
async function makeDrive(
  cluster: Cluster,
  name: string,
  nodeName = 'n1',
  { isReady = nodeName === 'n1' } = {},
): Promise<void> {
  const digits = Buffer.from(name).toString('hex').padStart(12, '0').slice(-12);
  const client = cluster.resource(drives);
  const created = await client.create({
    apiVersion: 'stowage.dev/v1alpha1',
    kind: 'Drive',
    metadata: { name },
    spec: { nodeName, filesystemUUID: `00000000-0000-4000-8000-${digits}` },
  });
  const status = { capacityBytes: 1000, state: 'Ready' };
  if (isReady) await client.update({ ...created, status }, { subresource: 'status' });
}

/**
 * Without its condition, what the driver finds in the ledger is reported again. That is the same Event only if the first one has been written, and if the
 * driver has found nothing else meanwhile; so it is repeated until an Event is counted.
 */
async function reportTwice(cluster: Cluster, name: string): Promise<void> {
  const client = cluster.resource(drives);
  const reported = async () => {
    const { status } = await client.get({ name });
    return status?.conditions?.find((condition) => condition.status === 'False')?.reason;
  };
  const isCounted = async () =>
    (await cluster.resource(events).list()).items.some(
      ({ regarding, series }) => regarding?.name === name && series !== undefined,
    );
  const body = { status: { conditions: null } };
  while (!(await isCounted())) {
    await until(async () => (await reported()) !== undefined, 200);
    await untilEvent(cluster, name, (await reported()) ?? '');
    await client.patch({ name }, { type: 'merge', body }, { subresource: 'status' });
    await until(async () => (await reported()) !== undefined, 200);
  }
}

async function addEntries(cluster: Cluster, name: string, volumes: readonly DriveVolume[]): Promise<void> {
  await cluster.resource(drives).patch({ name }, { type: 'merge', body: { spec: { volumes } } }, {});
}

/** One without an owner, and one of a pod; returns the uid of the pod. */
async function makeClaims(cluster: Cluster): Promise<string> {
  const pod = await cluster
    .resource(pods)
    .create({ metadata: { namespace, name: 'app' }, spec: { containers: [main] } });
  const { uid = '' } = pod.metadata ?? {};
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: 'app', uid, controller: true }];
  const spec = {
    accessModes: ['ReadWriteOnce' as const],
    resources: { requests: { storage: '10' } },
    storageClassName: 'none',
  };
  const client = cluster.resource(persistentVolumeClaims);
  await client.create({ metadata: { namespace, name: 'data-db-0' }, spec });
  await client.create({ metadata: { namespace, name: 'app-scratch', ownerReferences }, spec });
  return uid;
}

/** Creates a volume with the parameters that a provisioner adds for a class whose volumes are spread. */
async function createdFor(
  driver: DriverProcess,
  volume: string,
  { claim, drive }: { readonly claim: string; readonly drive: string },
): Promise<void> {
  await driver.create(volume, 10, {
    spreadBy: 'claim-owner',
    'stowage.dev/drive': drive,
    'csi.storage.k8s.io/pvc/namespace': namespace,
    'csi.storage.k8s.io/pvc/name': claim,
    'csi.storage.k8s.io/pvc/uid': '11111111-2222-4333-8444-555555555555',
    'csi.storage.k8s.io/pv/name': volume,
  });
}
