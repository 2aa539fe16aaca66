import { allControllers } from '../../../controllers/all-controllers.ts';
import { namespace, SchedulerFixture } from '../../../controllers/scheduler/testing/scheduler-fixture.ts';
import { VirtualTimeCluster } from '../../../controllers/testing/virtual-time-cluster.ts';
import { JoiningDriverSet } from '../../../csi/joining-driver-set.ts';
import type { WhatIfChange } from '../../../engine/what-if/change.ts';
import type { Deployment, ReplicaSet, StatefulSet } from '../../../kube/api/apps.ts';
import type { Pod } from '../../../kube/api/core.ts';
import {
  daemonSets,
  deployments,
  pods,
  priorityClasses,
  replicaSets,
  statefulSets,
} from '../../../kube/resources.ts';
import type { Controller } from '../../../reconcile/controller.ts';
import { untilAborted } from '../../../runtime/abort.ts';
import { type Random, seededRandom } from '../../../runtime/random.ts';
import type { Supervisor } from '../../../runtime/supervisor.ts';
import { driveNodePlugins } from './drive-node-plugins.ts';
import { JobPods } from './job-pods.ts';
import { RealChanges } from './make-changes.ts';
import { randomChanges } from './random-changes.ts';
import { highPriority, RandomPods } from './random-pods.ts';
import { RandomStorage, zonalProvisioner } from './random-storage.ts';
import { withSlowCreations } from './slow-creations.ts';

/** Longer than any back-off. */
const calmMs = 15_000;
/** Longer than all writes at one time; the shorter is shorter than the time between two objects of a file, the other shorter than pods take to end. */
const [claimCreationMs, publicationMs, deletionMs] = [10, 15, 100];
/**
 * None: a pod that has been refused just now would come after a pod of lower priority that was refused earlier. How often a pod is refused, and when, depends on
 * how long other pods take to end, and on events that turn out to help no pod; a prediction knows neither.
 */
const backOff = { initialMs: 0, maxMs: 0 };
const matchLabels = { app: 'agent' };
const daemonSet = {
  metadata: { namespace, name: 'agent' },
  spec: {
    selector: { matchLabels },
    template: { metadata: { labels: matchLabels }, spec: { containers: [{ name: 'main', image: 'pause' }] } },
  },
} as const;
const controllerNames = [
  'scheduler',
  'pv-binder',
  'provisioner',
  'ephemeral',
  'node-agent',
  'statefulset',
  'deployment',
  'protection',
  'garbage-collector',
];

/**
 * A small random cluster with workloads, scarce cpu, disks, pools and drives, drawn from one seed. All controllers run that place pods and create them again,
 * with a provisioner whose volumes are in the zone of the selected node, and the driver of drives where there are some.
 */
export class RandomWorkloads implements AsyncDisposable {
  readonly fixture: SchedulerFixture;
  readonly storage: RandomStorage;
  readonly real: RealChanges;
  /** The pods in the order in which they were created. */
  readonly createdPods: Pod[] = [];
  readonly #random: Random;
  readonly #pods: RandomPods;
  readonly #jobs: JobPods;
  readonly #sets: StatefulSet[] = [];
  readonly #replicaSets: ReplicaSet[] = [];
  readonly #deployments: Deployment[] = [];
  #daemonSetUid: string | undefined;
  #run: Supervisor | undefined;

  private constructor(fixture: SchedulerFixture, random: Random) {
    this.fixture = fixture;
    this.#random = random;
    this.storage = new RandomStorage(fixture, random);
    this.#pods = new RandomPods(random, this.storage.classes);
    this.#jobs = new JobPods(fixture.cluster);
    this.real = new RealChanges(fixture, this.storage, this.#jobs);
  }

  static async start(seed: string): Promise<RandomWorkloads> {
    const fixture = new SchedulerFixture(await VirtualTimeCluster.startSeeded(seed));
    const random = seededRandom(seed);
    const workloads = new RandomWorkloads(fixture, random);
    await fixture.cluster.resource(priorityClasses).create(highPriority);
    await workloads.storage.create();
    workloads.#run = fixture.environment.run(workloads.#controllers());
    await fixture.settle();
    for (let left = 1 + random.int(3); left > 0; left -= 1) {
      await workloads.#workload();
      await fixture.settle();
    }
    await fixture.settle(calmMs);
    await workloads.storage.publish();
    return workloads;
  }

  /** Changes that concern what there is. */
  changes(): readonly WhatIfChange[] {
    const { nodes, drives, hasDrives } = this.storage;
    const [sets, replicaSets, deployments] = [this.#sets, this.#replicaSets, this.#deployments];
    const there = { nodes, drives, hasDrives, sets, replicaSets, deployments };
    return randomChanges(this.#random, this.#pods, there);
  }

  /** Without waiting for sweeps: other tests show that they find nothing. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#run?.close();
    await this.fixture[Symbol.asyncDispose]();
  }

  #controllers(): readonly Controller[] {
    const { clock } = this.fixture.environment;
    const provisioners = [zonalProvisioner((signal) => clock.sleep(deletionMs, signal))];
    const recorder = [this.#recorder(), this.#jobs.controller];
    const named = (all: readonly Controller[], more: readonly string[] = []) =>
      all
        .filter(({ name }) => [...controllerNames, ...more].includes(name))
        .map((one) => (one.name === 'ephemeral' ? withSlowCreations(one, claimCreationMs) : one));
    if (!this.storage.hasDrives) return [...named(allControllers({ provisioners, backOff })), ...recorder];
    const inProcessDrivers = new JoiningDriverSet();
    const settings = { provisioners, backOff, csiDrivers: inProcessDrivers, inProcessDrivers };
    const plugins = driveNodePlugins({ publicationMs, deletionMs });
    return [...named(allControllers(settings), ['drives']), plugins, ...recorder];
  }

  #recorder(): Controller {
    return {
      name: 'recorder',
      run: async ({ informers }, signal) => {
        const stop = informers
          .of(pods)
          .addHandler({ added: (pod) => void this.createdPods.push(pod as Pod) });
        await untilAborted(signal);
        stop();
      },
    };
  }

  /** No controller runs for the DaemonSet. It exists, because the garbage collector deletes the pods of owners that do not. */
  async #daemonPod(): Promise<void> {
    const { cluster } = this.fixture;
    this.#daemonSetUid ??= (await cluster.resource(daemonSets).create(daemonSet)).metadata!.uid!;
    const pod = this.#pods.daemonPod(this.#random.pick(this.storage.nodes), this.#daemonSetUid);
    await cluster.resource(pods).create(pod);
  }

  async #workload(): Promise<void> {
    const { cluster } = this.fixture;
    switch (
      this.#random.pick(['set', 'set', 'replicas', 'deployment', 'deployment', 'pod', 'daemon', 'job'])
    ) {
      case 'set': {
        const set = this.#pods.statefulSet();
        this.#sets.push(set);
        await cluster.resource(statefulSets).create(set);
        return;
      }
      case 'replicas': {
        const set = this.#pods.replicaSet();
        this.#replicaSets.push(set);
        await cluster.resource(replicaSets).create(set);
        return;
      }
      case 'deployment': {
        const deployment = this.#pods.deployment();
        this.#deployments.push(deployment);
        await cluster.resource(deployments).create(deployment);
        return;
      }
      case 'job':
        return await this.#jobs.create(this.#pods.job());
      case 'pod':
        await cluster.resource(pods).create(this.#pods.barePod());
        return;
      default:
        await this.#daemonPod();
    }
  }
}
