import { Confirmations } from '../../bind/confirmations.ts';
import { Flights } from '../../bind/flight.ts';
import { PodBinder } from '../../bind/pod-binder.ts';
import { PodWrites } from '../../bind/pod-writes.ts';
import { VolumeWrites } from '../../bind/volume-writes.ts';
import type { Projected } from '../../cluster/cluster.ts';
import type { Change } from '../../engine/cluster-index/change.ts';
import { type Profile, stowageProfile } from '../../engine/cluster-index/profile.ts';
import { Ledger, type Reservation } from '../../engine/ledger/ledger.ts';
import { type Budget, readBudget } from '../../engine/preemption/budget.ts';
import type { Preemption } from '../../engine/preemption/find-victims.ts';
import type { PodRecord } from '../../engine/records/pod-record.ts';
import { defaultRules } from '../../engine/rules/default-rules.ts';
import type { AnyRule } from '../../engine/rules/rule.ts';
import type { Pod } from '../../kube/api/core.ts';
import { podDisruptionBudgets } from '../../kube/resources.ts';
import type { Controller, ControllerContext } from '../../reconcile/controller.ts';
import { messageOf } from '../../runtime/error-message.ts';
import { nextTurn } from '../../runtime/next-turn.ts';
import { ClusterFeed } from '../../state/cluster-feed.ts';
import { decisionKinds } from '../../state/decision-kinds.ts';
import { AssignedPods } from './assigned-pods.ts';
import { Decider, type Decision, type Refused } from './decider.ts';
import { logDecision } from './decision-log.ts';
import { Departures } from './departures.ts';
import { Evictions } from './evictions.ts';
import { pinsOf } from './pins.ts';
import { asksForOther, concernsOthers, isFor, queuedPod, wantsNode } from './pods-to-place.ts';
import type { BackOffOptions } from './queue/back-off.ts';
import type { Taken } from './queue/queued-pod.ts';
import { SchedulingQueue } from './queue/scheduling-queue.ts';
import { conflictMessage, refusedMessage } from './refused-message.ts';
import { Rollback } from './rollback.ts';
import { SchedulerMetrics } from './scheduler-metrics.ts';
import { Skew } from './skew.ts';
import { Teller } from './telling.ts';

const name = 'scheduler';

export interface SchedulerOptions {
  /** `spec.schedulerName` of the pods that it looks after. */
  readonly schedulerNames?: readonly string[] | undefined;
  readonly profile?: Profile | undefined;
  /** What it decides by; all rules there are by default. */
  readonly rules?: readonly AnyRule[] | undefined;
  /** The gate of that name: claims that wait for their first consumer are bound with the pod. Default true. */
  readonly volumeScheduling?: boolean | undefined;
  /** Its own, to be held against the PV controller's. */
  readonly version?: string | undefined;
  /** How long others may take to make and bind a pod's volumes. */
  readonly bindTimeoutMs?: number | undefined;
  /** Of pods that were refused, or whose binding failed. */
  readonly backOff?: BackOffOptions | undefined;
}

/** So many pods may be on their way at once; those beyond wait in the queue. */
const flightsMax = 5_000;
/** After so long at deciding, everything else in the process gets a turn. */
const turnMs = 5;
/** What runs out of time by itself is looked for this often. */
const settleEveryMs = 30_000;

export function createScheduler(options: SchedulerOptions = {}): Controller {
  return { name, run: (context, signal) => new Scheduler(context, options, signal).run() };
}

/**
 * Places pods and their volumes together. One pod's way through here:
 *
 * 1. An event brings it to the queue (`#changed`); `#schedule` takes it out in its turn.
 * 2. `#decide` plans it on the live index and reserves what the plan takes. Both happen in one go, without awaiting, so that what was
 *    true in the plan is true in the reservation.
 * 3. `Departures` has the placement written while the next pods are decided on. If that fails, everything is given back and the pod queues
 *    again.
 * 4. A pod that fits nowhere waits for what the rules that refused it say could help (`#refuse`).
 *
 * It can die at any moment: reservations are rebuilt from what is stored, claimRefs and selected nodes, before the first decision.
 */
class Scheduler {
  readonly #context: ControllerContext;
  readonly #signal: AbortSignal;
  readonly #names: readonly string[];
  readonly #feed: ClusterFeed;
  readonly #ledger: Ledger;
  readonly #confirmations: Confirmations;
  readonly #queue: SchedulingQueue;
  readonly #flights = new Flights();
  readonly #decider: Decider;
  readonly #pods: PodWrites;
  readonly #departures: Departures;
  readonly #rollback: Rollback;
  readonly #evictions: Evictions;
  readonly #skew: Skew;
  readonly #assigned: AssignedPods;
  readonly #teller: Teller;
  readonly #metrics: SchedulerMetrics;
  readonly #work = new Set<Promise<void>>();

  constructor(context: ControllerContext, options: SchedulerOptions, signal: AbortSignal) {
    const { cluster, clock, events, metrics } = context;
    this.#context = context;
    this.#signal = signal;
    this.#names = options.schedulerNames ?? ['stowage'];
    this.#feed = new ClusterFeed({
      informers: context.informers,
      kinds: decisionKinds,
      profile: options.profile ?? stowageProfile,
      onChange: (change) => this.#changed(change),
    });
    const { index } = this.#feed;
    index.bindsVolumes = options.volumeScheduling ?? true;
    const volumes = new VolumeWrites(cluster, this.#feed, clock);
    this.#ledger = new Ledger(index);
    this.#confirmations = new Confirmations({
      index,
      ledger: this.#ledger,
      flights: this.#flights,
      giveBack: (reservation) => this.#giveBack(reservation),
    });
    this.#decider = new Decider(index, options.rules ?? defaultRules, () => budgetsOf(context));
    this.#queue = new SchedulingQueue(clock, options.backOff && { backOff: options.backOff });
    this.#pods = new PodWrites({ cluster, feed: this.#feed, clock });
    const timeoutMs = options.bindTimeoutMs;
    const binder = new PodBinder({ index, clock, volumes, pods: this.#pods, timeoutMs });
    this.#rollback = new Rollback({
      feed: this.#feed,
      writes: volumes,
      clock,
      background: (work) => this.#background('rollback', work),
      report: (key, error) => this.#report(key, error),
      signal,
    });
    this.#evictions = new Evictions({ context, feed: this.#feed, flights: this.#flights, signal });
    this.#skew = new Skew({
      ...context,
      ownGates: { VolumeScheduling: index.bindsVolumes },
      ownVersion: options.version ?? '',
      onChange: ({ bindsVolumes }) => this.#bindVolumes(bindsVolumes),
      signal,
    });
    this.#teller = new Teller(events);
    this.#metrics = new SchedulerMetrics(metrics);
    this.#departures = new Departures({
      context,
      feed: this.#feed,
      flights: this.#flights,
      binder,
      pods: this.#pods,
      queue: this.#queue,
      teller: this.#teller,
      metrics: this.#metrics,
      confirm: (podKey) => this.#confirmations.confirm(podKey),
      nominate: (pod, nodeName) => this.#decider.nominate(pod, nodeName),
      giveBack: (reservation) => this.#giveBack(reservation),
      signal,
    });
    this.#assigned = new AssignedPods({
      context,
      feed: this.#feed,
      ledger: this.#ledger,
      flights: this.#flights,
      binder,
      teller: this.#teller,
      isOurs: (pod) => isFor(pod, this.#names),
      giveBack: (reservation) => this.#giveBack(reservation),
    });
  }

  async run(): Promise<void> {
    const stop = this.#feed.start();
    const stopCounting = this.#context.metrics.beforeRender(() => this.#count());
    const budgets = this.#context.informers.of(podDisruptionBudgets);
    try {
      const synced = await Promise.all([this.#feed.synced(this.#signal), budgets.synced(this.#signal)]);
      if (!synced.every(Boolean)) return;
      this.#rollback.resume();
      this.#background('settling', this.#settle());
      this.#background('assigned pods', this.#assigned.run(this.#signal));
      this.#background('skew', this.#skew.run());
      await this.#schedule();
    } finally {
      stop();
      stopCounting();
      this.#queue.close();
      await Promise.all(this.#work);
    }
  }

  // ── What happens ──

  #changed(change: Change): void {
    const left = this.#decider.changed(change);
    this.#flights.changed(change);
    if (change.kind === 'Pod') this.#podChanged(change);
    this.#assigned.changed(change);
    this.#confirmations.changed(change);
    if (change.kind !== 'Pod' || concernsOthers(change.before, change.after)) this.#queue.changed(change);
    this.#leftToOthers(left);
    this.#wakeReleased();
  }

  #podChanged({ before, after }: Extract<Change, { kind: 'Pod' }>): void {
    const key = (after ?? before)!.key;
    const pod = this.#feed.get('Pod', key);
    if (after === undefined || pod === undefined || !wantsNode(after)) this.#queue.remove(key);
    else if (isFor(pod, this.#names)) {
      const mayHelp = before === undefined || before.uid !== after.uid || asksForOther(before, after);
      this.#queue.put(queuedPod(after, pod), { mayHelp });
    }
  }

  #giveBack(reservation: Reservation): void {
    const released = this.#ledger.revert(reservation);
    if (released !== undefined) this.#released(released);
    this.#wakeReleased();
  }

  #released(change: Change): void {
    this.#decider.changed(change);
    this.#queue.changed(change);
    this.#assigned.changed(change);
  }

  /** Nobody waits for the node any longer: it is for those again that it was kept from. */
  #leftToOthers(nodeName: string | undefined): void {
    if (nodeName !== undefined) this.#released({ kind: 'Release', volumes: [], pools: [], nodeName });
  }

  /** Room in pools may have come back by any event, any plan, or the mere passing of time. */
  #wakeReleased(): void {
    const released = this.#feed.index.drainReleases();
    if (released !== undefined) this.#released(released);
  }

  /** Whether the PV controller leaves delayed claims to us has changed: every pod may have another answer now. */
  #bindVolumes(isOn: boolean): void {
    const { index } = this.#feed;
    if (index.bindsVolumes === isOn) return;
    index.bindsVolumes = isOn;
    this.#decider.forget();
    for (const record of index.pods.records()) {
      const pod = this.#feed.get('Pod', record.key);
      if (pod !== undefined && wantsNode(record) && isFor(pod, this.#names))
        this.#queue.put(queuedPod(record, pod));
    }
  }

  async #settle(): Promise<void> {
    const { clock } = this.#context;
    while (!this.#signal.aborted) {
      await clock.sleep(settleEveryMs, this.#signal);
      this.#feed.index.settle(clock.nowMs());
      this.#wakeReleased();
    }
  }

  #count(): void {
    const { promises } = this.#feed.index;
    this.#metrics.counts(this.#queue.counts, this.#flights.size);
    this.#metrics.reserved(this.#ledger.all(), promises.all());
  }

  // ── Deciding ──

  async #schedule(): Promise<void> {
    const { clock } = this.#context;
    let busyMs = 0;
    for (;;) {
      while (this.#flights.size >= flightsMax) await this.#flights.landing();
      const taken = await this.#queue.take(this.#signal);
      if (taken === undefined) return;
      const startMs = clock.monotonicMs();
      this.#decide(taken);
      busyMs += clock.monotonicMs() - startMs;
      if (busyMs < turnMs) continue;
      await nextTurn();
      busyMs = 0;
    }
  }

  #decide(taken: Taken): void {
    const startMs = this.#context.clock.monotonicMs();
    const pod = this.#feed.get('Pod', taken.pod.key);
    const record = this.#feed.index.pods.stored(taken.pod.key);
    if (pod === undefined || record?.uid !== taken.pod.uid || !wantsNode(record)) {
      this.#queue.done(taken);
      return;
    }
    const decision = this.#answerFor(taken, pod, record);
    this.#wakeReleased();
    if (decision === undefined) return;
    const reserved = decision.kind === 'refused' ? undefined : this.#ledger.reserve(decision);
    let message = '';
    if (decision.kind === 'refused') message = this.#refuse(taken, pod, decision);
    else if (reserved?.kind === 'reserved') this.#launch(taken, pod, reserved.reservation);
    else message = this.#fail(taken, pod, conflictMessage(reserved?.conflicts ?? []));
    const result = reserved === undefined ? 'unschedulable' : outcomes[reserved.kind];
    const seconds = (this.#context.clock.monotonicMs() - startMs) / 1000;
    this.#metrics.decided(result, seconds);
    const node = decision.kind === 'refused' ? undefined : decision.node;
    logDecision(this.#context.log, taken, { result, node, message, seconds });
  }

  /** Undefined where a rule tripped over the pod, which must not keep others from their nodes. */
  #answerFor(taken: Taken, pod: Projected<Pod>, record: PodRecord): Decision | undefined {
    try {
      return this.#decider.decide(pod, record, this.#context.clock.nowMs());
    } catch (error) {
      this.#report(taken.pod.key, error);
      const message = this.#fail(taken, pod, messageOf(error));
      this.#metrics.decided('error', 0);
      logDecision(this.#context.log, taken, { result: 'error', node: undefined, message, seconds: 0 });
      return undefined;
    }
  }

  #launch(taken: Taken, pod: Projected<Pod>, reservation: Reservation): void {
    this.#decider.reserved(reservation.placement);
    this.#queue.done(taken);
    this.#background(taken.pod.key, this.#departures.depart(taken, pod, reservation));
  }

  /** No node fits. Perhaps others can make room; in any case it waits for what could help, and says so. */
  #refuse(taken: Taken, pod: Projected<Pod>, { refusal, preemption }: Refused): string {
    this.#metrics.refused(refusal.reasons.keys());
    this.#rollback.consider(refusal.pod);
    this.#queue.refused(taken, refusal.waker);
    const message = refusedMessage(refusal, preemption);
    this.#teller.failedScheduling(pod, message);
    const pins = pinsOf(refusal, this.#feed.index);
    if (pins.length > 0) this.#teller.volumesPin(pod, pins);
    this.#background(taken.pod.key, this.#makeRoom(taken, pod, preemption, message));
    return message;
  }

  async #makeRoom(taken: Taken, pod: Projected<Pod>, preemption: Preemption, message: string): Promise<void> {
    if (preemption.kind === 'victims') await this.#evict(taken, pod, preemption);
    const isHopeless = preemption.kind === 'none' && !preemption.keepsNomination;
    if (isHopeless) this.#leftToOthers(this.#decider.unnominate(taken.pod.key));
    const givesUp = isHopeless ? [pod.status?.nominatedNodeName] : [];
    await this.#pods.explain(pod, { reason: 'Unschedulable', message, givesUp }, this.#signal);
  }

  async #evict(taken: Taken, pod: Projected<Pod>, victims: Victims): Promise<void> {
    let isNominated = false;
    try {
      isNominated = await this.#evictions.evict(pod, victims, this.#decider.nominated);
    } catch (error) {
      this.#signal.throwIfAborted();
      this.#report(taken.pod.key, error);
      // Nobody may be leaving, so that no event would come.
      this.#queue.retry(taken);
    }
    if (isNominated) return;
    this.#decider.unnominate(taken.pod.key);
    this.#leftToOthers(victims.node);
  }

  #fail(taken: Taken, pod: Pod, message: string): string {
    this.#queue.failed(taken);
    this.#teller.failedScheduling(pod, message);
    this.#background(
      taken.pod.key,
      this.#pods.explain(pod, { reason: 'SchedulerError', message }, this.#signal),
    );
    return message;
  }

  /** Runs beside everything else, and is awaited at the end. */
  #background(key: string, work: Promise<void>): void {
    const safe = work
      .catch((error) => {
        if (!this.#signal.aborted) this.#report(key, error);
      })
      .finally(() => this.#work.delete(safe));
    this.#work.add(safe);
  }

  #report(key: string, error: unknown): void {
    this.#context.report({ controller: name, key, error });
  }
}

type Victims = Extract<Preemption, { kind: 'victims' }>;

const outcomes = { reserved: 'scheduled', refused: 'error' } as const;

function budgetsOf({ informers }: ControllerContext): Budget[] {
  return [...informers.of(podDisruptionBudgets).values()].flatMap((budget) => readBudget(budget) ?? []);
}
