import { DefinitionController } from '../../src/apiserver/custom/definition-controller.ts';
import { installDefinitions } from '../../src/apiserver/custom/install-definitions.ts';
import { builtInKindCatalog } from '../../src/apiserver/kinds/built-in-kinds.ts';
import { bootstrap } from '../../src/apiserver/registry/bootstrap.ts';
import { EmbeddedRegistry } from '../../src/apiserver/registry/embedded-registry.ts';
import { MemoryStore } from '../../src/apiserver/store/memory-store.ts';
import type { Cluster } from '../../src/cluster/cluster.ts';
import { EmbeddedCluster } from '../../src/cluster/embedded-cluster.ts';
import { InterceptedCluster } from '../../src/cluster/intercepted-cluster.ts';
import { CsiCallError } from '../../src/csi/csi-errors.ts';
import { InProcessDriver } from '../../src/csi/in-process-driver.ts';
import { drivesControllerService } from '../../src/drives/controller/controller-service.ts';
import { DriveCache } from '../../src/drives/controller/drive-cache.ts';
import { drivesServices } from '../../src/drives/drives-services.ts';
import { ownDefinitions } from '../../src/embedded/own-definitions.ts';
import { drives } from '../../src/kube/drive.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { systemIds } from '../../src/runtime/ids.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { Supervisor } from '../../src/runtime/supervisor.ts';
import type { Benchmark, Row } from '../harness.ts';
import { rounded } from '../harness.ts';

const drivesDefault = 10_000;
const volumesDefault = 10_000;
const drivesPerNode = 10;
const gib = 2 ** 30;
/** Calls of one controller that run at once, as external-provisioner makes them. */
const callsAtOnce = 100;

/** `--nodes N` times ten drives, `--pvs N` volumes. */
export const drivesBenchmark: Benchmark = {
  name: 'drives',
  summary: 'CreateVolume on local drives, in one process with the API server',
  run: async (progress, sizes = {}) => {
    const driveCount = sizes.nodes === undefined ? drivesDefault : sizes.nodes * drivesPerNode;
    const volumeCount = sizes.pvs ?? volumesDefault;
    const rows: Row[] = [];
    for (const controllers of [1, 8]) {
      progress(`${volumeCount} volumes on ${driveCount} drives, ${controllers} controllers`);
      rows.push(await measure(driveCount, volumeCount, controllers));
    }
    return rows;
  },
};

async function measure(driveCount: number, volumeCount: number, controllers: number): Promise<Row> {
  await using fleet = await Fleet.start(driveCount);
  const started = await Promise.all(Array.from({ length: controllers }, (_, at) => fleet.controller(at)));
  const times: number[] = [];
  let next = 0;
  let aborted = 0;
  const worker = async (driver: InProcessDriver): Promise<void> => {
    while (next < volumeCount) {
      const name = `pvc-${next++}`;
      const startMs = performance.now();
      aborted += await create(driver, name, next);
      times.push(performance.now() - startMs);
    }
  };
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  const calls = Math.ceil(callsAtOnce / controllers);
  await Promise.all(started.flatMap((driver) => Array.from({ length: calls }, () => worker(driver))));
  const seconds = (performance.now() - startMs) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  times.sort((a, b) => a - b);
  return {
    work: 'CreateVolume',
    drives: driveCount,
    controllers,
    volumes: volumeCount,
    perSecond: Math.round(volumeCount / seconds),
    p50Ms: rounded(times[times.length >> 1] ?? 0),
    p99Ms: rounded(times[Math.floor(times.length * 0.99)] ?? 0),
    cpuMsPerVolume: rounded((user + system) / 1000 / volumeCount),
    writesPerVolume: rounded(fleet.writes / volumeCount),
    readsPerVolume: rounded(fleet.reads / volumeCount),
    aborted,
  };
}

/** Repeats an aborted call, as provisioners do; returns how often. */
async function create(driver: InProcessDriver, name: string, at: number): Promise<number> {
  const segments = { 'stowage.dev/zone': `z${at % 3}` };
  for (let repeats = 0; ; repeats += 1) {
    try {
      await driver.call(
        'CreateVolume',
        {
          name,
          volumeCapabilities: [{ accessType: { case: 'mount', value: {} }, accessMode: { mode: 1 } }],
          capacityRange: { requiredBytes: BigInt(gib) },
          accessibilityRequirements: { requisite: [{ segments }], preferred: [{ segments }] },
        },
        { signal: new AbortController().signal },
      );
      return repeats;
    } catch (error) {
      if (!(error instanceof CsiCallError) || error.code !== 'Aborted') throw error;
    }
  }
}

/** An API server in memory with drives of 1 TiB, ten in a node and three zones. */
class Fleet implements AsyncDisposable {
  writes = 0;
  reads = 0;
  readonly #cluster: Cluster;
  readonly #definitions: DefinitionController;
  readonly #supervisor: Supervisor;

  private constructor(cluster: Cluster, definitions: DefinitionController) {
    this.#cluster = cluster;
    this.#definitions = definitions;
    const random = seededRandom('bench');
    this.#supervisor = new Supervisor({ clock: realClock, random, onCrash: ({ error }) => report(error) });
  }

  static async start(driveCount: number): Promise<Fleet> {
    const store = new MemoryStore();
    const kinds = builtInKindCatalog();
    const registry = new EmbeddedRegistry({ store, kinds, clock: realClock, ids: systemIds });
    await bootstrap(registry);
    const definitions = await DefinitionController.start({ registry, clock: realClock, onError: report });
    await installDefinitions(registry, await ownDefinitions());
    const cluster = new EmbeddedCluster({ registry, manager: 'bench' });
    while (!(await isServed(cluster))) await realClock.sleep(1, new AbortController().signal);
    for (let at = 0; at < driveCount; at += 1) await createDrive(cluster, at);
    return new Fleet(cluster, definitions);
  }

  async controller(at: number): Promise<InProcessDriver> {
    const cluster = new InterceptedCluster(this.#cluster, {
      before: ({ verb }) => {
        if (verb === 'patch') this.writes += 1;
        if (verb === 'get') this.reads += 1;
      },
    });
    const random = seededRandom(`controller ${at}`);
    const supervisor = new Supervisor({ clock: realClock, random, onCrash: ({ error }) => report(error) });
    this.#supervisor.start(`controller ${at}`, async (signal) => {
      await realClock.sleep(2 ** 31 - 1, signal);
      await supervisor.close();
    });
    const common = { cluster, clock: realClock, random };
    const cache = new DriveCache({ ...common, supervisor, onError: report });
    const { signal } = new AbortController();
    await cache.synced(signal);
    const controller = drivesControllerService({ ...common, cache });
    return await InProcessDriver.connect(
      drivesServices({ version: 'bench', controller: () => controller }),
      signal,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#supervisor.close();
    await this.#definitions.close();
  }
}

async function isServed(cluster: Cluster): Promise<boolean> {
  try {
    await cluster.resource(drives).list();
    return true;
  } catch {
    return false;
  }
}

async function createDrive(cluster: Cluster, at: number): Promise<void> {
  const client = cluster.resource(drives);
  const node = Math.floor(at / drivesPerNode);
  const created = await client.create({
    apiVersion: 'stowage.dev/v1alpha1',
    kind: 'Drive',
    metadata: { name: `drive-${at}` },
    spec: {
      nodeName: `n${node}`,
      filesystemUUID: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`,
    },
  });
  const status = {
    capacityBytes: 1024 * gib,
    state: 'Ready',
    topology: { 'stowage.dev/zone': `z${node % 3}` },
  };
  await client.update({ ...created, status }, { subresource: 'status' });
}

function report(error: unknown): void {
  process.stderr.write(`${String(error)}\n`);
}
