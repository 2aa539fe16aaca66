/** `stowage drain-plan` and `stowage move` with the role of docs/draining.md, and no other rights. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.ts';
import {
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  statefulSets,
} from '../../src/kube/resources.ts';
import { drives, drivesDriver } from '../../src/kube/stowage/drive.ts';
import { storageNodes } from '../../src/kube/stowage/storage-node.ts';
import { projectRoot } from '../project-root.ts';
import { callInProcess } from '../up/in-process.ts';
import { applied, startAuditedBed } from './testing/audited-bed.ts';
import { auditedRequestsOf, grantedRights, untilAllUsed, untilGranted } from './testing/audited-rights.ts';
import { accessModes, main, makeClass, makeNode, serviceAccountKubeconfig } from './testing/run-scheduler.ts';
import { lacks, serverPrograms } from './vitest-beds.ts';

const apiVersion = 'stowage.dev/v1alpha1';
const namespace = 'default';
const gib = 2 ** 30;
const user = 'system:serviceaccount:default:mover';

/** The manifest on the page. */
function roleOnPage(): string {
  const page = readFileSync(join(projectRoot, 'docs/draining.md'), 'utf8');
  const [, manifest = ''] = /^```yaml\n(apiVersion: rbac[\s\S]*?)^```$/m.exec(page) ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'stowage-mover-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'role.yaml');
  writeFileSync(path, manifest);
  return path;
}

/** Nodes n1 and n2, drives d1 and d2 on n1 with a volume on d1, and on n1 the pods of two StatefulSets, of which one uses the volume. */
async function makeObjects(cluster: Cluster): Promise<void> {
  for (const name of ['n1', 'n2']) await makeNode(cluster, name);
  await makeClass(cluster, 'drives', drivesDriver);
  const claimRef = { namespace, name: 'data-db-0' };
  for (const [at, name] of ['d1', 'd2'].entries()) {
    const volumes = name === 'd1' ? [{ name: 'pvc-1', sizeBytes: gib, claimRef }] : [];
    const spec = { nodeName: 'n1', filesystemUUID: `00000000-0000-4000-8000-00000000000${at}`, volumes };
    const made = await cluster
      .resource(drives)
      .create({ apiVersion, kind: 'Drive', metadata: { name }, spec });
    const status = { capacityBytes: 4 * gib, state: 'Ready' };
    await cluster.resource(drives).update({ ...made, status }, { subresource: 'status' });
  }
  const spec = { disks: {} };
  await cluster
    .resource(storageNodes)
    .create({ apiVersion, kind: 'StorageNode', metadata: { name: 'n1' }, spec });
  await makeVolume(cluster);
  await makePods(cluster);
}

async function makeVolume(cluster: Cluster): Promise<void> {
  const common = { accessModes, storageClassName: 'drives' };
  const claim = await cluster.resource(persistentVolumeClaims).create({
    metadata: { namespace, name: 'data-db-0' },
    spec: { ...common, volumeName: 'pvc-1', resources: { requests: { storage: '1Gi' } } },
  });
  const term = { matchExpressions: [{ key: 'stowage.dev/node', operator: 'In' as const, values: ['n1'] }] };
  await cluster.resource(persistentVolumes).create({
    metadata: { name: 'pvc-1' },
    spec: {
      ...common,
      capacity: { storage: '1Gi' },
      csi: { driver: drivesDriver, volumeHandle: 'pvc-1' },
      claimRef: { namespace, name: 'data-db-0', uid: claim.metadata?.uid ?? '' },
      nodeAffinity: { required: { nodeSelectorTerms: [term] } },
    },
  });
}

async function makePods(cluster: Cluster): Promise<void> {
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data-db-0' } }];
  for (const [name, used] of [
    ['db', volumes],
    ['web', []],
  ] as const) {
    const labels = { app: name };
    // No kubelet ends pods here.
    const spec = { containers: [main], terminationGracePeriodSeconds: 0 };
    const template = { metadata: { labels }, spec };
    const set = await cluster.resource(statefulSets).create({
      metadata: { namespace, name },
      spec: { replicas: 1, serviceName: name, selector: { matchLabels: labels }, template },
    });
    const uid = set.metadata?.uid ?? '';
    const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid, controller: true };
    await cluster.resource(pods).create({
      metadata: { namespace, name: `${name}-0`, labels, ownerReferences: [owner] },
      spec: { ...spec, nodeName: 'n1', volumes: used },
    });
  }
}

describe.skipIf(lacks(...serverPrograms))('stowage move on a Kubernetes cluster', () => {
  test('uses all rights of the documented role, and needs no others', { timeout: 900_000 }, async () => {
    const { bed, auditLog } = await startAuditedBed();
    await applied(bed, ['apply', '--server-side', '-f', join(projectRoot, 'deploy/crds')]);
    await applied(bed, ['wait', '--for=condition=Established', 'crd', '--all', '--timeout=300s']);
    const role = roleOnPage();
    await applied(bed, ['apply', '-f', role]);
    await applied(bed, ['create', 'serviceaccount', 'mover']);
    const cluster = await bed.connect();
    await makeObjects(cluster);
    const kubeconfig = await serviceAccountKubeconfig(bed, 'default', 'mover');
    const call = async (...args: readonly string[]) => {
      const { status, stdout, stderr } = await callInProcess(
        ...args,
        '--kubeconfig',
        kubeconfig,
        '-o',
        'json',
      );
      expect(stderr).toBe('');
      return { status, report: JSON.parse(stdout) };
    };
    const refused = await callInProcess('move', 'drive/d1', '--yes', '--kubeconfig', kubeconfig);
    expect([refused.status, refused.stdout, refused.stderr]).toEqual([
      1,
      '',
      'stowage: could not read drives: forbidden; ask for the right to list them\n',
    ]);
    await applied(bed, [
      'create',
      'clusterrolebinding',
      'mover',
      '--clusterrole=stowage-mover',
      '--serviceaccount=default:mover',
    ]);
    // The API server reads bindings by a watch.
    await untilGranted(bed, user, grantedRights(role));

    const plan = await call('drain-plan', 'drive/d1');
    expect([plan.status, plan.report.isComplete, plan.report.copiedBytes]).toEqual([0, true, gib]);
    const drive = await call('move', 'drive/d1', '--yes');
    expect([drive.status, drive.report]).toEqual([
      3,
      expect.objectContaining({
        state: 'CommandsNeeded',
        changes: [
          'drive/d1 cordoned',
          'drive/d2 cordoned for 1 volume of drive/d1',
          'node/n1 cordoned',
          'pod/default/db-0 evicted',
        ],
        commands: [{ node: 'n1', command: 'stowage drives move d1 d2' }],
      }),
    ]);
    const undone = await call('move', 'drive/d1', '--undo');
    expect([undone.status, undone.report.changes]).toEqual([
      0,
      ['drive/d2 uncordoned', 'node/n1 uncordoned', 'drive/d1 uncordoned'],
    ]);

    const node = await call('move', 'n1', '--yes');
    expect([node.status, node.report.state, node.report.left]).toEqual([
      3,
      'Left',
      [expect.objectContaining({ name: 'pvc-1', driver: drivesDriver })],
    ]);
    expect(node.report.changes).toEqual([
      'node/n1 cordoned',
      'drive/d1 cordoned',
      'drive/d2 cordoned',
      'storagenode/n1 evicted',
      'storagenode/n1 is empty',
      'pod/default/web-0 evicted',
    ]);
    expect((await cluster.resource(nodes).get({ name: 'n1' })).spec?.unschedulable).toBe(true);

    // The role is for all namespaces.
    const rights = () =>
      auditedRequestsOf(user, auditLog).rights.map((right) => right.replace(/^kube-system:/, '*:'));
    const granted = grantedRights(role);
    await untilAllUsed(() => granted.filter((right) => !rights().includes(right)));
    expect(rights().filter((right) => !granted.includes(right))).toEqual([]);
    // Before the binding everything was forbidden; then nothing that the commands need.
    const { forbidden } = auditedRequestsOf(user, auditLog);
    expect(forbidden.filter((request) => !/^(get|list) /.test(request))).toEqual([]);
  });
});
