/** No pod is lost, and no volume is assigned twice, when processes die while pods are scheduled. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFailed, onTestFinished, test } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.ts';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../src/kube/api/core.ts';
import { getCondition } from '../../src/kube/conditions.ts';
import { persistentVolumeClaims, persistentVolumes, pods } from '../../src/kube/resources.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import type { TestBed } from './test-bed.ts';
import { fakeProvisionerName, runFakeProvisioner } from './testing/fake-provisioner.ts';
import { Replicas } from './testing/replicas.ts';
import {
  makeClass,
  makeDisk,
  makeNode,
  makePodIfAbsent,
  until,
  untilPasses,
} from './testing/run-scheduler.ts';
import { lacks, serverPrograms, startTestBed } from './vitest-beds.ts';

/** Most of the time passes with waiting for Leases to expire. */
const timeout = 900_000;
/**
 * Far longer than a Lease takes to expire, a process to start and a pod to back off, on a busy machine; and shorter than the sweep of the
 * scheduler's queue takes to find a pod that no event has woken.
 */
const stalledMs = 240_000;
const namespace = 'default';
const nodeNames = ['n1', 'n2', 'n3', 'n4', 'n5'];
/** The claims of the pods, in turn: existing disks, provisioned disks, and both. */
const claimLists = [['local'], ['made'], ['local', 'made']];

interface ChaosFixture {
  readonly bed: TestBed;
  readonly cluster: Cluster;
  readonly replicas: Replicas;
  readonly podCount: number;
}

/** Creates exactly as many disks and slots as the pods need. */
async function startFixture(podCount: number): Promise<ChaosFixture> {
  const bed = await startTestBed({
    kwok: true,
    controllerManager: { controllers: ['persistentvolume-binder-controller'] },
  });
  const cluster = await bed.connect();
  await makeClass(cluster, 'local');
  await makeClass(cluster, 'made', fakeProvisionerName);
  const perNode = podCount / nodeNames.length;
  for (const node of nodeNames) {
    await makeNode(cluster, node, { cpu: '100', pods: `${perNode}` });
    const names = Array.from({ length: perNode }, (_, position) => `${node}-${position}`);
    await Promise.all(names.map((name) => makeDisk(cluster, name, { node, storageClassName: 'local' })));
  }
  keepProvisioning(cluster);
  const replicas = new Replicas(bed.kubeconfig, 2);
  onTestFinished(async () => await replicas[Symbol.asyncDispose]());
  onTestFailed(() => void process.stderr.write(replicas.logs));
  return { bed, cluster, replicas, podCount };
}

function keepProvisioning(cluster: Cluster): void {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const once = () => runFakeProvisioner(cluster, stop.signal);
  // The API server may be unavailable.
  const forever = async () => {
    while (!stop.signal.aborted) await once().catch(() => sleep(200));
  };
  void forever();
}

/** Creates pods with their claims as fast as the server accepts them. */
async function createPods({ cluster }: ChaosFixture, from: number, to: number): Promise<void> {
  const numbers = Array.from({ length: to - from }, (_, position) => from + position);
  await Promise.all(
    numbers.map(async (number) => {
      const claimsOf = claimLists[number % claimLists.length] ?? [];
      // The server may be unavailable, also between the storage of an object and its answer.
      const create = () => makePodIfAbsent(cluster, `pod-${number}`, { claimsOf });
      await until(
        () =>
          create().then(
            () => true,
            () => false,
          ),
        200,
      );
    }),
  );
}

/** Waits until this many pods have a node: then others are being bound. */
async function untilPlaced({ cluster }: ChaosFixture, count: number): Promise<void> {
  const client = cluster.resource(pods);
  const isPlaced = async () =>
    (await client.list({ namespace })).items.filter(({ spec }) => (spec?.nodeName ?? '') !== '').length >=
    count;
  await until(() => isPlaced().catch(() => false), 10);
}

/**
 * Waits until all pods run and all bindings are visible. Fails with what is missing if that has not changed for a while: a pod that has lost its
 * place would wait until the test's timeout, which names no pod.
 */
async function untilSettled(fixture: ChaosFixture): Promise<void> {
  let last = '';
  let changedMs = performance.now();
  for (;;) {
    const unsettled = (await unsettledIn(fixture).catch(() => ['the API server does not answer'])).join('\n');
    if (unsettled === '') return;
    if (unsettled !== last) changedMs = performance.now();
    last = unsettled;
    if (performance.now() - changedMs > stalledMs) throw new Error(`nothing has changed any more:\n${last}`);
    await sleep(200);
  }
}

/** Each pod that does not run, with the reason and the places of its volumes, each claim that is not bound, and how full the nodes are. */
async function unsettledIn({ cluster, podCount }: ChaosFixture): Promise<readonly string[]> {
  const all = (await cluster.resource(pods).list({ namespace })).items;
  const claims = (await cluster.resource(persistentVolumeClaims).list({ namespace })).items;
  const volumes = (await cluster.resource(persistentVolumes).list()).items;
  const idle = all.filter(({ status }) => status?.phase !== 'Running');
  const unbound = claims.filter(({ status }) => status?.phase !== 'Bound');
  if (all.length === podCount && idle.length === 0 && unbound.length === 0) return [];
  const placeOf = ({ metadata, spec }: PersistentVolumeClaim) => {
    const volume = volumes.find((each) => each.metadata?.name === spec?.volumeName);
    const where =
      volume === undefined ? 'no volume' : `${spec?.volumeName} on ${nodeOfDisk(volume) ?? 'any node'}`;
    return `claim ${metadata?.name} has ${where}`;
  };
  const describePod = (pod: Pod) => {
    const { spec, status } = pod;
    const why = getCondition(status?.conditions, 'PodScheduled')?.message ?? '';
    const places = claims.filter((claim) => podOf(claim, [pod]) !== undefined).map(placeOf);
    return `pod ${pod.metadata?.name}: ${status?.phase}, node ${spec?.nodeName ?? 'none'}, nominated to ${status?.nominatedNodeName ?? 'none'}; ${places.join(', ')}; ${why}`;
  };
  const fill = nodeNames.map((node) => `${node} ${all.filter(({ spec }) => spec?.nodeName === node).length}`);
  return [
    `${all.length} of ${podCount} pods exist; on the nodes: ${fill.join(', ')}`,
    ...idle.map(describePod),
    ...unbound.map(placeOf),
  ];
}

/** Checks that every pod has its own disk on its node, and that no disk is used twice. */
async function expectConsistent({ cluster, podCount }: ChaosFixture): Promise<void> {
  const all = (await cluster.resource(pods).list({ namespace })).items;
  const claims = (await cluster.resource(persistentVolumeClaims).list({ namespace })).items;
  const volumes = (await cluster.resource(persistentVolumes).list()).items;
  const places = nodeNames.map((node) => all.filter(({ spec }) => spec?.nodeName === node).length);
  expect(places).toEqual(nodeNames.map(() => podCount / nodeNames.length));
  expect(claims).toHaveLength(claimCount(podCount));
  expect(new Set(claims.map(({ spec }) => spec?.volumeName)).size).toBe(claims.length);
  const byName = new Map(volumes.map((volume) => [volume.metadata?.name, volume]));
  const wrong = claims.filter((claim) => {
    const { metadata, spec, status } = claim;
    const volume = byName.get(spec?.volumeName);
    const pod = podOf(claim, all);
    const isReachable = [undefined, pod?.spec?.nodeName].includes(nodeOfDisk(volume));
    const isBound = status?.phase === 'Bound' && volume?.status?.phase === 'Bound';
    return volume?.spec?.claimRef?.uid !== metadata?.uid || !isBound || !isReachable;
  });
  expect(wrong).toEqual([]);
  // No volume is reserved for a claim that has another.
  expect(volumes.filter(({ spec }) => spec?.claimRef !== undefined)).toHaveLength(claims.length);
}

function claimCount(podCount: number): number {
  const lists = Array.from({ length: podCount }, (_, number) => claimLists[number % claimLists.length] ?? []);
  return lists.flat().length;
}

function podOf({ metadata }: PersistentVolumeClaim, all: readonly Pod[]): Pod | undefined {
  const name = metadata?.name?.replace(/\.\d+$/, '');
  return all.find((pod) => pod.metadata?.name === name);
}

function nodeOfDisk(volume: PersistentVolume | undefined): string | undefined {
  const [term] = volume?.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  return term?.matchExpressions?.[0]?.values?.[0];
}

const programs = [...serverPrograms, 'kube-controller-manager', 'kwok'] as const;

describe.skipIf(lacks(...programs))('each pod is scheduled once, with its own volume,', () => {
  test('while leaders are stopped, killed and frozen', { timeout }, async () => {
    const seed = process.pid;
    onTestFailed(() => void process.stderr.write(`the seed was ${seed}\n`));
    const random = seededRandom(seed);
    const fixture = await startFixture(100);
    const { replicas } = fixture;
    const stopped = await replicas.leader();
    const creations = [createPods(fixture, 0, 25)];
    await untilPlaced(fixture, 1 + random.int(10));
    expect(await stopped.stop()).toEqual({ status: 0, signal: null });
    const killed = await replicas.leader(stopped);
    creations.push(createPods(fixture, 25, 50));
    await untilPlaced(fixture, 26 + random.int(10));
    await killed.kill();
    const frozen = await replicas.leader(killed);
    creations.push(createPods(fixture, 50, 75));
    await untilPlaced(fixture, 51 + random.int(10));
    process.kill(frozen.pid, 'SIGSTOP');
    await replicas.leader(frozen);
    creations.push(createPods(fixture, 75, 100));
    await untilPlaced(fixture, 76 + random.int(10));
    process.kill(frozen.pid, 'SIGCONT');
    expect(await frozen.exited).toEqual({ status: 1, signal: null });
    await Promise.all(creations);
    await untilSettled(fixture);
    // Another program releases the reservation of a dead leader, some time later.
    await untilPasses(() => expectConsistent(fixture));
  });

  test('while the API server is killed and restarted', { timeout }, async () => {
    const fixture = await startFixture(50);
    const { replicas, bed } = fixture;
    await replicas.leader();
    const creations = [createPods(fixture, 0, 25)];
    await untilPlaced(fixture, 5);
    await bed.restart('kube-apiserver', 'SIGKILL');
    creations.push(createPods(fixture, 25, 50));
    await untilPlaced(fixture, 30);
    await bed.restart('kube-apiserver', 'SIGTERM');
    await Promise.all(creations);
    await untilSettled(fixture);
    await untilPasses(() => expectConsistent(fixture));
  });
});
