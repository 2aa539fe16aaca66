import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { nodes, persistentVolumeClaims, pods } from '../../src/kube/resources.ts';
import { projectRoot } from '../project-root.ts';
import type { TestBed } from './test-bed.ts';
import { auditedRequestsOf, grantedRights, untilGranted } from './testing/audited-rights.ts';
import { fakeProvisionerName } from './testing/fake-provisioner.ts';
import {
  main,
  makeClass,
  makeDisk,
  makeNode,
  makePod,
  nodeOf,
  runScheduler,
  serviceAccountKubeconfig,
  until,
  untilPasses,
  untilPrinted,
} from './testing/run-scheduler.ts';
import { lacks, serverPrograms, startTestBed } from './vitest-beds.ts';

const manifest = join(projectRoot, 'deploy/stowage.yaml');
const kindsFolder = join(projectRoot, 'deploy/crds');
const user = 'system:serviceaccount:kube-system:stowage';
const auditPolicy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] };

/** Rejects all writes of our scheduler to objects with these names, so that it has to read them again. */
const refusing = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: refusing }
spec:
  matchConstraints:
    resourceRules:
      - { apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods/binding] }
      - { apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [persistentvolumes, persistentvolumeclaims] }
  matchConditions:
    - { name: ours, expression: "request.userInfo.username == '${user}'" }
  validations:
    - { expression: "!object.metadata.name.startsWith('refused')" }
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: refusing }
spec: { policyName: refusing, validationActions: [Deny] }
`;

async function startAuditedBed(): Promise<{ readonly bed: TestBed; readonly auditLog: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-audit-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const policy = join(folder, 'policy.json');
  const auditLog = join(folder, 'audit.log');
  writeFileSync(policy, JSON.stringify(auditPolicy));
  const bed = await startTestBed({
    apiServer: {
      extraFlags: {
        'authorization-mode': 'RBAC,Node',
        'audit-policy-file': policy,
        'audit-log-path': auditLog,
      },
    },
    controllerManager: {
      controllers: ['persistentvolume-binder-controller'],
    },
  });
  return { bed, auditLog };
}

async function kubectl(bed: TestBed, args: readonly string[], input = ''): Promise<string> {
  const { stdout, stderr, code } = await bed.kubectl(args, input);
  if (code !== 0) throw new Error(stderr);
  return stdout + stderr;
}

/** A policy takes effect some time after it was created. */
async function untilRefused(bed: TestBed): Promise<void> {
  const volume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'refused-probe' },
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/none' } },
  };
  await kubectl(bed, ['create', '-f', '-'], JSON.stringify(volume));
  const patch = ['patch', 'pv/refused-probe', '--type=merge', '-p', '{"metadata":{"labels":{"probe":"1"}}}'];
  const asUser = ['--dry-run=server', '--as', user];
  const isRefused = async () =>
    (await bed.kubectl([...patch, ...asUser])).stderr.includes("ValidatingAdmissionPolicy 'refusing'");
  await until(isRefused, 200);
  await kubectl(bed, ['delete', 'pv', 'refused-probe', '--wait=false']);
}

/** As the Deployment mounts it. */
function configurationIn(path: string): string {
  const documents = parseAllDocuments(readFileSync(path, 'utf8')).map((each) => each.toJS());
  return documents.find(({ kind }) => kind === 'ConfigMap').data['stowage.yaml'];
}

/** Creates objects that make the scheduler use all its code paths. */
async function workFor(cluster: Cluster): Promise<void> {
  await makeClass(cluster, 'local');
  await makeClass(cluster, 'made', fakeProvisionerName);
  await makeNode(cluster, 'n1');
  await makeNode(cluster, 'small', { cpu: '1' });
  const onSmall = { nodeSelector: { 'kubernetes.io/hostname': 'small' } };
  const whole = { ...onSmall, containers: [{ ...main, resources: { requests: { cpu: '1' } } }] };
  await makeDisk(cluster, 'disk', { node: 'n1', storageClassName: 'local' });
  await makePod(cluster, 'placed', { claimsOf: ['local'] });
  expect(await nodeOf(cluster, 'placed')).toBe('n1');
  await makePod(cluster, 'victim', { spec: { ...whole, priority: 0 } });
  expect(await nodeOf(cluster, 'victim')).toBe('small');
  await makePod(cluster, 'important', { spec: { ...whole, priorityClassName: 'system-node-critical' } });
  await makePod(cluster, 'hopeless', { spec: { nodeSelector: { nowhere: 'yes' } } });
  await makePod(cluster, 'refused-pod');
  await makeDisk(cluster, 'refused-disk', { node: 'n1', storageClassName: 'local' });
  await makePod(cluster, 'unlucky', { claimsOf: ['local'] });
  await makePod(cluster, 'refused-claim', { claimsOf: ['made'] });
}

/** Each change makes the scheduler try the pod that fits nowhere again, with the same result. */
async function stir(cluster: Cluster, turn: number): Promise<void> {
  const patch = { type: 'merge', body: { metadata: { labels: { turn: `${turn}` } } } } as const;
  await cluster.resource(nodes).patch({ name: 'n1' }, patch);
}

describe.skipIf(lacks(...serverPrograms, 'kube-controller-manager'))('stowage as installed', () => {
  test('works with the rights of its role, and uses every one of them', async () => {
    const { bed, auditLog } = await startAuditedBed();
    const cluster = await bed.connect();
    await kubectl(bed, ['apply', '--server-side', '-f', manifest, '-f', kindsFolder]);
    await kubectl(bed, ['apply', '-f', '-'], refusing);
    const kinds = ['crd/drivercapacities.stowage.dev', 'crd/drives.stowage.dev'];
    await kubectl(bed, ['wait', '--for=condition=Established', '--timeout=300s', ...kinds]);
    const config = join(bed.folder, 'data', 'stowage.yaml');
    writeFileSync(config, configurationIn(manifest));
    const granted = grantedRights(manifest);
    await untilGranted(bed, user, granted);
    await untilRefused(bed);
    const kubeconfig = await serviceAccountKubeconfig(bed, 'kube-system', 'stowage');
    const stowage = runScheduler(kubeconfig, '--config', config, '--http-address', '127.0.0.1:0');
    await untilPrinted(stowage, 'scheduler: this process leads');
    await untilPrinted(stowage, 'metrics are on ');
    const [, url] = /metrics are on (\S+)/.exec(stowage.stderr) ?? [];
    await until(async () => (await fetch(`${url}/readyz`)).ok);

    await workFor(cluster);
    // The pending pod is tried again and again, so that the scheduler uses every right of its role.
    let turn = 0;
    await untilPasses(async () => {
      turn += 1;
      await stir(cluster, turn);
      expect(auditedRequestsOf(user, auditLog).rights).toEqual(granted);
    }, 500);
    const { paths, forbidden } = auditedRequestsOf(user, auditLog);
    expect(forbidden).toEqual([]);
    expect(paths.filter((path) => !/^\/(version|apis?(\/[\w.]+){0,2})$/.test(path))).toEqual([]);

    const claims = cluster.resource(persistentVolumeClaims);
    await until(
      async () => (await claims.get({ namespace: 'default', name: 'placed' })).status?.phase === 'Bound',
    );
    expect(await (await fetch(`${url}/metrics`)).text()).toContain('\nstowage_scheduler_');
    expect(await stowage.stop()).toEqual({ status: 0, signal: null });
  });

  test('runs with pod security level restricted, and can be removed completely', async () => {
    const bed = await startTestBed({
      scheduler: true,
      kwok: true,
      controllerManager: { controllers: ['deployment-controller', 'replicaset-controller'] },
    });
    const cluster = await bed.connect();
    await makeNode(cluster, 'n1');
    await kubectl(bed, ['apply', '-f', manifest]);
    await kubectl(bed, ['-n', 'kube-system', 'rollout', 'status', 'deployment/stowage']);
    const ours = async () => (await cluster.resource(pods).list({ namespace: 'kube-system' })).items;
    expect((await ours()).map(({ spec }) => [spec?.priorityClassName, spec?.serviceAccountName])).toEqual(
      Array(2).fill(['system-cluster-critical', 'stowage']),
    );
    const strict = 'pod-security.kubernetes.io/enforce=restricted';
    const said = await kubectl(bed, ['label', 'namespace', 'kube-system', strict]);
    expect(said).not.toMatch(/Warning/);
    const gone = await kubectl(bed, ['delete', '--wait=false', '-f', manifest, '--cascade=orphan']);
    expect(gone.match(/ deleted/g)).toHaveLength(9);
  });
});
