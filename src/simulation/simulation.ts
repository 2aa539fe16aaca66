import { DefinitionController } from '../apiserver/custom/definition-controller.ts';
import { installDefinitions } from '../apiserver/custom/install-definitions.ts';
import { builtInKindCatalog } from '../apiserver/kinds/built-in-kinds.ts';
import { bootstrap } from '../apiserver/registry/bootstrap.ts';
import { EmbeddedRegistry } from '../apiserver/registry/embedded-registry.ts';
import { MemoryStore, type StoreObserver } from '../apiserver/store/memory-store.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { EmbeddedCluster } from '../cluster/embedded-cluster.ts';
import { InProcessDriver } from '../csi/in-process-driver.ts';
import { ownDefinitions } from '../embedded/own-definitions.ts';
import type { CustomResourceDefinition } from '../kube/api/stored/apiextensions.ts';
import { pods } from '../kube/resources.ts';
import { messageOf } from '../runtime/error-message.ts';
import { idsFrom } from '../runtime/ids.ts';
import { type Random, seededRandom } from '../runtime/random.ts';
import { VirtualClock } from '../runtime/virtual-clock.ts';
import { partsOf } from './all-parts.ts';
import { createBaseCluster } from './base-cluster.ts';
import { Coverage } from './coverage.ts';
import { ElectionClocks } from './election-clocks.ts';
import { callFaults } from './faults/connection-faults.ts';
import { hasClaim, isMounted } from './invariants/attachments.ts';
import type { Invariant, RestFacts, StoredVersion, Violation } from './invariants/invariant.ts';
import { nothingKeepsWriting } from './invariants/rest.ts';
import { StoredState } from './invariants/stored-state.ts';
import { KnownExpansions } from './known-expansions.ts';
import { LateSelections } from './late-selections.ts';
import { LateVersions } from './late-versions.ts';
import type { ActionContext, ActionKind, SimulationPart } from './part.ts';
import { renewPublisherLeases } from './renew-publisher-leases.ts';
import { parameterTexts, type Scenario, type TimedAction } from './scenario.ts';
import { ServerAnswers } from './server-answers.ts';
import { csiServicesOf } from './simulated-csi-service.ts';
import { SimulatedDisk } from './simulated-disk.ts';
import { SimulatedDriveHosts } from './simulated-drive-hosts.ts';
import { SimulatedDriver } from './simulated-driver.ts';
import { type ProcessOptions, SimulatedProcess } from './simulated-process.ts';
import { SimulatedSegmentDriver } from './simulated-segment-driver.ts';
import { storageAtRest, storageFactsOf } from './storage-facts.ts';
import { Trace } from './trace.ts';
import { UnseenRemovals } from './unseen-removals.ts';
import { versionText } from './version-text.ts';

export interface SimulationResult {
  readonly scenario: Scenario;
  /** Empty if every invariant held. */
  readonly violations: readonly Violation[];
  readonly trace: readonly string[];
  readonly coverage: Coverage;
  /** Faults that took place: at a call, or of a process, the driver or the disk. */
  readonly faults: number;
  /** Versions of objects that were stored. */
  readonly versions: number;
  /** How much virtual time has passed. */
  readonly elapsedMs: number;
}

/** A run ends sooner after its elections have stopped. */
const stoppedMsMax = 86_400_000;
/** Before the first action every process has read the cluster. */
const startMs = 3_000;
/**
 * After the last fault: enough for the longest back-off, for binding time-outs, for Leases of crashed leaders, and for a sweep, which
 * may bring the message of a refused pod up to date.
 */
const recoveryMs = 8 * 60_000;
/** The time after the last fault within which all elections should settle. If one has not, it is checked again after `electionLookMs`. */
const electionsMs = 60_000;
const electionLookMs = 10_000;
/** After the last fault, before the scheduler tries pods again that it refused at the end: events must have caused all work by then. */
const beforeSweepsMs = 200_000;
/** Between the two looks: what one of them finds may be work in progress. */
const secondLookMs = 30_000;
/** Then the system must be at rest: no writes, while sweeps look for work that was missed. */
const restMs = 6 * 60_000;
/** Longer than it takes to try something again, shorter than the time between two tries. */
const retriedMs = 10_000;
/** After each probe: enough for the longest back-off, and for new volumes. */
const probeMs = 25_000;
const callFaultNames: ReadonlySet<string> = new Set(callFaults);
/** More than any scenario needs: something writes without end. */
const versionsMax = 5_000;

/**
 * Runs a scenario: all controllers, the API server, a storage driver, people and faults in one process under virtual time. Two runs
 * of one scenario are identical, step by step. The protocol:
 *
 * 1. The cluster is created, and the processes start.
 * 2. The actions take place, each at its time. Every stored version is checked against the invariants.
 * 3. Faults end, and the system has time to finish its work.
 * 4. It is observed for some minutes without any change from outside; then the invariants about rest are checked.
 * 5. Probes: changes that may help pods which wait. Each of these pods must be woken.
 *
 * It ends early, before the next action or after step 3, if a version was wrong: then the trace ends soon after it.
 */
export async function simulate(
  scenario: Scenario,
  parts: readonly SimulationPart[] = partsOf(scenario.subject),
): Promise<SimulationResult> {
  const run = new SimulationRun(scenario, parts);
  try {
    await run.start();
    await run.act();
    await run.recover();
    return await run.finish();
  } finally {
    await run.close();
  }
}

class SimulationRun {
  readonly #scenario: Scenario;
  readonly #clock = new VirtualClock();
  readonly #random: Random;
  readonly #trace = new Trace(this.#clock);
  readonly #coverage = new Coverage();
  readonly #state: StoredState;
  readonly #registry: EmbeddedRegistry;
  readonly #disk: SimulatedDisk;
  readonly #driver: SimulatedDriver;
  readonly #driveHosts = new SimulatedDriveHosts();
  readonly #answers = new ServerAnswers();
  readonly #electionClocks = new ElectionClocks(this.#clock);
  readonly #lateSelections = new LateSelections();
  readonly #unseenRemovals = new UnseenRemovals();
  readonly #knownExpansions = new KnownExpansions();
  readonly #people: Cluster;
  readonly #processes = new Map<string, SimulatedProcess>();
  readonly #actions: ReadonlyMap<string, ActionKind>;
  readonly #parts: readonly SimulationPart[];
  readonly #invariants: readonly Invariant[];
  readonly #beforeSweeps: Violation[] = [];
  #definitions: DefinitionController | undefined;
  /** Versions since rest began; undefined before that. */
  #lateVersions: LateVersions | undefined;
  #versions = 0;
  /** Actions that are faults, except those that wait for a call: these count when they hit it. */
  #faultActions = 0;

  constructor(scenario: Scenario, parts: readonly SimulationPart[]) {
    this.#scenario = scenario;
    this.#parts = parts;
    this.#random = seededRandom(scenario.seed);
    this.#actions = new Map(parts.flatMap(({ actions = [] }) => actions.map((kind) => [kind.name, kind])));
    this.#driver = new SimulatedDriver({
      clock: this.#clock,
      isInUse: (volume) => hasClaim(volume, this.#state),
      isMounted: (volume, node) => isMounted(volume, node, this.#state),
    });
    this.#invariants = parts.flatMap(({ invariants = [] }) => invariants);
    this.#state = new StoredState(this.#invariants, {
      onVersion: (version) => this.#onVersion(version),
      storage: storageFactsOf(
        { driver: this.#driver, driveHosts: this.#driveHosts },
        {
          lateSelections: this.#lateSelections,
          unseenRemovals: this.#unseenRemovals,
          knownExpansions: this.#knownExpansions,
        },
      ),
      nowMs: () => this.#clock.monotonicMs(),
    });
    this.#disk = new SimulatedDisk(this.#clock, this.#random.fork('disk'));
    const store = new MemoryStore({ observer: this.#observer(), durability: this.#disk });
    const ids = idsFrom(this.#random.fork('server'));
    this.#registry = new EmbeddedRegistry({ store, kinds: builtInKindCatalog(), clock: this.#clock, ids });
    this.#people = new EmbeddedCluster({ registry: this.#registry, manager: 'people' });
  }

  async start(): Promise<void> {
    // Read before virtual time passes: how long the file takes must not decide what time it is then.
    const needsOwnKinds = this.#parts.some((part) => part.needsOwnKinds === true);
    const definitions = needsOwnKinds ? await ownDefinitions() : [];
    await this.#during(async () => {
      await bootstrap(this.#registry);
      const { attaches = false } = this.#scenario;
      await createBaseCluster(this.#people, { driver: this.#driver, attaches });
      if (needsOwnKinds) await this.#serveOwnKinds(definitions);
      for (const { prepare } of this.#parts)
        await prepare?.({ cluster: this.#people, driveHosts: this.#driveHosts });
    });
    const services = csiServicesOf(this.#driver, this.#clock);
    const served = await InProcessDriver.connect(services, new AbortController().signal);
    const segments = new SimulatedSegmentDriver(this.#clock);
    const segmentDriver = await InProcessDriver.connect(segments.services, new AbortController().signal);
    for (const process of this.#createProcesses({ csiDriver: served, segmentDriver })) {
      this.#processes.set(process.name, process);
      process.start();
    }
    await this.#clock.advance(startMs);
  }

  async #serveOwnKinds(definitions: readonly CustomResourceDefinition[]): Promise<void> {
    const [registry, clock] = [this.#registry, this.#clock];
    const onError = (error: unknown) => this.#trace.add('server', messageOf(error));
    this.#definitions = await DefinitionController.start({ registry, clock, onError });
    await installDefinitions(registry, definitions);
  }

  async act(): Promise<void> {
    const originMs = this.#clock.monotonicMs();
    for (const action of this.#scenario.actions) {
      await this.#clock.advance(originMs + action.atMs - this.#clock.monotonicMs());
      if (this.#state.violations.length > 0) return;
      this.#start(action);
    }
  }

  async recover(): Promise<void> {
    this.#trace.add('simulation', 'faults end');
    this.#driver.heal();
    this.#disk.free();
    for (const process of this.#processes.values()) process.heal();
    if (this.#state.violations.length > 0) return;
    const originMs = this.#clock.monotonicMs();
    await this.#clock.advance(electionsMs);
    await this.#endElections(originMs + beforeSweepsMs);
    await this.#clock.advance(originMs + beforeSweepsMs - this.#clock.monotonicMs());
    const first = new Set(this.#violationsBeforeSweeps().map(({ detail }) => detail));
    await this.#clock.advance(secondLookMs);
    const both = this.#violationsBeforeSweeps().filter(({ detail }) => first.has(detail));
    this.#beforeSweeps.push(...both);
    await this.#clock.advance(recoveryMs - beforeSweepsMs - secondLookMs);
  }

  /** Where an election does not settle by `untilMs`, all go on. */
  async #endElections(untilMs: number): Promise<void> {
    while (!this.#state.areLeasesHeld) {
      if (this.#clock.monotonicMs() + electionLookMs > untilMs) return;
      await this.#clock.advance(electionLookMs);
    }
    this.#electionClocks.stop();
    await this.#during(
      async () => await renewPublisherLeases(this.#people, this.#clock.nowMs() + stoppedMsMax),
    );
  }

  async finish(): Promise<SimulationResult> {
    const violations = [...this.#state.violations, ...this.#beforeSweeps];
    if (violations.length === 0) {
      this.#lateVersions = new LateVersions();
      await this.#clock.advance(restMs);
      violations.push(...(await this.#lastingViolations()), ...this.#state.violations);
    }
    if (violations.length === 0) violations.push(...(await this.#probe()));
    for (const { invariant, detail } of violations) this.#trace.add('VIOLATION', `${invariant}: ${detail}`);
    const trace = this.#trace;
    return {
      scenario: this.#scenario,
      violations,
      get trace() {
        return trace.lines;
      },
      coverage: this.#coverage,
      faults: this.#coverage.faults + this.#faultActions,
      versions: this.#versions,
      elapsedMs: this.#clock.monotonicMs(),
    };
  }

  /** Ends with the first violation, or when no pod waits any more. */
  async #probe(): Promise<readonly Violation[]> {
    for (const { name, run } of this.#parts.flatMap(({ probes = [] }) => probes)) {
      if (![...this.#state.values(pods)].some(({ spec }) => (spec?.nodeName ?? '') === '')) break;
      this.#trace.add('people', name);
      await this.#during(async () => await run(this.#context));
      await this.#clock.advance(probeMs);
      const found = [...this.#state.violations, ...this.#violationsBeforeSweeps()];
      if (found.length > 0)
        return found.map(({ invariant, detail }) => ({ invariant, detail: `${name}: ${detail}` }));
    }
    return [];
  }

  async close(): Promise<void> {
    await this.#during(async () => {
      await Promise.all([...this.#processes.values()].map((process) => process.close()));
      await this.#definitions?.close();
    });
  }

  *#createProcesses(
    drivers: Pick<ProcessOptions, 'csiDriver' | 'segmentDriver'>,
  ): Generator<SimulatedProcess> {
    const { replicated, latencyMaxMs } = this.#scenario;
    for (const plan of this.#parts.flatMap(({ processes = [] }) => processes)) {
      const replicas = replicated.includes(plan.name) ? 2 : 1;
      for (let replica = 0; replica < replicas; replica += 1) {
        const name = `${plan.name}-${replica}`;
        yield new SimulatedProcess({
          plan,
          replica,
          electsLeader: replicas > 1,
          registry: this.#registry,
          answers: this.#answers,
          clock: this.#clock,
          random: this.#random.fork(name),
          ids: idsFrom(this.#random.fork(`${name} ids`)),
          latencyMaxMs,
          trace: this.#trace,
          coverage: this.#coverage,
          electionClocks: this.#electionClocks,
          lateSelections: this.#lateSelections,
          unseenRemovals: this.#unseenRemovals,
          knownExpansions: this.#knownExpansions,
          provisioners: [this.#driver.provisioner],
          ...drivers,
          driveHosts: this.#driveHosts,
        });
      }
    }
  }

  /** An action that waits for the API does not hold up the next one. */
  #start({ action, parameters }: TimedAction): void {
    const kind = this.#actions.get(action);
    this.#trace.add(kind?.isFault ? 'fault' : 'people', [action, ...parameterTexts(parameters)].join(' '));
    if (kind?.isFault && !callFaultNames.has(action)) this.#faultActions += 1;
    if (kind === undefined) throw new Error(`${action} is not an action of this simulation`);
    const refused = (error: unknown) =>
      this.#trace.add('people', `${action} is refused: ${messageOf(error)}`);
    void Promise.resolve()
      .then(() => kind.run(this.#context, parameters))
      .catch(refused);
  }

  get #context(): ActionContext {
    return {
      cluster: this.#people,
      clock: this.#clock,
      processes: this.#processes,
      driver: this.#driver,
      disk: this.#disk,
      driveHosts: this.#driveHosts,
    };
  }

  #observer(): StoreObserver {
    return {
      written: (change) => {
        this.#answers.written(change);
        this.#state.written(change);
      },
      rolledBack: (change) => {
        this.#answers.rolledBack(change);
        this.#state.rolledBack(change);
      },
    };
  }

  #onVersion(version: StoredVersion): void {
    this.#versions += 1;
    this.#unseenRemovals.stored(version);
    this.#driveHosts.stored(version, this.#state);
    this.#trace.add('stored', () => versionText(version));
    this.#lateVersions?.add(version);
    if (this.#versions === versionsMax) this.#endWrites(version);
  }

  /** Otherwise the run would take minutes, or never end. */
  #endWrites(version: StoredVersion): void {
    const detail = `${versionsMax} versions, the last one ${versionText(version)}`;
    this.#beforeSweeps.push({ invariant: nothingKeepsWriting.name, detail });
    for (const process of this.#processes.values()) void process.close();
  }

  #violationsBeforeSweeps(): readonly Violation[] {
    const nowMs = this.#clock.nowMs();
    return this.#check(({ beforeSweeps }) => beforeSweeps?.(this.#state, nowMs));
  }

  /** What is still wrong after a while: what the first look finds may be an expansion that was refused, and is tried again from time to time. */
  async #lastingViolations(): Promise<readonly Violation[]> {
    const first = this.#violationsAtRest();
    if (first.length > 0) await this.#clock.advance(retriedMs);
    const lasting = new Set(this.#violationsAtRest().map(({ invariant }) => invariant));
    return first.filter(({ invariant }) => lasting.has(invariant));
  }

  #violationsAtRest(): readonly Violation[] {
    const processes = [...this.#processes.values()];
    const facts: RestFacts = {
      nowMs: this.#clock.nowMs(),
      ...storageAtRest({ driver: this.#driver, driveHosts: this.#driveHosts }),
      lateVersions: this.#lateVersions?.texts ?? [],
      rescued: processes.flatMap(({ rescued }) => rescued),
      crashes: processes.flatMap(({ unexpected }) => unexpected),
      unversioned: processes.flatMap(({ unversioned }) => unversioned),
      wrongAnswers: this.#answers.wrong,
    };
    return this.#check(({ atRest }) => atRest?.(this.#state, facts));
  }

  #check(detailsOf: (invariant: Invariant) => readonly string[] | undefined): readonly Violation[] {
    return this.#invariants.flatMap((each) =>
      (detailsOf(each) ?? []).map((detail) => ({ invariant: each.name, detail })),
    );
  }

  /** Runs `work`, which waits for virtual time, to its end. */
  async #during(work: () => Promise<void>): Promise<void> {
    let isDone = false;
    const done = work().finally(() => {
      isDone = true;
    });
    done.catch(() => {});
    while (!isDone) await this.#clock.advance(10);
    await done;
  }
}
