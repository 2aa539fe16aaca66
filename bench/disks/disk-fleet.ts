import type { Cluster, ResourceClient } from '../../src/cluster/cluster.ts';
import { type ClusterCall, InterceptedCluster } from '../../src/cluster/intercepted-cluster.ts';
import { diskCaches } from '../../src/controllers/disks/disk-caches.ts';
import { disksController } from '../../src/controllers/disks/disks-controller.ts';
import { VolumePlacement } from '../../src/controllers/disks/volume-placement.ts';
import type { KubeObject } from '../../src/kube/api/meta.ts';
import { isReason } from '../../src/kube/api-error.ts';
import type { Resource } from '../../src/kube/resource.ts';
import { diskSchedules } from '../../src/kube/stowage/disk-schedule.ts';
import { type Replica, replicas } from '../../src/kube/stowage/replica.ts';
import { storageNodes } from '../../src/kube/stowage/storage-node.ts';
import { diskVolumes } from '../../src/kube/stowage/volume.ts';
import type { Controller } from '../../src/reconcile/controller.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { Supervisor } from '../../src/runtime/supervisor.ts';
import { inParallel } from '../in-parallel.ts';
import { type ClusterWithOwnKinds, clusterWithOwnKinds, runInProcess, untilServed } from '../in-process.ts';

const apiVersion = 'stowage.dev/v1alpha1';
const shareLabel = 'bench.stowage.dev/share';

/** What the controllers write: a Replica three times, its request, verdicts (several in one), and the Volume's status. */
export type DiskWrite = 'create' | 'assign' | 'start' | 'request' | 'verdict' | 'volume status' | 'other';

export interface DiskFleetOptions {
  readonly disks: number;
  readonly limitBytes: number;
  /** Volume controllers in this process. */
  readonly controllers: number;
  /** Whether each places a share of the volumes, and one decides about the disks; otherwise all of them compete in everything. */
  readonly isShared: boolean;
}

/** StorageNodes of one disk each on our API server, in memory, with instances of the controller `disks`. */
export class DiskFleet implements AsyncDisposable {
  readonly writes = new Map<DiskWrite, number>();
  /** Writes that lost against another one. */
  conflicts = 0;
  /** Stored versions of a DiskSchedule that grant more than the limit. */
  versionsAboveLimit = 0;
  readonly #embedded: ClusterWithOwnKinds;
  readonly #options: DiskFleetOptions;
  readonly #supervisors: Supervisor[] = [];
  readonly #errors: (readonly unknown[])[] = [];

  private constructor(embedded: ClusterWithOwnKinds, options: DiskFleetOptions) {
    this.#embedded = embedded;
    this.#options = options;
  }

  static async start(options: DiskFleetOptions): Promise<DiskFleet> {
    const fleet = new DiskFleet(await clusterWithOwnKinds(), options);
    const { cluster } = fleet;
    for (const resource of [storageNodes, diskSchedules, diskVolumes] as const)
      await untilServed(cluster, resource as Resource);
    await inParallel(options.disks, (at) => fleet.#createNode(at));
    fleet.#newSupervisor().start('limits', (signal) => fleet.#watchLimits(signal));
    for (let share = 0; share < options.controllers; share += 1) {
      const counted = fleet.#counted();
      const own = options.isShared ? new ShareOfVolumes(counted, share) : counted;
      const controller = options.isShared && share > 0 ? volumeController : disksController();
      const { errors } = runInProcess(own, fleet.#newSupervisor(), [controller]);
      fleet.#errors.push(errors);
    }
    await fleet.until(async () => (await fleet.#schedules()).length === options.disks);
    fleet.resetCounts();
    return fleet;
  }

  get cluster(): Cluster {
    return this.#embedded.cluster;
  }

  get errors(): number {
    return this.#errors.reduce((sum, { length }) => sum + length, 0);
  }

  resetCounts(): void {
    this.writes.clear();
    this.conflicts = 0;
  }

  async createVolume(name: string, bytes: number, at: number): Promise<void> {
    const share = String(at % this.#options.controllers);
    const volume = {
      apiVersion,
      kind: 'Volume',
      metadata: { name, labels: { [shareLabel]: share } },
      spec: { size: bytes, numberOfReplicas: 1 },
    };
    await this.cluster.resource(diskVolumes).create(volume);
  }

  /** Replicas on the first disk, without requests. They belong to no Volume, so nothing else is done with them. */
  async createReplicas(names: readonly string[], bytes: number): Promise<void> {
    const [schedule] = await this.#schedules();
    const diskID = schedule?.metadata?.name ?? '';
    const spec = { volumeName: 'none', volumeSize: bytes, nodeID: 'n0', diskID };
    await inParallel(names.length, async (at) => {
      const metadata = { name: names[at] ?? '' };
      await this.cluster.resource(replicas).create({ apiVersion, kind: 'Replica', metadata, spec });
    });
  }

  /** Requests on the first disk, in one write. */
  async request(bytes: Readonly<Record<string, number>>): Promise<void> {
    const [schedule] = await this.#schedules();
    const name = schedule?.metadata?.name ?? '';
    const body = { spec: { replicas: bytes } };
    await this.cluster.resource(diskSchedules).patch({ name }, { type: 'merge', body });
  }

  async setLimit(at: number, limitBytes: number): Promise<void> {
    const body = { status: { diskStatus: { d: diskStatus(at, limitBytes) } } };
    await this.cluster
      .resource(storageNodes)
      .patch({ name: `n${at}` }, { type: 'merge', body }, { subresource: 'status' });
  }

  /** Granted requests on all disks. */
  async granted(): Promise<number> {
    const schedules = await this.#schedules();
    const verdicts = schedules.flatMap(({ status }) => Object.values(status?.replicas ?? {}));
    return verdicts.filter(({ state }) => state === 'scheduled').length;
  }

  /** Volumes whose condition DiskAllocation has this status. */
  async volumesWith(conditionStatus: 'True' | 'False'): Promise<number> {
    const { items } = await this.cluster.resource(diskVolumes).list();
    return items.filter(({ status }) =>
      status?.conditions?.some(
        (condition) => condition.type === 'DiskAllocation' && condition.status === conditionStatus,
      ),
    ).length;
  }

  async until(isDone: () => Promise<boolean>): Promise<void> {
    while (!(await isDone())) await realClock.sleep(50, new AbortController().signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#supervisors.map((supervisor) => supervisor.close()));
    await this.#embedded[Symbol.asyncDispose]();
  }

  /** Each instance has its own, as a process would. */
  #newSupervisor(): Supervisor {
    const random = seededRandom(`instance ${this.#supervisors.length}`);
    const supervisor = new Supervisor({ clock: realClock, random, onCrash: ({ error }) => report(error) });
    this.#supervisors.push(supervisor);
    return supervisor;
  }

  #counted(): InterceptedCluster {
    return new InterceptedCluster(this.cluster, {
      before: (call) => {
        const write = diskWrite(call);
        if (write !== undefined) this.writes.set(write, (this.writes.get(write) ?? 0) + 1);
      },
      failed: (_call, error) => {
        if (isReason(error, 'Conflict') || isReason(error, 'AlreadyExists')) this.conflicts += 1;
      },
    });
  }

  async #schedules() {
    return (await this.cluster.resource(diskSchedules).list()).items;
  }

  async #createNode(at: number): Promise<void> {
    const client = this.cluster.resource(storageNodes);
    const metadata = { name: `n${at}` };
    const spec = { disks: { d: { path: '/d' } } };
    const created = await client.create({ apiVersion, kind: 'StorageNode', metadata, spec });
    const status = { diskStatus: { d: diskStatus(at, this.#options.limitBytes) } };
    await client.update({ ...created, status }, { subresource: 'status' });
  }

  async #watchLimits(signal: AbortSignal): Promise<void> {
    for await (const event of this.cluster.resource(diskSchedules).watch({ signal })) {
      if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue;
      const { storageScheduled = 0, storageLimit = 0 } = event.object.status ?? {};
      if (storageScheduled > storageLimit) this.versionsAboveLimit += 1;
    }
  }
}

/** Only the loop over Volumes. */
const volumeController: Controller = {
  name: disksController().name,
  run: (context, signal) => new VolumePlacement(context, diskCaches(context.informers)).run(signal),
};

/** Undefined for reads. */
function diskWrite({ verb, resource, options, body }: ClusterCall): DiskWrite | undefined {
  if (!['create', 'update', 'patch', 'delete'].includes(verb)) return undefined;
  const isStatus = 'subresource' in options;
  if (resource.plural === diskVolumes.plural) return isStatus ? 'volume status' : 'other';
  if (resource.plural === diskSchedules.plural) return isStatus ? 'verdict' : 'request';
  if (resource.plural !== replicas.plural) return 'other';
  if (verb === 'create') return 'create';
  const { spec } = body as Replica;
  return spec?.diskID ? 'assign' : spec?.desiredState ? 'start' : 'other';
}

/** One of several instances, each of which sees only its share of the volumes. */
class ShareOfVolumes implements Cluster {
  readonly #cluster: InterceptedCluster;
  readonly #labelSelector: string;

  constructor(cluster: InterceptedCluster, share: number) {
    this.#cluster = cluster;
    this.#labelSelector = `${shareLabel}=${share}`;
  }

  resource<T extends KubeObject>(resource: Resource<T>): ResourceClient<T> {
    const client = this.#cluster.resource(resource);
    if (resource.plural !== diskVolumes.plural) return client;
    const labelSelector = this.#labelSelector;
    return {
      ...client,
      list: (options) => client.list({ ...options, labelSelector }),
      watch: (options) => client.watch({ ...options, labelSelector }),
    };
  }
}

function diskStatus(at: number, limitBytes: number): object {
  return {
    diskUUID: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`,
    storageMaximum: limitBytes,
    storageAvailable: limitBytes,
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'DiskReady',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
  };
}

function report(error: unknown): void {
  process.stderr.write(`${String(error)}\n`);
}
