import type { Cluster } from '../../src/cluster/cluster.ts';
import { InterceptedCluster } from '../../src/cluster/intercepted-cluster.ts';
import { InProcessDriver } from '../../src/csi/in-process-driver.ts';
import { drivesControllerService } from '../../src/drives/controller/controller-service.ts';
import { DriveCache } from '../../src/drives/controller/drive-cache.ts';
import { drivesServices } from '../../src/drives/drives-services.ts';
import { ownDefinitions } from '../../src/embedded/own-definitions.ts';
import type { CustomResourceDefinition } from '../../src/kube/api/apiextensions.ts';
import { customResourceDefinitions } from '../../src/kube/resources.ts';
import { drives } from '../../src/kube/stowage/drive.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { Supervisor } from '../../src/runtime/supervisor.ts';
import type { ProgramPaths } from '../../test/kubernetes/binaries.ts';
import { TestBed } from '../../test/kubernetes/test-bed.ts';
import { inParallel } from '../in-parallel.ts';
import { clusterWithOwnKinds, untilServed } from '../in-process.ts';

const gib = 2 ** 30;
export const drivesPerNode = 10;

/** Drives of 1 TiB, ten in a node and three zones, and controllers that put volumes on them. */
export class Fleet implements AsyncDisposable {
  writes = 0;
  reads = 0;
  readonly #connect: () => Promise<Cluster>;
  readonly #close: () => Promise<void>;
  readonly #supervisors: Supervisor[] = [];

  private constructor(connect: () => Promise<Cluster>, close: () => Promise<void>) {
    this.#connect = connect;
    this.#close = close;
  }

  /** On our API server, in memory and in this process. */
  static async embedded(driveCount: number): Promise<Fleet> {
    const embedded = await clusterWithOwnKinds();
    const { cluster } = embedded;
    const fleet = new Fleet(
      async () => cluster,
      async () => await embedded[Symbol.asyncDispose](),
    );
    await createDrives(cluster, driveCount);
    return fleet;
  }

  /** On kube-apiserver with etcd, over HTTP. */
  static async kubernetes(programs: ProgramPaths, driveCount: number): Promise<Fleet> {
    const bed = await TestBed.start({ programs, isDurable: true });
    const cluster = await bed.connect();
    // Safe: the API server completes what a definition leaves out.
    for (const definition of await ownDefinitions())
      await cluster.resource(customResourceDefinitions).create(definition as CustomResourceDefinition);
    await createDrives(cluster, driveCount);
    return new Fleet(
      () => bed.connect(),
      () => bed[Symbol.asyncDispose](),
    );
  }

  async controller(at: number): Promise<InProcessDriver> {
    const cluster = new InterceptedCluster(await this.#connect(), {
      before: ({ verb }) => {
        if (verb === 'patch') this.writes += 1;
        if (verb === 'get') this.reads += 1;
      },
    });
    const random = seededRandom(`controller ${at}`);
    const supervisor = new Supervisor({ clock: realClock, random, onCrash: ({ error }) => report(error) });
    this.#supervisors.push(supervisor);
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
    await Promise.all(this.#supervisors.map((supervisor) => supervisor.close()));
    await this.#close();
  }
}

async function createDrives(cluster: Cluster, count: number): Promise<void> {
  await untilServed(cluster, drives);
  await inParallel(count, (at) => createDrive(cluster, at));
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
