/** `stowage run` serves a CSI driver of another language on a cluster of real programs; the test plays the node plugins' registration. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { KubernetesCluster } from '../../src/cluster/kubernetes/client.ts';
import type { PodSpec } from '../../src/kube/api/core.ts';
import {
  csiDrivers,
  csiNodes,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  storageClasses,
  volumeAttachments,
  volumeAttributesClasses,
} from '../../src/kube/resources.ts';
import { labels } from '../../src/kube/well-known.ts';
import { projectRoot } from '../project-root.ts';
import type { StowageProcess } from '../up/stowage-process.ts';
import type { TestBed } from './test-bed.ts';
import { applied } from './testing/audited-bed.ts';
import { auditedRequestsOf, grantedRights, untilAllUsed, untilGranted } from './testing/audited-rights.ts';
import {
  deleteAll,
  makeClaimAndPod,
  makeForeignVolume,
  runsOn,
  untilPublished,
} from './testing/csi-objects.ts';
import { failTwice } from './testing/failing-claim.ts';
import { MockDriver, type MockDriverOptions } from './testing/mock-driver.ts';
import {
  runScheduler,
  serviceAccountKubeconfig,
  until,
  untilPasses,
  untilPrinted,
} from './testing/run-scheduler.ts';
import { lacks, serverPrograms, startTestBed } from './vitest-beds.ts';

const namespace = 'default';
const manifest = join(projectRoot, 'deploy/csi.yaml');
const user = 'system:serviceaccount:kube-system:stowage-csi';
const auditPolicy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] };
const controllers = [
  'persistentvolume-binder-controller',
  'persistentvolume-attach-detach-controller',
  'persistentvolume-protection-controller',
  'persistentvolumeclaim-protection-controller',
];

interface Setup {
  readonly bed: TestBed;
  readonly cluster: KubernetesCluster;
  readonly mock: MockDriver;
  readonly stowage: StowageProcess;
  readonly auditLog: string;
}

interface SetupOptions extends Omit<MockDriverOptions, 'nodes'> {
  /** A process for each node, as a DaemonSet runs them. */
  readonly isNodeDeployment?: boolean;
  readonly runFlags?: readonly string[];
  readonly attachRequired?: boolean;
  readonly pollInterval?: string;
}

/** A cluster with a node for each pool, and `stowage run` with the rights of the manifest. */
async function start({
  attachRequired = false,
  pollInterval = '1s',
  runFlags = [],
  isNodeDeployment = false,
  ...options
}: SetupOptions): Promise<Setup> {
  const nodeNames = Object.keys(options.pools);
  const mock = await MockDriver.start({ ...options, ...(isNodeDeployment ? { nodes: nodeNames } : {}) });
  const folder = mkdtempSync(join(tmpdir(), 'stowage-audit-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const policy = join(folder, 'policy.json');
  const auditLog = join(folder, 'audit.log');
  writeFileSync(policy, JSON.stringify(auditPolicy));
  const extraFlags = { 'audit-policy-file': policy, 'audit-log-path': auditLog };
  const bed = await startTestBed({
    apiServer: { extraFlags },
    scheduler: true,
    kwok: true,
    controllerManager: { controllers },
  });
  // Our kinds are asked for only where they are there.
  await applied(bed, ['apply', '--server-side', '-f', join(projectRoot, 'deploy/crds')]);
  await applied(bed, ['wait', '--for=condition=Established', 'crd', '--all', '--timeout=300s']);
  await applied(bed, ['apply', '-f', manifest]);
  if (isNodeDeployment) await grantHeartbeats(bed);
  const cluster = await bed.connect();
  const spec = { storageCapacity: true, attachRequired };
  await cluster.resource(csiDrivers).create({ metadata: { name: mock.name }, spec });
  await cluster.resource(storageClasses).create({
    metadata: { name: 'fast' },
    provisioner: mock.name,
    volumeBindingMode: 'WaitForFirstConsumer',
    allowVolumeExpansion: true,
  });
  for (const name of nodeNames) await registerNode(cluster, mock, name);
  await untilGranted(bed, user, grantedRights(manifest));
  const kubeconfig = await serviceAccountKubeconfig(bed, 'kube-system', 'stowage-csi');
  const common = ['--capacity-poll-interval', pollInterval, ...runFlags];
  const all = ['--controllers', 'provisioner,capacity,expander,attacher', '--csi-address', mock.address];
  const processes = isNodeDeployment
    ? nodeNames.map((node) => runScheduler(kubeconfig, ...nodeFlags(mock, node), ...common))
    : [runScheduler(kubeconfig, ...all, ...common)];
  const [stowage] = processes as [StowageProcess];
  onTestFinished(({ task }) => {
    if (task.result?.state !== 'fail') return;
    const { forbidden } = auditedRequestsOf(user, auditLog);
    const calls = mock.calls().map(({ method, code }) => `${method} ${code}`);
    const logs = processes.map(({ stderr }) => stderr).join('--- next process\n');
    process.stderr.write(`--- stowage run\n${logs}${[...forbidden, ...calls].join('\n')}\n`);
  });
  if (!isNodeDeployment) await untilPrinted(stowage, 'capacity: this process leads');
  return { bed, cluster, mock, stowage, auditLog };
}

/** The Leases of the publishers of nodes, which the chart grants to a DaemonSet. */
async function grantHeartbeats(bed: TestBed): Promise<void> {
  const [role, inNamespace] = ['stowage-csi-heartbeats', ['-n', 'kube-system']];
  const verbs = '--verb=get,create,update';
  await applied(bed, [
    'create',
    'role',
    role,
    ...inNamespace,
    verbs,
    '--resource=leases.coordination.k8s.io',
  ]);
  const account = '--serviceaccount=kube-system:stowage-csi';
  await applied(bed, ['create', 'rolebinding', role, ...inNamespace, `--role=${role}`, account]);
}

function nodeFlags(mock: MockDriver, node: string): readonly string[] {
  const address = mock.nodeFlag(node).slice(node.length + 1);
  const flags = ['--node-deployment', '--node-name', node, '--csi-address', address];
  return ['--controllers', 'provisioner,capacity', ...flags];
}

/** What a kubelet does when a node plugin registers. */
async function registerNode(cluster: KubernetesCluster, mock: MockDriver, name: string): Promise<void> {
  const annotations = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' };
  await cluster.resource(nodes).create({
    metadata: { name, annotations, labels: { [labels.hostname]: name, [mock.topologyKey]: name } },
  });
  const drivers = [{ name: mock.name, nodeID: name, topologyKeys: [mock.topologyKey] }];
  await cluster.resource(csiNodes).create({ metadata: { name }, spec: { drivers } });
}

/** A pod of kube-scheduler, with a claim. */
async function makeQuickPod(
  setup: Setup,
  name: string,
  storage: string,
  spec: Partial<PodSpec> = {},
): Promise<void> {
  await makeClaimAndPod(setup, name, storage, { terminationGracePeriodSeconds: 0, ...spec });
}

/** The node of the pod, once it runs and its claim is bound. */
async function runsBoundOn(setup: Setup, name: string): Promise<string> {
  const node = await runsOn(setup, name);
  // kube-scheduler binds a pod when its claims name their volumes; the phase is written after that.
  const claims = setup.cluster.resource(persistentVolumeClaims);
  await until(async () => (await claims.get({ namespace, name })).status?.phase === 'Bound');
  return node;
}

/** Every request was allowed; returns the rights that were granted and not used. */
function unusedRights({ auditLog }: Setup): readonly string[] {
  const { rights, forbidden } = auditedRequestsOf(user, auditLog);
  expect(forbidden).toEqual([]);
  return grantedRights(manifest).filter((right) => !rights.includes(right));
}

const programs = [
  ...serverPrograms,
  'kube-controller-manager',
  'kube-scheduler',
  'kwok',
  'csi-mock',
] as const;

describe.skipIf(lacks(...programs))(
  'stowage run with a CSI driver, beside the programs of Kubernetes',
  () => {
    test('kube-scheduler places a pod by what we published, its volume is created, attached, expanded, modified and deleted', async () => {
      const setup = await start({ pools: { n1: 2, n2: 8 }, attachRequired: true, flags: [] });
      const { cluster, mock } = setup;
      await untilPublished(setup, 'n1 2Gi, n2 8Gi');
      await makeQuickPod(setup, 'db', '5Gi');
      expect(await runsBoundOn(setup, 'db')).toBe('n2');
      await untilPublished(setup, 'n1 2Gi, n2 3Gi');
      await untilPasses(async () => {
        const { items } = await cluster.resource(volumeAttachments).list();
        expect(items).toMatchObject([
          {
            spec: { attacher: mock.name, nodeName: 'n2' },
            status: { attached: true, attachmentMetadata: { device: '/dev/mock' } },
          },
        ]);
      });

      const body = { spec: { resources: { requests: { storage: '6Gi' } } } };
      const claims = cluster.resource(persistentVolumeClaims);
      await claims.patch({ namespace, name: 'db' }, { type: 'merge', body });
      const size = async () => (await claims.get({ namespace, name: 'db' })).status?.capacity?.storage;
      await until(async () => (await size()) === '6Gi');
      await untilPublished(setup, 'n1 2Gi, n2 2Gi');

      const gold = { metadata: { name: 'gold' }, driverName: mock.name, parameters: { tier: 'gold' } };
      await cluster.resource(volumeAttributesClasses).create(gold);
      const modified = { spec: { volumeAttributesClassName: 'gold' } };
      await claims.patch({ namespace, name: 'db' }, { type: 'merge', body: modified });
      const current = async () =>
        (await claims.get({ namespace, name: 'db' })).status?.currentVolumeAttributesClassName;
      await until(async () => (await current()) === 'gold');

      // No node has 7 GiB, and kube-scheduler says so.
      await makeQuickPod(setup, 'large', '7Gi');
      const conditions = async () =>
        (await cluster.resource(pods).get({ namespace, name: 'large' })).status?.conditions ?? [];
      await until(async () =>
        (await conditions()).some(({ message }) =>
          /2 node\(s\) did not have enough free storage/.test(message ?? ''),
        ),
      );
      await cluster.resource(pods).delete({ namespace, name: 'large' });
      await cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'large' });

      await deleteAll(setup, 'db');
      await untilPublished(setup, 'n1 2Gi, n2 8Gi');
      const about = /^(CreateVolume|DeleteVolume|Controller(Publish|Unpublish|Expand)Volume)$/;
      const calls = mock
        .calls()
        .flatMap(({ method, code }) => (about.test(method) ? [`${method} ${code}`] : []));
      // A call is repeated if the write after it conflicts with one of Kubernetes.
      expect(calls.filter((call, at) => call !== calls[at - 1])).toEqual([
        'CreateVolume OK',
        'ControllerPublishVolume OK',
        'ControllerExpandVolume OK',
        'ControllerUnpublishVolume OK',
        'DeleteVolume OK',
      ]);
      await failTwice(cluster, { storageClassName: 'fast', node: 'n1', storage: '100Gi' });
      await cluster.resource(storageClasses).delete({ name: 'fast' });
      await untilPublished(setup, '');
      await untilAllUsed(() => unusedRights(setup));
    });

    test('a node whose capacity was used behind our back is left for another one', async () => {
      const setup = await start({
        pools: { n1: 4, n2: 8 },
        pollInterval: '1h',
        runFlags: ['--strict-topology'],
      });
      const { mock, cluster } = setup;
      await untilPublished(setup, 'n1 4Gi, n2 8Gi');
      await makeForeignVolume(mock, 'n2', 7);
      const preference = {
        matchExpressions: [{ key: labels.hostname, operator: 'In' as const, values: ['n2'] }],
      };
      const affinity = {
        nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, preference }] },
      };
      await makeQuickPod(setup, 'db', '3Gi', { affinity });
      expect(await runsBoundOn(setup, 'db')).toBe('n1');
      await untilPublished(setup, 'n1 1Gi, n2 1Gi');
      const codes = mock.calls('CreateVolume').map(({ code }) => code);
      // kube-scheduler may select n2 again before it has seen the new figure.
      expect(codes.filter((code, at) => code !== codes[at - 1])).toEqual(['OK', 'ResourceExhausted', 'OK']);
      const [volume] = (await cluster.resource(persistentVolumes).list()).items;
      expect(volume?.metadata?.name).toBe((await mock.volumeNames()).find((name) => name !== 'foreign'));
      unusedRights(setup);
    });

    test('with --node-deployment, the process of each node publishes its capacity and creates its volumes', async () => {
      const setup = await start({ pools: { n1: 2, n2: 8 }, isNodeDeployment: true });
      await untilPublished(setup, 'n1 2Gi, n2 8Gi');
      await makeQuickPod(setup, 'db', '5Gi');
      expect(await runsBoundOn(setup, 'db')).toBe('n2');
      await untilPublished(setup, 'n1 2Gi, n2 3Gi');
      await makeQuickPod(setup, 'small', '2Gi', { nodeSelector: { [labels.hostname]: 'n1' } });
      expect(await runsBoundOn(setup, 'small')).toBe('n1');
      await setup.cluster.resource(pods).delete({ namespace, name: 'small' });
      await setup.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'small' });
      await deleteAll(setup, 'db');
      await untilPublished(setup, 'n1 2Gi, n2 8Gi');
      const created = setup.mock.calls('CreateVolume');
      expect(created.filter(({ code }) => code !== 'OK')).toEqual([]);
      // A call is repeated if the write after it conflicts with one of Kubernetes.
      expect(new Set(created.map(({ request }) => request.name)).size).toBe(2);
      unusedRights(setup);
    });

    test('a process that is killed leaves no volume behind', async () => {
      const setup = await start({ pools: { n1: 4 } });
      await untilPublished(setup, 'n1 4Gi');
      await makeQuickPod(setup, 'db', '1Gi');
      await until(() => setup.mock.calls('CreateVolume').length > 0);
      await setup.stowage.kill();
      await setup.cluster.resource(pods).delete({ namespace, name: 'db' });
      await setup.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'db' });
      const [, , , ...flags] = setup.stowage.args;
      runScheduler(setup.stowage.args[2]!, ...flags);
      await until(
        async () => (await setup.cluster.resource(persistentVolumeClaims).list()).items.length === 0,
        200,
      );
      await until(
        async () => (await setup.cluster.resource(persistentVolumes).list()).items.length === 0,
        200,
      );
      expect(await setup.mock.volumeNames()).toEqual([]);
    });
  },
);
