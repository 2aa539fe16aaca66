/** The end-to-end list of the proposal for topology-aware volumes, with real programs except for the scheduler. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.ts';
import type { Affinity, Pod } from '../../src/kube/api/core.ts';
import {
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  statefulSets,
} from '../../src/kube/resources.ts';
import { labels } from '../../src/kube/well-known.ts';
import { StowageProcess } from '../up/stowage-process.ts';
import { fakeProvisionerName, runFakeProvisioner } from './testing/fake-provisioner.ts';
import { isRetry } from './testing/is-retry.ts';
import {
  accessModes,
  main,
  makeClass,
  makeDisk,
  makeNode,
  until,
  untilPasses,
  untilPrinted,
} from './testing/run-scheduler.ts';
import { lacks, serverPrograms, sharedTestBed } from './vitest-beds.ts';

interface StatefulSetCase {
  readonly name: string;
  /** The sizes of the disks of each node, n1 to n3, in GiB. */
  readonly disks: Readonly<Record<string, readonly number[]>>;
  readonly provisioner?: string;
  readonly replicas: number;
  /** The sizes of the claims of each replica, in GiB. */
  readonly claims: readonly number[];
  readonly affinity?: 'apart' | 'together';
  /** Pods by node, where `one` is any node, and pending pods. */
  readonly expected: object;
  /** The message of the pending pods. */
  readonly waitingFor?: string;
  /** Bound disks at the end; provisioned ones only by number. */
  readonly bound: number;
  readonly made?: number;
}

const noDisk = "node(s) didn't find available persistent volumes to bind";
const cases: readonly StatefulSetCase[] = [
  {
    name: 'three that keep apart, with disks on three nodes',
    disks: { n1: [10], n2: [10], n3: [10] },
    replicas: 3,
    claims: [5],
    affinity: 'apart',
    expected: { n1: 1, n2: 1, n3: 1 },
    bound: 3,
  },
  {
    name: 'three that keep apart, with disks on two nodes',
    disks: { n1: [10, 10], n2: [10, 10] },
    replicas: 3,
    claims: [5],
    affinity: 'apart',
    expected: { n1: 1, n2: 1, waiting: 1 },
    waitingFor: `1 ${noDisk}, 2 node(s) didn't match pod anti-affinity rules`,
    bound: 2,
  },
  {
    name: 'three that stay together, with several disks on each node',
    disks: { n1: [10, 10, 10], n2: [10, 10, 10], n3: [10, 10, 10] },
    replicas: 3,
    claims: [5],
    affinity: 'together',
    expected: { one: 3 },
    bound: 3,
  },
  {
    name: 'three that stay together, with one disk on each node',
    disks: { n1: [10], n2: [10], n3: [10] },
    replicas: 3,
    claims: [5],
    affinity: 'together',
    expected: { one: 1, waiting: 2 },
    waitingFor: `1 ${noDisk}, 2 node(s) didn't match pod affinity rules`,
    bound: 1,
  },
  {
    name: 'several claims, with enough disks on one node',
    disks: { n1: [10], n2: [10, 2], n3: [10, 3, 3] },
    replicas: 1,
    claims: [5, 1, 2],
    expected: { n3: 1 },
    bound: 3,
  },
  {
    name: 'several claims, with enough disks on no node',
    disks: { n1: [10], n2: [10], n3: [10] },
    replicas: 1,
    claims: [5, 1],
    expected: { waiting: 1 },
    waitingFor: `0/3 nodes are available: 3 ${noDisk}`,
    bound: 0,
  },
  {
    name: 'a class that has some disks, and a provisioner for the rest',
    disks: { n1: [1], n2: [6] },
    provisioner: fakeProvisionerName,
    replicas: 3,
    claims: [5],
    affinity: 'apart',
    expected: { n1: 1, n2: 1, n3: 1 },
    bound: 3,
    made: 2,
  },
];

function affinityOf(app: string, kind: StatefulSetCase['affinity']): Affinity {
  const terms = {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: labels.hostname, labelSelector: { matchLabels: { app } } },
    ],
  };
  if (kind === undefined) return {};
  return kind === 'apart' ? { podAntiAffinity: terms } : { podAffinity: terms };
}

async function runCase(cluster: Cluster, each: StatefulSetCase, namespace: string): Promise<void> {
  await cluster.resource(namespaces).create({ metadata: { name: namespace } });
  await makeClass(cluster, namespace, each.provisioner);
  for (const [node, sizes] of Object.entries(each.disks)) {
    for (const [position, size] of sizes.entries()) {
      const disk = { node, storageClassName: namespace, storage: `${size}Gi` };
      await makeDisk(cluster, `${namespace}-${node}-${position}`, disk);
    }
  }
  // The PV controller must first mark a disk as Available; otherwise the provisioner would create another.
  await until(async () => {
    const all = (await cluster.resource(persistentVolumes).list()).items;
    return all.every(
      ({ spec, status }) => spec?.storageClassName !== namespace || status?.phase === 'Available',
    );
  });
  const app = namespace;
  const mounts = each.claims.map((_, position) => ({ name: `c${position}`, mountPath: `/${position}` }));
  await cluster.resource(statefulSets).create({
    metadata: { namespace, name: 'web' },
    spec: {
      replicas: each.replicas,
      serviceName: 'web',
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: { app } },
      template: {
        metadata: { labels: { app } },
        spec: {
          schedulerName: 'stowage',
          affinity: affinityOf(app, each.affinity),
          containers: [{ ...main, volumeMounts: mounts }],
        },
      },
      volumeClaimTemplates: each.claims.map((size, position) => ({
        metadata: { name: `c${position}` },
        spec: {
          accessModes,
          storageClassName: namespace,
          resources: { requests: { storage: `${size}Gi` } },
        },
      })),
    },
  });
}

/** Why the pod is pending; empty if it has not been tried yet or runs. */
function waitsFor({ status }: Pod): string {
  return status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message ?? '';
}

function isSettled({ spec, status }: Pod): boolean {
  return (spec?.nodeName ?? '') === '' ? status?.conditions !== undefined : status?.phase === 'Running';
}

async function outcome(cluster: Cluster, namespace: string) {
  const all = (await cluster.resource(pods).list({ namespace })).items;
  const waiting = all.filter(({ spec }) => (spec?.nodeName ?? '') === '');
  const claims = (await cluster.resource(persistentVolumeClaims).list({ namespace })).items;
  const bound = claims.filter(({ status }) => status?.phase === 'Bound');
  const names = new Set(bound.map(({ spec }) => spec?.volumeName ?? ''));
  const volumes = (await cluster.resource(persistentVolumes).list()).items;
  const holders = volumes.filter(({ spec }) => spec?.claimRef?.namespace === namespace);
  return {
    isSettled: all.every(isSettled),
    waiting,
    count: all.length,
    places: placesOf(all),
    bound: bound.length,
    /** Every claim has its own volume, and no other volume was used. */
    isOneToOne: names.size === bound.length && holders.length === bound.length,
    made: [...names].filter((name) => name.startsWith('pvc-')).length,
  };
}

function placesOf(all: readonly Pod[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { spec } of all) {
    const place = spec?.nodeName || 'waiting';
    counts[place] = (counts[place] ?? 0) + 1;
  }
  return counts;
}

describe.skipIf(lacks(...serverPrograms, 'kube-controller-manager', 'kwok'))('stateful sets', () => {
  const bed = sharedTestBed({
    kwok: true,
    controllerManager: {
      controllers: ['persistentvolume-binder-controller', 'statefulset-controller'],
    },
  });
  const stop = new AbortController();
  let stowage: StowageProcess;
  let making: Promise<void> | undefined;
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await bed().connect();
    for (const name of ['n1', 'n2', 'n3']) await makeNode(cluster, name);
    const isReady = async () =>
      (await cluster.resource(nodes).list()).items.every(
        ({ status }) => (status?.conditions ?? []).length > 0,
      );
    await until(isReady);
    making = runFakeProvisioner(cluster, stop.signal);
    stowage = new StowageProcess(['run', '--kubeconfig', bed().kubeconfig]);
    await untilPrinted(stowage, 'scheduler: this process leads');
  });

  afterAll(async () => {
    stop.abort();
    await making;
    await stowage?.kill();
  });

  test.for(cases)('$name', async (each, { task }) => {
    const namespace = `case-${cases.indexOf(each)}${isRetry(task) ? '-again' : ''}`;
    await runCase(cluster, each, namespace);
    const expected = Object.values(each.expected).toSorted();
    await untilPasses(async () => {
      const { isSettled, count, places, bound, waiting, isOneToOne, made } = await outcome(
        cluster,
        namespace,
      );
      expect([isSettled, count, bound]).toEqual([true, each.replicas, each.bound]);
      expect(Object.values(places).toSorted()).toEqual(expected);
      if (!('one' in each.expected)) expect(places).toEqual(each.expected);
      expect(isOneToOne).toBe(true);
      expect(made).toBe(each.made ?? 0);
      // What a pod waits for is first reported as it was before the others were placed.
      for (const pod of waiting) expect(waitsFor(pod)).toContain(each.waitingFor);
    });
  });
});
