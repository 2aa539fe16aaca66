/** The admission policies of the chart: who may write ledgers and verdicts, on a real API server. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { projectRoot } from '../project-root.ts';
import type { TestBed } from './test-bed.ts';
import { applied } from './testing/audited-bed.ts';
import { isRetry } from './testing/is-retry.ts';
import { until, untilAllowed } from './testing/run-scheduler.ts';
import { lacks, serverPrograms, sharedTestBed } from './vitest-beds.ts';

const group = 'stowage.dev';
/** An account with every ordinary right for our kinds. */
const editor = `
apiVersion: v1
kind: ServiceAccount
metadata: { name: editor, namespace: default }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: editor }
rules:
  - apiGroups: [${group}]
    resources: [drives, drives/status, diskschedules, diskschedules/status, storagenodes, storagenodes/status]
    verbs: [get, list, watch, create, update, patch, delete]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: editor }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: editor }
subjects: [{ kind: ServiceAccount, name: editor, namespace: default }]
---
# kubectl reads a status before it patches it. Drivers and agents have no right for that, because they don't.
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: status-reader }
rules:
  - apiGroups: [${group}]
    resources: [drives/status, replicas/status, backingimages/status]
    verbs: [get]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: status-reader }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: status-reader }
subjects:
  - { kind: ServiceAccount, name: stowage-drives-node, namespace: kube-system }
  - { kind: ServiceAccount, name: stowage-disk-agent, namespace: kube-system }
`;
const drivesKind = 'drives.stowage.dev';
const schedulesKind = 'diskschedules.stowage.dev';
/** Names of DiskSchedules, and the nodes of their disks. */
const disks = { 'disk-1': 'n1', 'disk-2': 'n2' };
const diskUUID = '00000000-0000-4000-8000-000000000001';
const entries = [{ name: 'pvc-1', sizeBytes: 10 }];

describe.skipIf(lacks(...serverPrograms))('the policies of the chart', () => {
  const bed = sharedTestBed();

  beforeAll(async () => {
    await applied(bed(), ['apply', '--server-side', '-f', join(projectRoot, 'deploy/crds')]);
    await applied(bed(), ['wait', '--for=condition=Established', 'crd', '--all', '--timeout=300s']);
    for (const file of ['drives.yaml', 'disks.yaml'])
      await applied(bed(), ['apply', '-f', join(projectRoot, 'deploy', file)]);
    await applied(bed(), ['apply', '-f', '-'], editor);
    for (const name of ['n1', 'n2'])
      await applied(bed(), ['create', '-f', '-'], json('v1', 'Node', name, {}));
    for (const [at, nodeName] of ['n1', 'n2'].entries()) {
      const spec = { nodeName, filesystemUUID: `00000000-0000-4000-8000-00000000000${at}` };
      await applied(bed(), ['create', '-f', '-'], ours('Drive', `drive-${nodeName}`, { spec }));
      const status = JSON.stringify({ status: { capacityBytes: 1000, state: 'Ready' } });
      await applied(bed(), [
        'patch',
        `drives/drive-${nodeName}`,
        '--subresource=status',
        '--type=merge',
        '-p',
        status,
      ]);
      await applied(bed(), ['create', '-f', '-'], ours('StorageNode', nodeName, { spec: {} }));
    }
    for (const [name, nodeID] of Object.entries(disks)) {
      const schedule = ours('DiskSchedule', name, { spec: { name: 'd', nodeID } });
      await applied(bed(), ['create', '-f', '-'], schedule);
      const spec = { volumeName: 'v', volumeSize: 1, nodeID, diskID: diskUUID };
      await applied(bed(), ['create', '-f', '-'], ours('Replica', `replica-${nodeID}`, { spec }));
    }
    const spec = { source: { download: { url: 'http://images.example/i' } }, expectedSize: 1 };
    await applied(bed(), ['create', '-f', '-'], ours('BackingImage', 'image', { spec }));
    await untilInEffect(bed());
  });

  test('an account with every right for drives may change them, but not their ledgers', async ({ task }) => {
    const run = await as(bed(), 'default', 'editor');
    expect(await run(patched('drives/drive-n1', { spec: { unschedulable: true } }))).toMatchObject({
      code: 0,
    });
    const refused = await run(patched('drives/drive-n1', { spec: { volumes: entries } }));
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(
      'spec.volumes: is the ledger of the driver, and system:serviceaccount:default:editor lacks the right write-ledger',
    );
    const spec = { nodeName: 'n1', filesystemUUID: '00000000-0000-4000-8000-000000000009' };
    const created = (more: object) =>
      ours('Drive', isRetry(task) ? 'newer' : 'new', { spec: { ...spec, ...more } });
    expect((await run(['create', '-f', '-'], created({ volumes: entries }))).stderr).toContain(
      'write-ledger',
    );
    expect(await run(['create', '-f', '-'], created({}))).toMatchObject({ code: 0 });
    const existing = { nodeName: 'n1', filesystemUUID: '00000000-0000-4000-8000-000000000000' };
    const ledger = ours('Drive', 'drive-n1', { spec: { ...existing, volumes: entries } });
    const forced = await run(['apply', '--server-side', '--force-conflicts', '-f', '-'], ledger);
    expect(forced.stderr).toContain('write-ledger');
  });

  test.each(['stowage-drives', 'stowage-drives-node'])(
    'the account %s writes ledgers, and not without write-ledger in its role',
    async (account) => {
      const run = await as(bed(), 'kube-system', account);
      const ledger = patched('drives/drive-n2', { spec: { volumes: entries } });
      expect(await run(ledger)).toMatchObject({ code: 0, stderr: '' });
      expect(await run(patched('drives/drive-n2', { spec: { volumes: null } }))).toMatchObject({ code: 0 });
      await withoutVerb(bed(), account, ['write-ledger', drivesKind], async () => {
        await until(async () => (await run(ledger)).stderr.includes('write-ledger'), 100);
      });
    },
  );

  test('the driver on a node changes the drives of that node only', async () => {
    const run = await as(bed(), 'kube-system', 'stowage-drives-node', 'n1');
    expect(await run(patched('drives/drive-n1', { spec: { volumes: entries } }))).toMatchObject({ code: 0 });
    const { stderr } = await run(patched('drives/drive-n2', { spec: { volumes: entries } }));
    expect(stderr).toContain(
      'spec.nodeName: the driver on node n1 may change the drives of that node only, and this one is on n2',
    );
    expect(await run(patched('drives/drive-n1', { spec: { volumes: null } }))).toMatchObject({ code: 0 });
  });

  test('the driver on a node writes the status of the drives of that node only, and deletes no others', async () => {
    const run = await as(bed(), 'kube-system', 'stowage-drives-node', 'n1');
    const ready = { capacityBytes: 1000, state: 'Ready' };
    expect(await run(status('drives/drive-n1', ready))).toMatchObject({ code: 0 });
    const refused = 'the driver on node n1 may change the drives of that node only, and this one is on n2';
    expect((await run(status('drives/drive-n2', ready))).stderr).toContain(refused);
    expect((await run(['delete', 'drives/drive-n2', '--dry-run=server'])).stderr).toContain(refused);
    expect(await run(['delete', 'drives/drive-n1', '--dry-run=server'])).toMatchObject({ code: 0 });
  });

  test('a drive with volumes is deleted only by accounts that may change its ledger', async () => {
    await applied(bed(), patched('drives/drive-n1', { spec: { volumes: entries } }));
    const run = await as(bed(), 'default', 'editor');
    const deletion = ['delete', 'drives/drive-n1', '--dry-run=server'];
    expect((await run(deletion)).stderr).toContain('write-ledger');
    await applied(bed(), deletion);
    await applied(bed(), patched('drives/drive-n1', { spec: { volumes: null } }));
    expect(await run(deletion)).toMatchObject({ code: 0 });
  });

  test('an administrator may change a ledger', async () => {
    await applied(bed(), patched('drives/drive-n1', { spec: { volumes: entries } }));
    await applied(bed(), patched('drives/drive-n1', { spec: { volumes: null } }));
  });

  test('verdicts are written by the account of disks only, and not without write-verdicts in its role', async () => {
    const verdict = status('diskschedules/disk-1', { storageLimit: 5 });
    const run = await as(bed(), 'default', 'editor');
    expect((await run(verdict)).stderr).toContain(
      'status: has the verdicts of the controller disks, and system:serviceaccount:default:editor lacks the right write-verdicts',
    );
    const replaced = await as(bed(), 'kube-system', 'stowage-disks');
    const stored = async () => await applied(bed(), ['get', 'diskschedules/disk-1', '-o', 'json']);
    const changed = async (storageLimit: number) =>
      JSON.stringify({ ...JSON.parse(await stored()), status: { storageLimit } });
    const update = ['replace', '--subresource=status', '-f', '-'];
    expect(await replaced(update, await changed(7))).toMatchObject({ code: 0, stderr: '' });
    await withoutVerb(bed(), 'stowage-disks', ['write-verdicts', schedulesKind], async () => {
      await until(
        async () => (await replaced(update, await changed(8))).stderr.includes('write-verdicts'),
        100,
      );
    });
  });

  test('an agent writes the status of its own StorageNode only', async () => {
    const run = await as(bed(), 'kube-system', 'stowage-disk-agent', 'n1');
    const changed = async (name: string) =>
      JSON.stringify({
        ...JSON.parse(await applied(bed(), ['get', `storagenodes/${name}`, '-o', 'json'])),
        status: { zone: 'a' },
      });
    const update = ['replace', '--subresource=status', '-f', '-'];
    expect(await run(update, await changed('n1'))).toMatchObject({ code: 0, stderr: '' });
    expect((await run(update, await changed('n2'))).stderr).toContain(
      'the agent on node n1 may write the status of that StorageNode only',
    );
  });

  test('an agent writes the replicas of its own node only, and not their place', async () => {
    const run = await as(bed(), 'kube-system', 'stowage-disk-agent', 'n1');
    const token = { transferTokenSHA256: 'a'.repeat(64) };
    expect(await run(status('replicas/replica-n1', token))).toMatchObject({ code: 0, stderr: '' });
    expect((await run(status('replicas/replica-n2', token))).stderr).toContain(
      'the agent on node n1 may write the replicas of that node only',
    );
    const taken = patched('replicas/replica-n2', { spec: { nodeID: 'n1' } });
    expect((await run(taken)).stderr).toContain('an agent may change the status and its finalizer');
    const kept = { metadata: { finalizers: ['stowage.dev/disk-agent'] } };
    expect(await run(patched('replicas/replica-n1', kept))).toMatchObject({ code: 0, stderr: '' });
    const released = patched('replicas/replica-n1', { metadata: { finalizers: null } });
    expect((await run(released)).stderr).toContain('from objects that are being deleted only');
    await applied(bed(), released);
  });

  test('an agent writes the copies of images on its own disks only', async () => {
    const run = await as(bed(), 'kube-system', 'stowage-disk-agent', 'n1');
    const copyOn = (disk: string) =>
      status('backingimages/image', { diskFileStatusMap: { [disk]: { state: 'starting' } } });
    expect(await run(copyOn('disk-1'))).toMatchObject({ code: 0, stderr: '' });
    expect((await run(copyOn('disk-2'))).stderr).toContain('and disk disk-2 is in another one');
    await applied(bed(), copyOn('disk-2'));
    const removed = status('backingimages/image', { diskFileStatusMap: { 'disk-2': null } });
    expect((await run(removed)).stderr).toContain('and disk disk-2 is in another one');
    const cordoned = patched('backingimages/image', { spec: { minNumberOfCopies: 2 } });
    expect((await run(cordoned)).stderr).toContain('an agent may change the status and its finalizer');
  });
});

/** Roles and policies take effect some time after they were created. */
async function untilInEffect(bed: TestBed): Promise<void> {
  const run = await as(bed, 'default', 'editor');
  const refusals = [
    { args: patched('drives/drive-n1', { spec: { volumes: entries } }), text: 'write-ledger' },
    { args: status('diskschedules/disk-1', { storageLimit: 1 }), text: 'write-verdicts' },
  ];
  const agent = await as(bed, 'kube-system', 'stowage-disk-agent', 'n1');
  const foreign = [
    status('replicas/replica-n2', { size: 1 }),
    status('backingimages/image', { diskFileStatusMap: { 'disk-2': { state: 'starting' } } }),
  ];
  for (const args of foreign)
    await until(
      async () => (await agent([...args, '--dry-run=server'])).stderr.includes('of that node only'),
      200,
    );
  // A dry run: it may still be allowed.
  for (const { args, text } of refusals)
    await until(async () => (await run([...args, '--dry-run=server'])).stderr.includes(text), 200);
  const may = [
    ['stowage-drives', 'patch', drivesKind],
    ['stowage-drives', 'write-ledger', drivesKind],
    ['stowage-drives-node', 'patch', drivesKind],
    ['stowage-drives-node', 'write-ledger', drivesKind],
    ['stowage-disks', 'update', schedulesKind, '--subresource=status'],
    ['stowage-disks', 'write-verdicts', schedulesKind],
    ['stowage-disk-agent', 'update', 'storagenodes.stowage.dev', '--subresource=status'],
  ];
  for (const [account, ...question] of may)
    await untilAllowed(bed, `system:serviceaccount:kube-system:${account}`, ...question);
}

type Run = (
  args: readonly string[],
  input?: string,
) => Promise<{ readonly code: number; readonly stderr: string }>;

/** kubectl as a service account; with a node, as a pod on that node. */
async function as(bed: TestBed, namespace: string, name: string, node?: string): Promise<Run> {
  const binding = node === undefined ? [] : ['--bound-object-kind=Node', `--bound-object-name=${node}`];
  const token = await applied(bed, ['create', 'token', name, '--namespace', namespace, ...binding]);
  const config = JSON.parse(readFileSync(bed.kubeconfig, 'utf8'));
  config.users[0].user = { token: token.trim() };
  const path = join(bed.folder, 'data', `kubeconfig-${name}-${node ?? ''}`);
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  return async (args, input = '') => await bed.kubectl(['--kubeconfig', path, ...args], input);
}

/** Without the verb in the ClusterRole of this name, until `work` has ended. */
async function withoutVerb(
  bed: TestBed,
  role: string,
  [verb, kind]: readonly [string, string],
  work: () => Promise<void>,
): Promise<void> {
  const stored = JSON.parse(await applied(bed, ['get', 'clusterrole', role, '-o', 'json']));
  const rules = (stored.rules as readonly { readonly verbs: readonly string[] }[]).filter(
    ({ verbs }) => !verbs.includes(verb),
  );
  expect(rules).toHaveLength(stored.rules.length - 1);
  await applied(bed, ['patch', 'clusterrole', role, '--type=merge', '-p', JSON.stringify({ rules })]);
  try {
    await work();
  } finally {
    const body = JSON.stringify({ rules: stored.rules });
    await applied(bed, ['patch', 'clusterrole', role, '--type=merge', '-p', body]);
    await untilAllowed(bed, `system:serviceaccount:kube-system:${role}`, verb, kind);
  }
}

function patched(what: string, body: object): readonly string[] {
  return ['patch', what, '--type=merge', '-p', JSON.stringify(body)];
}

function status(what: string, body: object): readonly string[] {
  return [...patched(what, { status: body }), '--subresource=status'];
}

function ours(kind: string, name: string, body: object): string {
  return json('stowage.dev/v1alpha1', kind, name, body);
}

function json(apiVersion: string, kind: string, name: string, body: object): string {
  return JSON.stringify({ apiVersion, kind, metadata: { name }, ...body });
}
