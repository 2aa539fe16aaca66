/** The controller `disks` on a real API server: two instances that both act, of which one is killed at random. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFailed, onTestFinished, test } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.ts';
import type { KubeObject } from '../../src/kube/api/meta.ts';
import type { Resource } from '../../src/kube/resource.ts';
import { backingImages } from '../../src/kube/stowage/backing-image.ts';
import { type DiskSchedule, type DiskVerdict, diskSchedules } from '../../src/kube/stowage/disk-schedule.ts';
import { replicas } from '../../src/kube/stowage/replica.ts';
import { storageNodes } from '../../src/kube/stowage/storage-node.ts';
import { type DiskVolume, type DiskVolumeSpec, diskVolumes } from '../../src/kube/stowage/volume.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { StowageProcess } from '../up/stowage-process.ts';
import { installOwnKinds } from './testing/own-kinds.ts';
import { until, untilPasses } from './testing/run-scheduler.ts';
import { lacks, serverPrograms, startTestBed } from './vitest-beds.ts';

const timeout = 1_200_000;
/** A request on a second disk, which two instances may make at once, is removed after two minutes. */
const waitMs = 300_000;
const gib = 2 ** 30;
const apiVersion = 'stowage.dev/v1alpha1';
const nodeCount = 3;
const limitBytes = 40 * gib;

describe.skipIf(lacks(...serverPrograms, 'kube-controller-manager'))(
  'disks, with two instances of the controller',
  () => {
    test('no disk grants more than it has while one is killed at random, and everything settles', {
      timeout,
    }, async () => {
      const seed = process.pid;
      onTestFailed(() => void process.stderr.write(`the seed was ${seed}\n`));
      const random = seededRandom(seed);
      const { cluster, instances, problems } = await startFixture();
      for (let number = 1; number <= nodeCount; number += 1) await createNode(cluster, `n${number}`, number);
      await until(async () => (await schedulesOf(cluster)).length === nodeCount);

      // 24 volumes of two replicas of 1 GiB, then growth and deletions, on 120 GiB: everything fits.
      const names = Array.from({ length: 24 }, (_, number) => `v${number}`);
      await Promise.all(names.map((name) => createVolume(cluster, name, { size: gib, numberOfReplicas: 2 })));
      await instances.killOne(random.int(500));
      await untilAllocated(cluster, names, gib);
      const grown = names.slice(0, 8);
      await Promise.all(grown.map((name) => patchVolume(cluster, name, { size: 2 * gib })));
      await instances.killOne(random.int(500));
      await untilAllocated(cluster, grown, 2 * gib);
      // Larger than any disk: refused, and every disk goes back to the old size.
      await patchVolume(cluster, 'v0', { size: 100 * gib });
      await untilCondition(cluster, 'v0', 'False');
      await patchVolume(cluster, 'v0', { size: 2 * gib });
      const deleted = names.slice(16);
      await Promise.all(deleted.map((name) => cluster.resource(diskVolumes).delete({ name })));
      await instances.killOne(random.int(500));

      await untilAllocated(cluster, names.slice(0, 16), undefined);
      const expected = 8 * 2 * (2 * gib) + 8 * 2 * gib;
      await untilSo(cluster, `${expected} bytes granted`, async () => (await granted(cluster)) === expected);
      await untilPasses(async () => {
        expect(await placesOf(cluster, names.slice(0, 16))).toEqual(new Set([2]));
        expect((await cluster.resource(replicas).list()).items).toHaveLength(32);
        for (const schedule of await schedulesOf(cluster)) expect(unanswered(schedule)).toEqual([]);
      });

      // Copies of an image, and then everything leaves a node.
      await createImage(cluster, 'image', { bytes: gib, copies: 2 });
      await untilSo(cluster, 'two copies', async () => (await granted(cluster)) === expected + 2 * gib);
      await instances.killOne(random.int(500));
      await requestEviction(cluster, 'n3');
      await untilSo(cluster, 'n3 is empty', async () => {
        const left = (await schedulesOf(cluster)).filter(({ spec }) => spec?.nodeID === 'n3');
        return left.every(({ status }) => status?.storageScheduled === 0);
      });
      await cluster.resource(backingImages).delete({ name: 'image' });
      await untilSo(cluster, 'the image is gone', async () => (await granted(cluster)) === expected);
      await untilPasses(async () =>
        expect(await placesOf(cluster, names.slice(0, 16))).toEqual(new Set([2])),
      );
      expect(problems).toEqual([]);
    });

    test('the example of the proposal settles: r4 is scheduled, r3 stays rejected, and no sum is off', {
      timeout,
    }, async () => {
      const { cluster, problems } = await startFixture();
      const uuid = 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee';
      await applyExample(cluster, uuid);
      const answered = async () => {
        const { status } = await cluster.resource(diskSchedules).get({ name: uuid });
        return status?.replicas?.r4?.state === 'scheduled' ? status : undefined;
      };
      await until(async () => (await answered()) !== undefined, 100);
      // Long enough for the instances to change their mind.
      await sleep(2000);
      const status = await answered();
      expect(verdictStates(status?.replicas)).toEqual({
        r1: 'scheduled 53687091200',
        r2: 'scheduled 53687091200',
        r3: 'rejected 0',
        r4: 'scheduled 5368709120',
      });
      expect(verdictStates(status?.backingImages)).toEqual({
        b1: 'scheduled 53687091200',
        b2: 'scheduled 53687091200',
      });
      expect(status?.storageScheduled).toBe(4 * 53687091200 + 5368709120);
      expect(problems).toEqual([]);
    });
  },
);

// ── The controllers ──

/** Processes that run the controller without a Lease, so that all of them act at once. */
class Instances implements AsyncDisposable {
  readonly #kubeconfig: string;
  readonly #running: StowageProcess[] = [];
  #isOver = false;

  constructor(kubeconfig: string) {
    this.#kubeconfig = kubeconfig;
    this.#start();
    this.#start();
  }

  get logs(): string {
    return this.#running.map(({ pid, stderr }) => `--- ${pid}\n${stderr}`).join('');
  }

  /** Without a chance to finish anything. Another one starts in its place. */
  async killOne(afterMs: number): Promise<void> {
    await sleep(afterMs);
    const [oldest] = this.#running;
    await oldest?.kill();
    this.#running.shift();
    if (!this.#isOver) this.#start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running.map((each) => each.kill()));
  }

  #start(): void {
    const flags = ['--controllers', 'disks', '--leader-elect=false'];
    this.#running.push(new StowageProcess(['run', '--kubeconfig', this.#kubeconfig, ...flags]));
  }
}

async function startFixture() {
  // Replicas are deleted with their volume.
  const bed = await startTestBed({ controllerManager: { controllers: ['garbage-collector-controller'] } });
  const cluster = await bed.connect();
  await installOwnKinds(cluster, [storageNodes, diskSchedules, diskVolumes, replicas, backingImages]);
  const problems = watchEveryVersion(cluster);
  const instances = new Instances(bed.kubeconfig);
  onTestFinished(async () => await instances[Symbol.asyncDispose]());
  onTestFailed(() => void process.stderr.write(instances.logs));
  return { cluster, instances, problems };
}

/** What is wrong with any stored version of a DiskSchedule. */
function watchEveryVersion(cluster: Cluster): readonly string[] {
  const problems: string[] = [];
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const watch = async () => {
    for await (const event of cluster.resource(diskSchedules).watch({ signal: stop.signal }))
      if (event.type === 'ADDED' || event.type === 'MODIFIED') problems.push(...problemsOf(event.object));
  };
  void watch().catch((error: unknown) => {
    if (!stop.signal.aborted) problems.push(String(error));
  });
  return problems;
}

function problemsOf({ metadata, status }: DiskSchedule): readonly string[] {
  const verdicts = [...Object.values(status?.replicas ?? {}), ...Object.values(status?.backingImages ?? {})];
  const sum = verdicts.reduce((total, { scheduledSize = 0 }) => total + scheduledSize, 0);
  const { storageScheduled = 0, storageLimit } = status ?? {};
  const where = `${metadata?.name} at version ${metadata?.resourceVersion}`;
  return [
    ...(sum === storageScheduled ? [] : [`${where}: storageScheduled is ${storageScheduled}, not ${sum}`]),
    ...(storageLimit === undefined || sum <= storageLimit
      ? []
      : [`${where}: ${sum} bytes of ${storageLimit} are granted`]),
  ];
}

// ── Objects ──

async function createNode(cluster: Cluster, name: string, number: number): Promise<void> {
  const uuid = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
  await createWithStatus(cluster, storageNodes, {
    metadata: { name },
    spec: { disks: { d: { path: '/d' } } },
    status: { diskStatus: { d: diskStatus(uuid, limitBytes) } },
  });
}

function diskStatus(diskUUID: string, bytes: number): object {
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  const ready = { type: 'Ready', status: 'True', reason: 'DiskReady', message: '', lastTransitionTime };
  return { diskUUID, storageMaximum: bytes, storageAvailable: bytes, conditions: [ready] };
}

/** The status of a new object is dropped, so it is written afterwards. */
async function createWithStatus<T extends KubeObject>(
  cluster: Cluster,
  resource: Resource<T>,
  { status, ...object }: { readonly metadata: object; readonly spec?: object; readonly status?: object },
): Promise<void> {
  const client = cluster.resource(resource);
  // Safe: the API server checks the object.
  const created = await client.create({ apiVersion, kind: resource.kind, ...object } as unknown as T);
  if (status === undefined) return;
  const name = created.metadata?.name ?? '';
  await client.patch({ name }, { type: 'merge', body: { status } }, { subresource: 'status' });
}

/** The schedule of the proposal with its owners: the data of r1, r2, b1 and b2 exists; r3 and r4 are new. */
async function applyExample(cluster: Cluster, uuid: string): Promise<void> {
  const bytes = 53687091200;
  const sizes = { r1: bytes, r2: bytes, r3: 536870912000, r4: 5368709120 };
  for (const [name, size] of Object.entries(sizes)) {
    const volumeName = `of-${name}`;
    const place = { nodeID: 'example-node', diskID: uuid };
    const hasData = name === 'r1' || name === 'r2';
    await createWithStatus(cluster, replicas, {
      metadata: { name, finalizers: ['stowage.dev/replica'] },
      spec: { volumeName, volumeSize: size, ...place, ...(hasData && { desiredState: 'running' }) },
      ...(hasData && { status: { healthyAt: '2026-01-01T00:00:00Z' } }),
    });
    // Afterwards: a volume without a replica would get one.
    await createVolume(cluster, volumeName, { size, numberOfReplicas: 1 });
  }
  for (const name of ['b1', 'b2'])
    await createWithStatus(cluster, backingImages, {
      metadata: { name },
      spec: {
        source: { download: { url: 'https://images.example.com/base' } },
        diskFileSpecMap: { [uuid]: {} },
      },
      status: { size: bytes, diskFileStatusMap: { [uuid]: { state: 'ready' } } },
    });
  const requests = { replicas: sizes, backingImages: { b1: bytes, b2: bytes } };
  const scheduled = { state: 'scheduled', scheduledSize: bytes };
  await createWithStatus(cluster, diskSchedules, {
    metadata: { name: uuid, finalizers: ['stowage.dev/disk-schedule'] },
    spec: { name: 'example-disk', nodeID: 'example-node', ...requests },
    status: {
      replicas: { r1: scheduled, r2: scheduled, r3: { state: 'rejected', scheduledSize: 0 } },
      backingImages: { b1: scheduled, b2: scheduled },
      storageScheduled: 4 * bytes,
    },
  });
  await createWithStatus(cluster, storageNodes, {
    metadata: { name: 'example-node' },
    spec: { disks: { 'example-disk': { path: '/d' } } },
    status: { diskStatus: { 'example-disk': diskStatus(uuid, 400 * gib) } },
  });
}

async function createVolume(cluster: Cluster, name: string, spec: DiskVolumeSpec): Promise<void> {
  await cluster.resource(diskVolumes).create({ apiVersion, kind: 'Volume', metadata: { name }, spec });
}

async function createImage(
  cluster: Cluster,
  name: string,
  { bytes, copies }: { readonly bytes: number; readonly copies: number },
): Promise<void> {
  const source = { download: { url: 'https://images.example.com/base' } };
  const spec = { source, expectedSize: bytes, minNumberOfCopies: copies };
  await cluster
    .resource(backingImages)
    .create({ apiVersion, kind: 'BackingImage', metadata: { name }, spec });
}

async function requestEviction(cluster: Cluster, name: string): Promise<void> {
  const body = { spec: { evictionRequested: true } };
  await cluster.resource(storageNodes).patch({ name }, { type: 'merge', body });
}

async function patchVolume(cluster: Cluster, name: string, spec: DiskVolumeSpec): Promise<void> {
  await cluster.resource(diskVolumes).patch({ name }, { type: 'merge', body: { spec } });
}

// ── What became of them ──

/** All of the volumes have their bytes, and this size if one is given. */
async function untilAllocated(
  cluster: Cluster,
  names: readonly string[],
  size: number | undefined,
): Promise<void> {
  const isAllocated = (volume: DiskVolume | undefined) =>
    allocationOf(volume) === 'True' && (size === undefined || volume?.status?.size === size);
  await untilSo(cluster, `${names} allocated`, async () => {
    const { items } = await cluster.resource(diskVolumes).list();
    const byName = new Map(items.map((volume) => [volume.metadata?.name, volume]));
    return names.every((name) => isAllocated(byName.get(name)));
  });
}

async function untilCondition(cluster: Cluster, name: string, status: 'True' | 'False'): Promise<void> {
  await untilSo(
    cluster,
    `${name} ${status}`,
    async () => allocationOf(await cluster.resource(diskVolumes).get({ name })) === status,
  );
}

function allocationOf(volume: DiskVolume | undefined): string | undefined {
  return volume?.status?.conditions?.find(({ type }) => type === 'DiskAllocation')?.status;
}

async function schedulesOf(cluster: Cluster): Promise<readonly DiskSchedule[]> {
  return (await cluster.resource(diskSchedules).list()).items;
}

/** Fails with the state of the cluster a little before the test would time out. */
async function untilSo(cluster: Cluster, what: string, isSo: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + waitMs;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`${what}:\n${await summaryOf(cluster)}`);
    await sleep(200);
  }
}

async function summaryOf(cluster: Cluster): Promise<string> {
  const volumes = (await cluster.resource(diskVolumes).list()).items.map(
    ({ metadata, spec, status }) =>
      `${metadata?.name} ${spec?.size} ${status?.size} ${JSON.stringify(status?.conditions)}`,
  );
  const schedules = (await schedulesOf(cluster)).map(({ spec, status }) =>
    JSON.stringify({ requests: spec?.replicas, granted: status?.storageScheduled }),
  );
  return [...volumes, ...schedules].join('\n');
}

async function granted(cluster: Cluster): Promise<number> {
  const schedules = await schedulesOf(cluster);
  return schedules.reduce((sum, { status }) => sum + (status?.storageScheduled ?? 0), 0);
}

/** How many nodes the replicas of each volume are on. */
async function placesOf(cluster: Cluster, names: readonly string[]): Promise<ReadonlySet<number>> {
  const { items } = await cluster.resource(replicas).list();
  const nodes = names.map((name) =>
    items.filter(({ spec }) => spec?.volumeName === name).map(({ spec }) => spec?.nodeID),
  );
  return new Set(nodes.map((ids) => new Set(ids).size));
}

/** Requests whose verdict answers another size, or none. */
function unanswered({ spec, status }: DiskSchedule): readonly string[] {
  const requests = Object.entries(spec?.replicas ?? {});
  return requests
    .filter(([name, bytes]) => status?.replicas?.[name]?.observedSize !== bytes)
    .map(([name]) => name);
}

function verdictStates(
  verdicts: Readonly<Record<string, DiskVerdict>> = {},
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(verdicts).map(([name, { state, scheduledSize }]) => [
      name,
      `${state} ${scheduledSize ?? 0}`,
    ]),
  );
}
