import type { EmbeddedRegistry } from '../apiserver/registry/embedded-registry.ts';
import { EmbeddedCluster } from '../cluster/embedded-cluster.ts';
import { type AnswerOverride, type ClusterCall, InterceptedCluster } from '../cluster/intercepted-cluster.ts';
import type { Provisioner } from '../controllers/provisioner/provisioner.ts';
import { runControllers } from '../controllers/run-controllers.ts';
import { type CsiDriverSet, noCsiDrivers, type ServedCsiDriver } from '../csi/served-driver.ts';
import { NodeDriver } from '../drives/node/node-driver.ts';
import { ApiError, failure } from '../kube/api-error.ts';
import { qualifiedPlural } from '../kube/resource.ts';
import { isRecord } from '../kube/wire.ts';
import type { Controller } from '../reconcile/controller.ts';
import { untilAborted } from '../runtime/abort.ts';
import { FreezableClock } from '../runtime/freezable-clock.ts';
import type { Ids } from '../runtime/ids.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { Random } from '../runtime/random.ts';
import { Supervisor } from '../runtime/supervisor.ts';
import type { VirtualClock } from '../runtime/virtual-clock.ts';
import type { Coverage } from './coverage.ts';
import type { ElectionClocks } from './election-clocks.ts';
import { type ArmedFault, type CallFault, ConnectionFaults } from './faults/connection-faults.ts';
import { type KnownExpansions, SeenSizes } from './known-expansions.ts';
import type { LateSelections } from './late-selections.ts';
import type { ServerAnswers } from './server-answers.ts';
import { drivesRoot } from './simulated-drive-host.ts';
import type { SimulatedDriveHosts } from './simulated-drive-hosts.ts';
import type { Trace } from './trace.ts';
import { SeenRemovals, type UnseenRemovals } from './unseen-removals.ts';

/** A program that runs some controllers. */
export interface ProcessPlan {
  /** Replicas are called `NAME-0`, `NAME-1` and so on. */
  readonly name: string;
  readonly controllers: readonly string[];
  /** Whether it knows the simulated CSI driver. */
  readonly knowsDriver?: boolean;
  /** Whether it knows the simulated CSI driver that chooses any segment. */
  readonly knowsSegmentDriver?: boolean;
  /** Whether it runs a CSI driver of ours, and knows no other. */
  readonly hasOwnDriver?: boolean;
  /** The node whose node service of local drives it is, instead of controllers. There is only one of it. */
  readonly drivesNode?: string;
  /** Whether its clock is always right: capacity reports carry its time, and schedulers compare that with the API server's. */
  readonly hasTrueClock?: boolean;
}

export interface ProcessOptions {
  readonly plan: ProcessPlan;
  readonly replica: number;
  /** Whether another replica runs the same controllers. */
  readonly electsLeader: boolean;
  readonly registry: EmbeddedRegistry;
  readonly answers: ServerAnswers;
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly ids: Ids;
  readonly latencyMaxMs: number;
  readonly trace: Trace;
  readonly coverage: Coverage;
  readonly electionClocks: ElectionClocks;
  readonly lateSelections: LateSelections;
  readonly unseenRemovals: UnseenRemovals;
  readonly knownExpansions: KnownExpansions;
  readonly provisioners: readonly Provisioner[];
  readonly csiDriver: ServedCsiDriver;
  readonly segmentDriver: ServedCsiDriver;
  readonly driveHosts: SimulatedDriveHosts;
}

/**
 * A program that runs controllers on a separate connection. It may crash and start again, freeze, and have a wrong clock. After a
 * crash its code may still run to its next `await`, but nothing that it sends arrives: to the cluster it is gone.
 */
export class SimulatedProcess {
  readonly name: string;
  /** The metrics of all its runs. */
  readonly #metrics = new Metrics();
  /** Errors that no fault explains: bugs. */
  readonly unexpected: string[] = [];
  /** Writes of volumes, claims, capacity reports and drives, and bindings of pods, that replace whatever is stored. */
  readonly unversioned: string[] = [];
  readonly #options: ProcessOptions;
  #run: ProcessRun | undefined;
  #runs = 0;
  #isHealing = false;
  #isClosed = false;

  constructor(options: ProcessOptions) {
    this.name = `${options.plan.name}-${options.replica}`;
    this.#options = options;
  }

  start(): void {
    if (this.#run !== undefined || this.#isClosed) return;
    this.#runs += 1;
    const { plan, clock: shared, registry, electsLeader, ids, latencyMaxMs, trace } = this.#options;
    const random = this.#options.random.fork(`run ${this.#runs}`);
    const clock = new FreezableClock(shared);
    const faults = new ConnectionFaults({
      clock,
      random: random.fork('connection'),
      latencyMaxMs,
      onFault: (fault, call) => this.#onFault(fault, call),
      onCrash: () => this.#afterCrash(crashedForMs),
      onWriteAfterEnd: (call) => this.#options.lateSelections.add(call),
    });
    const server = new EmbeddedCluster({ registry, manager: this.name });
    const removals = new SeenRemovals(shared, this.#options.unseenRemovals);
    const sizes = new SeenSizes(shared, this.#options.knownExpansions);
    const cluster = new InterceptedCluster(
      new InterceptedCluster(server, this.#options.answers),
      removals.onSend,
      sizes.onSend,
      faults,
      removals.onDelivery,
      sizes.onDelivery,
      { before: (call) => this.#observe(call), answer: answerForEvents },
    );
    const supervisor = new Supervisor({
      clock,
      random: random.fork('supervisor'),
      onCrash: ({ name, error }) => this.#onError(name, error),
    });
    const ended = new AbortController();
    this.#run = { clock, faults, cluster, supervisor, ended };
    trace.add(this.name, 'starts');
    runControllers({
      names: plan.controllers,
      cluster,
      resources: registry.kinds.all.filter(({ storedAs }) => storedAs === undefined),
      clock,
      random: random.fork('controllers'),
      ids,
      supervisor,
      metrics: this.#metrics,
      report: ({ controller, key, error }) => this.#onError(`${controller} ${key}`, error),
      onError: (error) => this.#onError('informer', error),
      instance: this.name,
      leaderElection: electsLeader,
      provisioners: this.#options.provisioners,
      more: plan.drivesNode === undefined ? [] : [this.#nodeService(plan.drivesNode, ended.signal)],
      ...(plan.knowsDriver && { csiDrivers: onlyDriver(this.#options.csiDriver), csi: csiSettings }),
      ...(plan.knowsSegmentDriver && {
        csiDrivers: onlyDriver(this.#options.segmentDriver),
        csi: csiSettings,
      }),
      ...(plan.hasOwnDriver && { csiDrivers: noCsiDrivers, csi: csiSettings }),
      schedulerNames: ['default-scheduler'],
      bindTimeoutMs,
      leaseRetryPeriodMs,
      leaseClock: this.#options.electionClocks.clockFor(clock),
    });
  }

  #nodeService(nodeName: string, ended: AbortSignal): Controller {
    return {
      name: 'drives-node',
      run: async ({ cluster, clock, random, supervisor, log, metrics }, signal) => {
        const host = this.#options.driveHosts.of(nodeName).forProcess(clock, ended);
        const common = { cluster, clock, random, supervisor, log, metrics };
        await new NodeDriver({ ...common, nodeName, host, drivesRoot }).start(signal);
        await untilAborted(signal);
      },
    };
  }

  /** Ends at once, and starts again later. */
  crash(forMs: number): void {
    this.#run?.faults.kill();
    this.#afterCrash(forMs);
  }

  /** Time passes without the process: it misses its timers, and sees nothing. */
  freeze(forMs: number): void {
    const run = this.#run;
    if (run === undefined) return;
    run.clock.freeze();
    this.#options.clock.after(forMs, () => run.clock.thaw());
  }

  shiftWall(ms: number): void {
    if (!this.#options.plan.hasTrueClock) this.#run?.clock.shiftWall(ms);
  }

  armFault(fault: ArmedFault): void {
    this.#run?.faults.arm(fault);
  }

  stallWatches(resource: string, forMs: number): void {
    this.#run?.faults.stall(resource, forMs);
  }

  /** The network between the process and the server is interrupted. */
  partition(forMs: number): void {
    this.#run?.faults.partition(forMs);
  }

  /**
   * The watches end: with `Expired`, so that informers list again, or as if the server had closed them. For `silentMs` before that they
   * deliver nothing, and most of their events are lost.
   */
  endWatches(isExpired: boolean, silentMs: number): void {
    const run = this.#run;
    if (run === undefined) return;
    const error = failure(410, 'Expired', 'too old resource version (simulated)');
    if (silentMs > 0) run.faults.stall('*', silentMs);
    run.clock.after(silentMs, () => run.cluster.endWatches(isExpired ? { error } : {}));
  }

  /** Faults end: a process that is down starts, one that is frozen continues. */
  heal(): void {
    this.#isHealing = true;
    this.#run?.faults.heal();
    this.#run?.clock.thaw();
    this.start();
  }

  /** Counters of sweeps that found work which an event should have caused. */
  get rescued(): readonly string[] {
    const lines = this.#metrics.render().split('\n');
    return lines
      .filter((line) => /^stowage_sweep_rescued_total.* [1-9]/.test(line))
      .map((line) => `${this.name}: ${line}`);
  }

  /** Ends the process for good. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const run = this.#run;
    this.#run = undefined;
    run?.faults.kill();
    run?.ended.abort();
    run?.clock.thaw();
    await run?.supervisor.close();
  }

  #afterCrash(forMs: number): void {
    const run = this.#run;
    if (run === undefined) return;
    this.#run = undefined;
    this.#options.trace.add(this.name, 'crashes');
    run.ended.abort();
    run.clock.thaw();
    run.cluster.endWatches({ error: new Error('the process has ended') });
    void run.supervisor.close();
    this.#options.clock.after(this.#isHealing ? 0 : forMs, () => this.start());
  }

  #observe(call: ClusterCall): void {
    const phase = phaseOf(call);
    this.#options.coverage.called(this.#options.plan.name, phase);
    if (lacksVersion(call)) this.unversioned.push(`${this.name}: ${phase}/${call.name}`);
  }

  #onFault(fault: CallFault, call: ClusterCall): void {
    const phase = phaseOf(call);
    this.#options.coverage.hit(this.#options.plan.name, fault, phase);
    this.#options.trace.add(this.name, `${phase}${call.name === '' ? '' : `/${call.name}`}: ${fault}`);
  }

  #onError(where: string, error: unknown): void {
    if (error instanceof ApiError) return;
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    if (expectedErrors.test(text)) return;
    this.unexpected.push(`${this.name} ${where}: ${text}`);
  }
}

/**
 * Errors that follow from faults, from the end of a process, or from people: of an attachment to a node that was deleted, the attacher reports that
 * the driver is not there; of a volume on a drive that is lost or being deleted, the expander reports that it cannot grow.
 */
const expectedErrors =
  /the process has ended|simulated|AbortError|has stopped: its Lease|the lease could not be renewed|CSINode \S+ does not contain driver|cannot grow: drive \S+ is (lost|being deleted)/i;

/** Shorter than by default, so that a run needs less virtual time until everything has timed out that will. */
const bindTimeoutMs = 60_000;
/** Twice the default: renewals would be most of the work of a run. The renew deadline and the duration of a Lease are the real ones. */
const leaseRetryPeriodMs = 4_000;
/** The driver is asked often: nothing tells the publisher that a pool grew, and pods that wait for it must be woken soon. */
const csiSettings = { addresses: [], timeoutMs: 10_000, capacity: { pollIntervalMs: 12_000 } };
/** How long a process is down after a crash in the middle of a call. */
const crashedForMs = 2_000;

interface ProcessRun {
  readonly clock: FreezableClock;
  readonly faults: ConnectionFaults;
  readonly cluster: InterceptedCluster;
  readonly supervisor: Supervisor;
  /** For what the process does outside of the cluster. */
  readonly ended: AbortController;
}

function onlyDriver(driver: ServedCsiDriver): CsiDriverSet {
  return {
    get: (name) => (name === driver.name ? driver : undefined),
    all: () => [driver],
    onJoin: () => () => {},
  };
}

/** Events are accepted and not stored: no controller reads them, and they would be a third of all writes. */
function answerForEvents({ verb, resource }: ClusterCall): AnswerOverride | undefined {
  const isWrite = verb === 'create' || verb === 'patch';
  return isWrite && resource.plural === 'events' ? { value: {} } : undefined;
}

const versionedResources: ReadonlySet<string> = new Set([
  'persistentvolumes',
  'persistentvolumeclaims',
  'csistoragecapacities',
  'drives',
]);

/**
 * Two writers of a volume, claim, capacity report or drive never overwrite each other only if every write names the version that it replaces. A binding that
 * arrives late must not take effect.
 */
function lacksVersion({ verb, resource, body }: ClusterCall): boolean {
  const isVolumeWrite = (verb === 'update' || verb === 'patch') && versionedResources.has(resource.plural);
  const isBinding = verb === 'post' && isRecord(body) && body.kind === 'Binding';
  if (!isVolumeWrite && !isBinding) return false;
  if (Array.isArray(body)) return !body.some((operation) => operation?.path === '/metadata/resourceVersion');
  const { metadata } = isRecord(body) ? body : {};
  return !isRecord(metadata) || metadata.resourceVersion === undefined;
}

/** `patch persistentvolumes`: the step of a controller at which a fault hits it. */
function phaseOf({ verb, resource }: ClusterCall): string {
  return `${verb} ${qualifiedPlural(resource)}`;
}
