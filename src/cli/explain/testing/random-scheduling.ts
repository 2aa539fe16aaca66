import { runController, runScheduler } from '../../../controllers/scheduler/testing/binding-fixture.ts';
import { namespace, SchedulerFixture } from '../../../controllers/scheduler/testing/scheduler-fixture.ts';
import { VirtualTimeCluster } from '../../../controllers/testing/virtual-time-cluster.ts';
import { type Profile, stowageProfile, upstreamProfile } from '../../../engine/cluster-index/profile.ts';
import { formatMicroTime } from '../../../kube/go/timestamp.ts';
import { csiDrivers, csiStorageCapacities, leases, pods, priorityClasses } from '../../../kube/resources.ts';
import { driveNodeKey, drives, drivesDriver } from '../../../kube/stowage/drive.ts';
import { labels } from '../../../kube/well-known.ts';
import { announcementAnnotations, leaseKeyOf } from '../../../reconcile/leases/component-lease.ts';
import { schedulerAnnouncement } from '../../../reconcile/leases/scheduler-announcement.ts';
import { type Random, seededRandom } from '../../../runtime/random.ts';

const schedulerNames = ['stowage', 'default-scheduler'];
/** Longer than any back-off, so that no pod is about to be tried again. */
const calmMs = 30_000;
const podsMax = 6;
/** Clusters with local drives take longer to start. */
const drivesShare = 0.15;
const zones = ['a', 'b'];
const gib = 2 ** 30;

/**
 * A small random cluster with scarce cpu, disks and pools, drawn from one seed, and a scheduler that has placed or refused some pods in it.
 * No provisioner and no kubelet runs: claims wait for their volumes, and evicted pods stay.
 */
export class RandomScheduling implements AsyncDisposable {
  readonly fixture: SchedulerFixture;
  readonly #random: Random;
  readonly #claims: string[] = [];
  #hasDrives = false;
  #drives = 0;
  #pods = 0;

  private constructor(fixture: SchedulerFixture, random: Random) {
    this.fixture = fixture;
    this.#random = random;
  }

  static async start(seed: string): Promise<RandomScheduling> {
    const fixture = new SchedulerFixture(await VirtualTimeCluster.startSeeded(seed));
    const random = seededRandom(seed);
    const scheduling = new RandomScheduling(fixture, random);
    const profile = random.next() < 0.5 ? stowageProfile : upstreamProfile;
    await fixture.cluster.resource(priorityClasses).create({ metadata: { name: 'high' }, value: 10 });
    await scheduling.#storage();
    if (random.next() < drivesShare) await scheduling.#useDrives();
    for (let at = scheduling.#upTo(4); at > 0; at -= 1) await scheduling.#node(`n${at}`);
    await scheduling.#announce(profile);
    runController(fixture, 'pv-binder');
    runScheduler(fixture, { profile, schedulerNames });
    await fixture.settle();
    for (let left = scheduling.#upTo(podsMax); left > 0; left -= 1) await scheduling.pod();
    return scheduling;
  }

  /** Lets the scheduler finish what it does about the pods so far. */
  async calmDown(): Promise<void> {
    await this.fixture.settle(calmMs);
  }

  /** Creates a pod, and returns its name. A gated pod waits for `release`. */
  async pod({ isGated = false } = {}): Promise<string> {
    this.#pods += 1;
    const name = `p${this.#pods}`;
    const claims = [];
    for (let left = this.#random.pick([0, 1, 1, 2]); left > 0; left -= 1) claims.push(await this.#claim());
    const cpu = this.#random.pick(['0', '500m', '1', '3']);
    await this.fixture.pod(name, [...new Set(claims)], {
      spec: {
        ...(isGated && { schedulingGates: [{ name: 'test' }] }),
        schedulerName: this.#random.pick(schedulerNames),
        ...(this.#random.next() < 0.25 && { priorityClassName: 'high' }),
        containers: [{ name: 'main', image: 'pause', resources: { requests: { cpu } } }],
        ...(this.#random.next() < 0.2 && { nodeSelector: { [labels.zone]: this.#random.pick(zones) } }),
      },
    });
    return name;
  }

  /** Lets the scheduler have a gated pod. */
  async release(name: string): Promise<void> {
    const body = { spec: { schedulingGates: [] } };
    await this.fixture.cluster.resource(pods).patch({ namespace, name }, { type: 'merge', body });
    await this.fixture.settle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.fixture[Symbol.asyncDispose]();
  }

  async #storage(): Promise<void> {
    const { fixture } = this;
    const tracked = 'pools.example.com';
    await fixture.storageClass('local');
    await fixture.storageClass('at-once', { volumeBindingMode: 'Immediate' });
    await fixture.storageClass('untracked', { provisioner: 'untracked.example.com' });
    await fixture.storageClass('pools', { provisioner: tracked });
    await fixture.cluster
      .resource(csiDrivers)
      .create({ metadata: { name: tracked }, spec: { storageCapacity: true, attachRequired: false } });
    for (const zone of zones) {
      await fixture.cluster.resource(csiStorageCapacities).create({
        metadata: { namespace, name: `pool-${zone}` },
        storageClassName: 'pools',
        capacity: this.#random.pick(['5Gi', '10Gi', '20Gi']),
        nodeTopology: { matchLabels: { [labels.zone]: zone } },
      });
    }
  }

  async #useDrives(): Promise<void> {
    await this.fixture.environment.installOwnKinds();
    await this.fixture.storageClass('drives', { provisioner: drivesDriver });
    await this.fixture.cluster
      .resource(csiDrivers)
      .create({ metadata: { name: drivesDriver }, spec: { storageCapacity: true, attachRequired: false } });
    this.#hasDrives = true;
  }

  async #drive(nodeName: string): Promise<void> {
    this.#drives += 1;
    const client = this.fixture.cluster.resource(drives);
    const filesystemUUID = `00000000-0000-4000-8000-${String(this.#drives).padStart(12, '0')}`;
    const volumes = this.#random.next() < 0.3 ? [{ name: 'old', sizeBytes: gib }] : [];
    const created = await client.create({
      apiVersion: 'stowage.dev/v1alpha1',
      kind: 'Drive',
      metadata: { name: `drive-${this.#drives}` },
      spec: { nodeName, filesystemUUID, volumes },
    });
    const status = { capacityBytes: this.#random.pick([2, 5, 9]) * gib, state: 'Ready' };
    await client.update({ ...created, status }, { subresource: 'status' });
  }

  async #node(name: string): Promise<void> {
    if (this.#hasDrives)
      for (let left = this.#random.pick([0, 1, 2]); left > 0; left -= 1) await this.#drive(name);
    await this.fixture.node(name, {
      labels: {
        [labels.zone]: this.#random.pick(zones),
        ...(this.#hasDrives && { [driveNodeKey]: name }),
      },
      allocatable: { cpu: this.#random.pick(['1', '2', '4']), pods: this.#random.pick(['2', '110', '110']) },
      spec: {
        ...(this.#random.next() < 0.15 && { unschedulable: true }),
        ...(this.#random.next() < 0.15 && { taints: [{ key: 'old', effect: 'NoSchedule' }] }),
      },
    });
    for (let at = this.#random.pick([0, 1, 2]); at > 0; at -= 1)
      await this.fixture.disk(`${name}-disk-${at}`, this.#random.pick(['1Gi', '4Gi']), name);
  }

  /** A new claim, one that another pod uses too, or one that does not exist. */
  async #claim(): Promise<string> {
    if (this.#random.next() < 0.05) return 'missing';
    if (this.#claims.length > 0 && this.#random.next() < 0.15) return this.#random.pick(this.#claims);
    const name = `c${this.#claims.length}`;
    this.#claims.push(name);
    const size = this.#random.pick(['1Gi', '4Gi', '8Gi']);
    const className = this.#random.pick([
      'local',
      'local',
      'pools',
      'pools',
      'pools',
      'untracked',
      'at-once',
      'nope',
      ...(this.#hasDrives ? ['drives', 'drives', 'drives', 'drives'] : []),
    ]);
    await this.fixture.claim(name, size, { storageClassName: className });
    return name;
  }

  /** Creates the Lease with the settings that `stowage up` and `stowage run` publish. */
  async #announce(profile: Profile): Promise<void> {
    const scheduler = schedulerAnnouncement({ schedulerNames, profile });
    const annotations = announcementAnnotations({ version: '0.1.0', gates: {}, scheduler });
    await this.fixture.cluster.resource(leases).create({
      metadata: { ...leaseKeyOf('scheduler'), annotations },
      spec: {
        leaseDurationSeconds: 3_600,
        renewTime: formatMicroTime(this.fixture.environment.clock.nowMs()),
      },
    });
  }

  #upTo(max: number): number {
    return 1 + this.#random.int(max);
  }
}
