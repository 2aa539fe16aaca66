/** What options of the chart grant beside the rights of deploy/csi.yaml, which csi-real.test.ts uses: all of it is used. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFailed, onTestFinished, test } from 'vitest';
import { KubernetesCluster } from '../../src/cluster/kubernetes/client.ts';
import { OrphanedCapacityReports } from '../../src/controllers/capacity/cleanup/orphaned-capacity-reports.ts';
import { driverCapacities, persistentVolumeClaims, storageClasses } from '../../src/kube/resources.ts';
import { annotations } from '../../src/kube/well-known.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { projectRoot } from '../project-root.ts';
import { StowageProcess } from '../up/stowage-process.ts';
import type { TestBed } from './test-bed.ts';
import { type AuditedBed, applied, startAuditedBed } from './testing/audited-bed.ts';
import {
  auditedRequestsOf,
  grantedRights,
  untilAllUsed,
  untilGranted,
  withdraw,
} from './testing/audited-rights.ts';
import { untilPublished } from './testing/csi-objects.ts';
import { failTwice } from './testing/failing-claim.ts';
import { type ChartValues, rendered } from './testing/helm.ts';
import { argumentsOf, environmentOf, makePodOf, workloadIn } from './testing/installed-workload.ts';
import { MockDriver } from './testing/mock-driver.ts';
import { accessModes, serviceAccountKubeconfig, until } from './testing/run-scheduler.ts';
import { makeSnapshot } from './testing/volume-snapshots.ts';
import { lacks, serverPrograms } from './vitest-beds.ts';

const namespace = 'default';
const plainManifest = join(projectRoot, 'deploy/csi.yaml');
const user = 'system:serviceaccount:kube-system:stowage-csi';
const controllers = [
  'persistentvolume-binder-controller',
  'persistentvolume-protection-controller',
  'persistentvolumeclaim-protection-controller',
];

const ownForm = '--capacity-form=DriverCapacity';
const withSecret = {
  'csi.storage.k8s.io/provisioner-secret-name': 'driver-password',
  'csi.storage.k8s.io/provisioner-secret-namespace': namespace,
};

const programs = [...serverPrograms, 'kube-controller-manager', 'helm', 'csi-mock'] as const;

describe.skipIf(lacks(...programs))('the controllers of a CSI driver, as the chart installs them', () => {
  test('as a Deployment, use what Secrets, snapshots and DriverCapacities need', {
    timeout: 900_000,
  }, async () => {
    const bed = await startAuditedBed(controllers);
    const mock = await MockDriver.start({ pools: { n1: 8 } });
    const installed = await install(bed, {
      snapshots: true,
      driverCapacities: true,
      secrets: [{ namespace, names: ['driver-password'] }],
      extraArgs: [ownForm, '--capacity-poll-interval=1s'],
    });
    const cluster = await bed.bed.connect();
    await makeDriverObjects(bed.bed, mock, withSecret);
    await makeSnapshot(bed.bed, mock, { namespace, name: 'snap' });
    const workload = workloadIn(installed.text, 'Deployment');
    await makePodOf(bed.bed, workload);
    const args = argumentsOf(workload, 'stowage', mock.address);
    const first = await run(bed.bed, args, environmentOf(workload));

    const pools = async () => (await cluster.resource(driverCapacities).list()).items;
    await until(async () => (await pools()).some(({ status }) => status?.storage !== undefined), 200);
    const dataSource = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'snap' };
    await makeClaim(bed.bed, 'restored', { dataSource });
    const claims = cluster.resource(persistentVolumeClaims);
    await until(
      async () => (await claims.get({ namespace, name: 'restored' })).status?.phase === 'Bound',
      200,
    );
    const [created] = mock.calls('CreateVolume').slice(-1);
    expect(created?.request).toMatchObject({ volumeContentSource: { snapshot: {} } });
    // After a restart in the other form, it removes them.
    await first.stop();
    const second = await run(
      bed.bed,
      args.filter((arg) => arg !== ownForm),
      environmentOf(workload),
    );
    await until(async () => (await pools()).length === 0, 200);

    await everyRightIsUsed(bed, installed.added);
    await second.stop();
    await publishesNothingWithoutCreation(bed, args, environmentOf(workload));
    expect(await pools()).toEqual([]);
  });

  test('as a DaemonSet, use every right of their role', { timeout: 900_000 }, async () => {
    const bed = await startAuditedBed(controllers);
    const mock = await MockDriver.start({ pools: { n1: 8 }, nodes: ['n1'] });
    const installed = await install(bed, {
      workload: 'daemonset',
      extraArgs: ['--capacity-poll-interval=1s'],
    });
    const cluster = await bed.bed.connect();
    await makeDriverObjects(bed.bed, mock);
    const workload = workloadIn(installed.text, 'DaemonSet');
    await makePodOf(bed.bed, workload);
    const socket = mock.nodeFlag('n1').replace('n1=', '');
    const args = argumentsOf(workload, 'stowage', socket).map((arg) => arg.replace('$(NODE_NAME)', 'n1'));
    await run(bed.bed, args, environmentOf(workload));

    await untilPublished({ cluster }, 'n1 8Gi');
    await makeClaim(bed.bed, 'data', { volumeAttributesClassName: 'gold' });
    const claims = cluster.resource(persistentVolumeClaims);
    await until(async () => (await claims.get({ namespace, name: 'data' })).status?.phase === 'Bound', 200);
    await untilPublished({ cluster }, 'n1 7Gi');
    await claims.delete({ namespace, name: 'data' });
    await untilPublished({ cluster }, 'n1 8Gi');
    await failTwice(cluster, { storageClassName: 'fast', node: 'n1', storage: '100Gi' });
    await searchOrphans(mock, bed.bed);
    await cluster.resource(storageClasses).delete({ name: 'fast' });
    await untilPublished({ cluster }, '');

    await everyRightIsUsed(bed, grantedRights(installed.path));
  });
});

interface Installed {
  readonly text: string;
  /** A file with the text. */
  readonly path: string;
  /** The rights that deploy/csi.yaml does not grant. */
  readonly added: readonly string[];
}

async function install({ bed, folder }: AuditedBed, csi: ChartValues): Promise<Installed> {
  await applied(bed, ['apply', '--server-side', '-f', join(projectRoot, 'deploy/crds')]);
  await applied(bed, ['wait', '--for=condition=Established', 'crd', '--all', '--timeout=300s']);
  const text = await rendered({ scheduler: { enabled: false }, csi: { enabled: true, ...csi } });
  const path = join(folder, 'installed.yaml');
  writeFileSync(path, text);
  await applied(bed, ['apply', '-f', path]);
  await untilGranted(bed, user, grantedRights(path));
  const plain = grantedRights(plainManifest);
  return { text, path, added: grantedRights(path).filter((right) => !plain.includes(right)) };
}

/** What a kubelet writes when a node plugin registers, classes, and the Secret that one may name. */
async function makeDriverObjects(
  bed: TestBed,
  { name: driver, topologyKey }: MockDriver,
  parameters: Readonly<Record<string, string>> = {},
): Promise<void> {
  const objects = [
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', labels: { [topologyKey]: 'n1' } } },
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSINode',
      metadata: { name: 'n1' },
      spec: { drivers: [{ name: driver, nodeID: 'n1', topologyKeys: [topologyKey] }] },
    },
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSIDriver',
      metadata: { name: driver },
      spec: {
        storageCapacity: true,
        attachRequired: false,
        volumeLifecycleModes: ['Persistent', 'Ephemeral'],
      },
    },
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'fast' },
      provisioner: driver,
      volumeBindingMode: 'WaitForFirstConsumer',
      parameters,
    },
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'VolumeAttributesClass',
      metadata: { name: 'gold' },
      driverName: driver,
      parameters: { tier: 'gold' },
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'driver-password', namespace },
      stringData: { password: 'x' },
    },
  ];
  await applied(
    bed,
    ['create', '-f', '-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
  );
}

/** A scheduler has selected its node. */
async function makeClaim(bed: TestBed, name: string, spec: object): Promise<void> {
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace, annotations: { [annotations.selectedNode]: 'n1' } },
    spec: {
      accessModes,
      storageClassName: 'fast',
      resources: { requests: { storage: '1Gi' } },
      ...spec,
    },
  };
  await applied(bed, ['create', '-f', '-'], JSON.stringify(claim));
}

/** Until the test ends. */
async function run(
  bed: TestBed,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<StowageProcess> {
  const kubeconfig = await serviceAccountKubeconfig(bed, 'kube-system', 'stowage-csi');
  const stowage = new StowageProcess([...args, '--kubeconfig', kubeconfig], undefined, environment);
  onTestFinished(() => stowage.kill());
  onTestFailed(() => void process.stderr.write(stowage.stderr));
  return stowage;
}

/** A publisher does it every ten minutes. A figure of a node that is gone makes it look for its CSINode. */
async function searchOrphans({ name: driver }: MockDriver, bed: TestBed): Promise<void> {
  const orphan = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIStorageCapacity',
    metadata: {
      name: 'orphan',
      namespace: 'kube-system',
      labels: {
        'csi.storage.k8s.io/drivername': driver,
        'csi.storage.k8s.io/managed-by': 'stowage-gone',
      },
      annotations: { [annotations.publisherNode]: 'gone' },
    },
    storageClassName: 'other',
  };
  await applied(bed, ['create', '-f', '-'], JSON.stringify(orphan));
  const cluster = await KubernetesCluster.connect({
    clock: realClock,
    random: systemRandom,
    env: {},
    kubeconfig: await serviceAccountKubeconfig(bed, 'kube-system', 'stowage-csi'),
    rateLimit: false,
  });
  const context = { cluster, clock: realClock, random: systemRandom, log: silentLog };
  const orphans = new OrphanedCapacityReports({ context, driver, namespace: 'kube-system' });
  await orphans.search(new AbortController().signal);
  await applied(bed, ['-n', 'kube-system', 'delete', 'csistoragecapacity', 'orphan']);
}

async function everyRightIsUsed({ auditLog }: AuditedBed, granted: readonly string[]): Promise<void> {
  const unused = () => {
    const { rights, namespacedRights, forbidden } = auditedRequestsOf(user, auditLog);
    expect(forbidden).toEqual([]);
    const used = new Set([...rights, ...namespacedRights]);
    // The Lease of a publisher has the name of its node, which no role can know.
    const isForAnyLease = (right: string) =>
      right.endsWith('/leases') && [...used].some((one) => one.startsWith(`${right} `));
    return granted.filter((right) => !used.has(withoutName(right)) && !isForAnyLease(right));
  };
  await untilAllUsed(unused);
}

/** The publisher applies an object that is not there: the right to patch alone does not allow that. */
async function publishesNothingWithoutCreation(
  { bed, auditLog }: AuditedBed,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  await withdraw(bed, 'stowage-csi', '*: create stowage.dev/drivercapacities');
  await run(bed, args, environment);
  const refused = /^patch \/apis\/stowage\.dev\/v1alpha1\/drivercapacities\/[^/?]+\?/;
  await until(() => auditedRequestsOf(user, auditLog).forbidden.some((line) => refused.test(line)), 200);
}

/** The audit log has the names of Leases alone. */
function withoutName(right: string): string {
  return right.includes('/secrets ') ? right.split(' ').slice(0, 3).join(' ') : right;
}
