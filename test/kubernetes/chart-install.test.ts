/** The chart on a cluster of real programs: installed, upgraded, rolled back and uninstalled by Helm. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { nodes } from '../../src/kube/resources.ts';
import { projectRoot } from '../project-root.ts';
import type { TestBed } from './test-bed.ts';
import { applied } from './testing/audited-bed.ts';
import { type ChartValues, chartFolder, helm, lastReleasedChart, valueFlags } from './testing/helm.ts';
import { makeNode, until, untilPasses } from './testing/run-scheduler.ts';
import { lacks, serverPrograms, startTestBed } from './vitest-beds.ts';

const namespace = 'stowage-system';
const where = [`--namespace=${namespace}`, '--wait', '--timeout=600s'];
const ownLabel = 'app.kubernetes.io/instance=stowage';
/** Controllers of Kubernetes that create and delete the pods. */
const controllers = [
  'daemonset-controller',
  'deployment-controller',
  'garbage-collector-controller',
  'replicaset-controller',
];

async function startBed(): Promise<TestBed> {
  const bed = await startTestBed({ scheduler: true, kwok: true, controllerManager: { controllers } });
  const cluster = await bed.connect();
  for (const name of ['n1', 'n2', 'n3']) await makeNode(cluster, name);
  const isReady = async () =>
    (await cluster.resource(nodes).list()).items.every(({ status }) =>
      status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True'),
    );
  await until(isReady, 200);
  return bed;
}

async function install(bed: TestBed, chart: string, values: ChartValues): Promise<void> {
  await helm(['install', 'stowage', chart, ...where, ...valueFlags(values)], bed);
}

/** As docs/installation.md says: `--reuse-values` alone would leave out what values a newer chart has. */
async function upgrade(bed: TestBed, changes: ChartValues): Promise<void> {
  const flags = [...where, '--reset-then-reuse-values', ...valueFlags(changes)];
  await helm(['upgrade', 'stowage', chartFolder, ...flags], bed);
}

/** Everything with the label of the release, of every kind that the API server lists. */
async function ownObjects(bed: TestBed): Promise<readonly string[]> {
  const kinds = await applied(bed, ['api-resources', '--verbs=list', '-o', 'name']);
  const list = kinds
    .trim()
    .split('\n')
    .filter((kind) => !/^events|^componentstatuses/.test(kind))
    .join(',');
  const found = await applied(bed, ['get', list, '--all-namespaces', '-l', ownLabel, '-o', 'name']);
  return found
    .split('\n')
    .filter((name) => name !== '')
    .toSorted();
}

async function value(bed: TestBed, what: string, path: string): Promise<string> {
  return await applied(bed, ['-n', namespace, 'get', ...what.split(' '), '-o', `jsonpath=${path}`]);
}

describe.skipIf(lacks('helm', ...serverPrograms, 'kube-controller-manager', 'kube-scheduler', 'kwok'))(
  'the chart',
  () => {
    test('is installed, upgraded, rolled back and uninstalled; the definitions and our objects stay', {
      timeout: 1_800_000,
    }, async () => {
      const bed = await startBed();
      await applied(bed, ['create', 'namespace', namespace]);
      const released = lastReleasedChart();
      const before = { drives: { enabled: true }, disks: { enabled: true } };
      await install(bed, released.path, before);
      expect(await value(bed, 'deployment stowage', '{.spec.template.spec.containers[0].image}')).toBe(
        `stowage:${released.version}`,
      );
      const installed = await ownObjects(bed);
      for (const name of [
        'deployment.apps/stowage',
        'daemonset.apps/stowage-drives-node',
        'daemonset.apps/stowage-disk-agent',
      ])
        expect(installed).toContain(name);
      await keepsObjects(bed);

      const changes = {
        scheduler: { replicas: 3 },
        disks: { enabled: false },
        extender: { enabled: true },
      };
      // As docs/installation.md says: Helm leaves definitions alone.
      await applied(bed, [
        'apply',
        '--server-side',
        '--force-conflicts',
        '-f',
        join(projectRoot, 'deploy/crds'),
      ]);
      await upgrade(bed, changes);
      // Helm looks at the ReplicaSet, whose figures the Deployment gets later; and it does not wait for pods that are removed.
      await untilPasses(async () => {
        expect(await value(bed, 'deployment stowage', '{.status.readyReplicas}')).toBe('3');
        expect((await ownObjects(bed)).filter((name) => name.includes('disk-agent'))).toEqual([]);
      });
      await keepsCertificates(bed);

      await helm(['rollback', 'stowage', '1', ...where], bed);
      const withoutPods = (names: readonly string[]) =>
        names.filter((name) => !/^(pod|replicaset|controllerrevision)/.test(name));
      await untilPasses(async () => {
        expect(await value(bed, 'deployment stowage', '{.status.readyReplicas}')).toBe('2');
        expect(withoutPods(await ownObjects(bed))).toEqual(withoutPods(installed));
      });

      await helm(['uninstall', 'stowage', ...where], bed);
      await untilPasses(async () => expect(await ownObjects(bed)).toEqual([]));
      expect(await applied(bed, ['get', 'secrets,configmaps', '-n', namespace, '-o', 'name'])).not.toContain(
        'helm',
      );
      const definitions = await applied(bed, ['get', 'crd', '-o', 'name']);
      expect(definitions).toContain('drives.stowage.dev');
      expect(await applied(bed, ['get', 'drives', '-o', 'name'])).toBe('drive.stowage.dev/kept\n');
    });

    test('at pod security level restricted, all pods are admitted but those that mount directories of their node', {
      timeout: 900_000,
    }, async () => {
      const bed = await startBed();
      const strict = { 'pod-security.kubernetes.io/enforce': 'restricted' };
      const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels: strict } };
      await applied(bed, ['create', '-f', '-'], JSON.stringify(object));
      const values = {
        extender: { enabled: true },
        console: { enabled: true },
        csi: { enabled: true },
        drives: { enabled: true },
        disks: { enabled: true },
      };
      await helm(['install', 'stowage', chartFolder, `--namespace=${namespace}`, ...valueFlags(values)], bed);
      const parts = ['console', 'csi', 'disks', 'drives', 'extender'];
      const deployments = ['stowage', ...parts.map((part) => `stowage-${part}`)];
      expect((await value(bed, 'deployments', '{.items[*].metadata.name}')).split(' ')).toEqual(deployments);
      for (const name of deployments)
        await applied(bed, ['-n', namespace, 'rollout', 'status', `deployment/${name}`, '--timeout=300s']);
      const refusals = async () => {
        const events = ['get', 'events', '-n', namespace, '--field-selector=reason=FailedCreate'];
        return await applied(bed, [
          ...events,
          '-o',
          'jsonpath={range .items[*]}{.regarding.name}{.involvedObject.name}: {.message}{"\\n"}{end}',
        ]);
      };
      let refused = '';
      await until(async () => {
        refused = await refusals();
        return /stowage-drives-node:/.test(refused) && /stowage-disk-agent:/.test(refused);
      }, 300);
      // What the node plugin and the agent need; docs/installation.md gives the reasons, and the test fails if there is more.
      const texts = refused.split('\n').filter((line) => line !== '');
      expect(texts.filter((line) => !line.includes('violates PodSecurity "restricted:latest": '))).toEqual(
        [],
      );
      const needsOf = (name: string) => needsIn(texts.find((line) => line.startsWith(`${name}:`)) ?? '');
      expect(needsOf('stowage-drives-node')).toEqual(privilegedNeeds);
      expect(needsOf('stowage-disk-agent')).toEqual([
        'hostPort',
        'restricted volume types',
        'runAsNonRoot != true',
        'runAsUser=0',
      ]);
    });
  },
);

const privilegedNeeds = [
  'allowPrivilegeEscalation != false',
  'privileged',
  'restricted volume types',
  'runAsNonRoot != true',
  'runAsUser=0',
  'seccompProfile',
  'unrestricted capabilities',
];

/** The names of the violated checks. */
function needsIn(message: string): readonly string[] {
  const [, list = ''] = /"restricted:latest": (.*)$/.exec(message) ?? [];
  return [...list.matchAll(/(?:^|\), )([^(]+?) \(/g)].map(([, name = '']) => name).toSorted();
}

/** A Drive in use: neither an upgrade nor uninstalling may remove it. */
async function keepsObjects(bed: TestBed): Promise<void> {
  await applied(bed, ['wait', '--for=condition=Established', 'crd/drives.stowage.dev', '--timeout=300s']);
  const spec = { nodeName: 'n1', filesystemUUID: '00000000-0000-4000-8000-000000000001' };
  const drive = { apiVersion: 'stowage.dev/v1alpha1', kind: 'Drive', metadata: { name: 'kept' }, spec };
  await applied(bed, ['create', '-f', '-'], JSON.stringify(drive));
}

/** A second upgrade with the same values: nothing restarts, and kube-scheduler's certificate stays valid. */
async function keepsCertificates(bed: TestBed): Promise<void> {
  const secret = async () => await value(bed, 'secret stowage-extender-client', '{.data}');
  const first = await secret();
  expect(first).toContain('tls.key');
  const running = await settledPods(bed);
  await upgrade(bed, {});
  expect(await secret()).toBe(first);
  expect(await settledPods(bed)).toEqual(running);
}

interface Listed {
  readonly items: readonly {
    readonly metadata: { readonly uid: string; readonly generation?: number };
    readonly status?: Readonly<Record<string, unknown>>;
  }[];
}

/** The uids of the pods, once all Deployments and DaemonSets have their newest pods, and no others are left. */
async function settledPods(bed: TestBed): Promise<readonly string[]> {
  const list = async (what: string) =>
    JSON.parse(await applied(bed, ['-n', namespace, 'get', what, '-l', ownLabel, '-o', 'json'])) as Listed;
  let uids: readonly string[] = [];
  await untilPasses(async () => {
    // Pods are read last: what has been replaced by then is being deleted, or gone.
    const { items: workloads } = await list('deployments,daemonsets');
    const { items: pods } = await list('pods');
    for (const { metadata, status } of workloads)
      expect(status?.observedGeneration).toBe(metadata.generation);
    const wanted = workloads.map(({ status }) => status?.replicas ?? status?.desiredNumberScheduled ?? 0);
    const updated = workloads.map(
      ({ status }) => status?.updatedReplicas ?? status?.updatedNumberScheduled ?? 0,
    );
    expect(updated).toEqual(wanted);
    uids = pods.map(({ metadata }) => metadata.uid);
    expect(uids).toHaveLength(wanted.reduce<number>((sum, count) => sum + Number(count), 0));
  });
  return uids;
}
