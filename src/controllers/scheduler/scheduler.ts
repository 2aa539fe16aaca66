import { BindingSession } from '../../bind/binding-session.ts';
import type { Projected } from '../../cluster/cluster.ts';
import type { ClusterChange } from '../../engine/cluster-index/cluster-change.ts';
import { type Profile, stowageProfile } from '../../engine/cluster-index/profile.ts';
import type { Reservation } from '../../engine/ledger/ledger.ts';
import { type DisruptionBudget, readDisruptionBudget } from '../../engine/preemption/disruption-budget.ts';
import type { Preemption } from '../../engine/preemption/find-victims.ts';
import { needsNode } from '../../engine/records/pending-pod.ts';
import type { PodRecord } from '../../engine/records/pod-record.ts';
import { defaultRules } from '../../engine/rules/default-rules.ts';
import type { AnyRule } from '../../engine/rules/framework/rule.ts';
import type { Pod } from '../../kube/api/core.ts';
import { podDisruptionBudgets } from '../../kube/resources.ts';
import type { Controller, ControllerContext } from '../../reconcile/controller.ts';
import { schedulerName, schedulerNamesDefault } from '../../reconcile/leases/scheduler-names.ts';
import { messageOf } from '../../runtime/error-message.ts';
import type { DoublingDelay } from '../../runtime/keyed-back-off.ts';
import { nextTurn } from '../../runtime/next-turn.ts';
import { ClusterFeed } from '../../state/cluster-feed.ts';
import { decisionKinds } from '../../state/decision-kinds.ts';
import { AssignedPods } from './assigned-pods.ts';
import { BackgroundTasks } from './background-tasks.ts';
import { BindingTasks } from './binding-tasks.ts';
import { Decider, type RefusedDecision, type SchedulingDecision } from './decider.ts';
import { logDecision } from './decision-log.ts';
import { PreemptionEvictions } from './evictions.ts';
import { affectsOtherPods, changesRequirements, isScheduledBy, toQueuedPod } from './pending-pods.ts';
import type { SchedulingAttempt } from './queue/queued-pod.ts';
import { SchedulingQueue } from './queue/scheduling-queue.ts';
import { conflictMessage, refusedMessage } from './refused-message.ts';
import { ClaimRollback } from './rollback.ts';
import { SchedulerEvents } from './scheduler-events.ts';
import { SchedulerMetrics } from './scheduler-metrics.ts';
import { PvBinderSkew } from './skew.ts';
import { volumeConstraints } from './volume-constraints.ts';
import { isPinned } from './volume-pins.ts';

export interface SchedulerControllerSettings {
  /** `spec.schedulerName` of the pods that it places. Default: `stowage`. */
  readonly schedulerNames?: readonly string[] | undefined;
  readonly profile?: Profile | undefined;
  /** Default: all rules. */
  readonly rules?: readonly AnyRule[] | undefined;
  /** The feature gate of that name: claims that wait for their first consumer are bound with the pod. Default: true. */
  readonly volumeScheduling?: boolean | undefined;
  /** The scheduler's own version, which is compared with the PV binder's. */
  readonly version?: string | undefined;
  /** How long provisioners and the PV controller may take to create and bind a pod's volumes. */
  readonly bindTimeoutMs?: number | undefined;
  /** Back-off of pods that were refused, or whose binding failed. */
  readonly backOff?: DoublingDelay | undefined;
}

/** The most bindings in flight; further pods stay in the queue. */
const inFlightMax = 5_000;
/** After deciding for this long, the scheduler yields to the rest of the process. */
const turnMs = 5;
/** How often the index settles promises that end because time has passed. */
const settleEveryMs = 30_000;

export function schedulerController(settings: SchedulerControllerSettings = {}): Controller {
  return { name: schedulerName, run: (context, signal) => new Scheduler(context, settings, signal).run() };
}

/**
 * Places pods and their volumes together. The path of one pod:
 *
 * 1. An event adds it to the queue (`#changed`); `#schedule` takes it out in its turn.
 * 2. `#decide` plans it on the live index and reserves what the plan takes, without awaiting in between: what was true for the plan
 *    is true for the reservation.
 * 3. `BindingTasks` binds the placement while the scheduler decides on the next pods. If the binding fails, the session reverts the
 *    reservation and the pod is queued again.
 * 4. A pod that fits no node waits for the changes that, according to the rules that refused it, could help (`#refuse`).
 *
 * It may crash at any moment: before the first decision, the index rebuilds reservations from claimRefs and selected nodes.
 */
class Scheduler {
  readonly #context: ControllerContext;
  readonly #signal: AbortSignal;
  readonly #names: readonly string[];
  readonly #feed: ClusterFeed;
  readonly #session: BindingSession;
  readonly #decider: Decider;
  readonly #queue: SchedulingQueue;
  readonly #events: SchedulerEvents;
  readonly #metrics: SchedulerMetrics;
  readonly #background: BackgroundTasks;
  readonly #bindings: BindingTasks;
  readonly #rollback: ClaimRollback;
  readonly #evictions: PreemptionEvictions;
  readonly #assigned: AssignedPods;
  readonly #skew: PvBinderSkew;

  constructor(context: ControllerContext, options: SchedulerControllerSettings, signal: AbortSignal) {
    const { clock, informers } = context;
    const { backOff, profile = stowageProfile, rules = defaultRules } = options;
    this.#context = context;
    this.#signal = signal;
    this.#names = options.schedulerNames ?? schedulerNamesDefault;
    const onChange = (change: ClusterChange) => this.#changed(change);
    const feed = new ClusterFeed({ informers, kinds: decisionKinds, profile, onChange });
    feed.index.bindsVolumes = options.volumeScheduling ?? true;
    const events = new SchedulerEvents(context.events);
    const session = this.#createSession(feed, events, options.bindTimeoutMs);
    this.#feed = feed;
    this.#session = session;
    this.#decider = new Decider(feed.index, rules, () => disruptionBudgets(context));
    this.#queue = new SchedulingQueue(clock, backOff && { backOff });
    this.#events = events;
    this.#metrics = new SchedulerMetrics(context.metrics);
    this.#background = new BackgroundTasks(context, signal);
    const shared = { context, feed, session, events: this.#events, background: this.#background, signal };
    this.#bindings = new BindingTasks({
      ...shared,
      decider: this.#decider,
      queue: this.#queue,
      metrics: this.#metrics,
    });
    this.#rollback = new ClaimRollback(shared);
    this.#evictions = new PreemptionEvictions(shared);
    this.#assigned = new AssignedPods({ ...shared, schedulerNames: this.#names });
    this.#skew = this.#createSkew(options.version ?? '');
  }

  #createSession(feed: ClusterFeed, events: SchedulerEvents, bindTimeoutMs?: number): BindingSession {
    const { cluster, clock } = this.#context;
    const onReverted = (_: Reservation, released: readonly ClusterChange[]) =>
      released.forEach(this.#released, this);
    const onSlowProvisioning = events.waitingForProvisioner.bind(events);
    return new BindingSession({ cluster, feed, clock, bindTimeoutMs, onReverted, onSlowProvisioning });
  }

  #createSkew(ownVersion: string): PvBinderSkew {
    return new PvBinderSkew({
      ...this.#context,
      ownGates: { VolumeScheduling: this.#feed.index.bindsVolumes },
      ownVersion,
      onChange: ({ bindsVolumes }) => this.#bindVolumes(bindsVolumes),
      signal: this.#signal,
    });
  }

  async run(): Promise<void> {
    const stop = this.#feed.start();
    const stopCounting = this.#context.metrics.beforeRender(() => this.#count());
    const budgets = this.#context.informers.of(podDisruptionBudgets);
    try {
      const synced = await Promise.all([this.#feed.synced(this.#signal), budgets.synced(this.#signal)]);
      if (!synced.every(Boolean)) return;
      this.#queue.moveToFront(this.#pinnedPods());
      this.#rollback.resume();
      this.#background.start('promises', this.#settlePromises());
      this.#background.start('assigned pods', this.#assigned.run(this.#signal));
      this.#background.start('skew', this.#skew.run());
      await this.#schedule();
    } finally {
      stop();
      stopCounting();
      this.#queue.close();
      await this.#background.settled();
    }
  }

  /**
   * Pending pods that an earlier leader may have been binding: a volume of theirs is bound or reserved, or is being created, and only some
   * nodes reach it. That leader had reserved a place for them there, in its memory. They are decided before other pods of their priority,
   * so that no other takes that place: Kubernetes cannot unbind the volume again. Nothing had to be written for that before the volume was
   * bound: the volume and its claim say it, whenever the earlier leader ended. Among equal priorities Kubernetes promises no order after a
   * restart. (kube-scheduler writes the nominated node of a pod before it binds its volumes, KEP-5278: one more write for each of them.)
   */
  *#pinnedPods(): Iterable<string> {
    const { index } = this.#feed;
    for (const record of index.pods.records())
      if (needsNode(record) && isPinned(index, record)) yield record.key;
  }

  // ── Changes ──

  #changed(change: ClusterChange): void {
    const vacated = this.#decider.observe(change);
    if (change.kind === 'Pod') this.#podChanged(change);
    this.#assigned.observe(change);
    this.#session.observe(change);
    if (change.kind !== 'Pod' || affectsOtherPods(change.before, change.after)) this.#queue.observe(change);
    this.#nodeVacated(vacated);
    this.#drainReleases();
  }

  #podChanged({ before, after }: Extract<ClusterChange, { kind: 'Pod' }>): void {
    const key = (after ?? before)!.key;
    const pod = this.#feed.get('Pod', key);
    if (after === undefined || pod === undefined || !needsNode(after)) this.#queue.remove(key);
    else if (isScheduledBy(pod, this.#names)) {
      const mayHelp = before === undefined || before.uid !== after.uid || changesRequirements(before, after);
      this.#queue.addOrUpdate(toQueuedPod(after, pod), { mayHelp });
    }
  }

  #released(change: ClusterChange): void {
    this.#decider.observe(change);
    this.#queue.observe(change);
    this.#assigned.observe(change);
  }

  /** No pod is nominated to the node any longer: pods that were refused there for that reason may fit now. */
  #nodeVacated(nodeName: string | undefined): void {
    if (nodeName !== undefined) this.#released({ kind: 'Release', volumes: [], pools: [], nodeName });
  }

  /** Capacity of pools may have become free by any event, by any plan, or because time has passed. */
  #drainReleases(): void {
    const released = this.#feed.index.drainReleases();
    if (released !== undefined) this.#released(released);
  }

  /** The PV controller now does, or no longer does, leave delayed claims to the scheduler: every refusal may be out of date. */
  #bindVolumes(bindsVolumes: boolean): void {
    const { index } = this.#feed;
    if (index.bindsVolumes === bindsVolumes) return;
    index.bindsVolumes = bindsVolumes;
    this.#decider.forgetRefusals();
    for (const record of index.pods.records()) {
      const pod = this.#feed.get('Pod', record.key);
      if (pod !== undefined && needsNode(record) && isScheduledBy(pod, this.#names))
        this.#queue.addOrUpdate(toQueuedPod(record, pod));
    }
  }

  async #settlePromises(): Promise<void> {
    const { clock } = this.#context;
    while (!this.#signal.aborted) {
      await clock.sleep(settleEveryMs, this.#signal);
      this.#feed.index.settle(clock.nowMs());
      this.#drainReleases();
    }
  }

  #count(): void {
    const { promises, pools } = this.#feed.index;
    this.#metrics.poolsWithoutPublisher(pools.expiry.countWithoutPublisher(this.#context.clock.nowMs()));
    this.#metrics.counts(this.#queue.counts, this.#session.inFlightCount);
    this.#metrics.reserved(this.#session.reservations(), promises.all());
  }

  // ── Deciding ──

  async #schedule(): Promise<void> {
    const { clock } = this.#context;
    let busyMs = 0;
    for (;;) {
      while (this.#session.inFlightCount >= inFlightMax) await this.#session.nextEnd();
      const attempt = await this.#queue.take(this.#signal);
      if (attempt === undefined) return;
      const startMs = clock.monotonicMs();
      this.#decide(attempt);
      busyMs += clock.monotonicMs() - startMs;
      if (busyMs < turnMs) continue;
      await nextTurn();
      busyMs = 0;
    }
  }

  #decide(attempt: SchedulingAttempt): void {
    const startMs = this.#context.clock.monotonicMs();
    this.#queue.startDeciding(attempt);
    const pod = this.#feed.get('Pod', attempt.pod.key);
    const record = this.#feed.index.pods.stored(attempt.pod.key);
    if (pod === undefined || record?.uid !== attempt.pod.uid || !needsNode(record)) {
      this.#queue.done(attempt);
      return;
    }
    const decision = this.#decisionFor(attempt, pod, record);
    this.#drainReleases();
    if (decision === undefined) return;
    const reserved = decision.kind === 'refused' ? undefined : this.#session.reserve(decision);
    let message = '';
    if (decision.kind === 'refused') message = this.#refuse(attempt, pod, decision);
    else if (reserved?.kind === 'reserved') this.#bind(attempt, pod, reserved.reservation);
    else message = this.#fail(attempt, pod, conflictMessage(reserved?.conflicts ?? []));
    const result = reserved === undefined ? 'unschedulable' : outcomes[reserved.kind];
    const seconds = (this.#context.clock.monotonicMs() - startMs) / 1000;
    this.#metrics.decided(result, seconds);
    const node = decision.kind === 'refused' ? undefined : decision.node;
    logDecision(this.#context.log, attempt, { result, node, message, seconds });
  }

  /** Undefined if a rule has thrown. That must not stop the scheduling of other pods. */
  #decisionFor(
    attempt: SchedulingAttempt,
    pod: Projected<Pod>,
    record: PodRecord,
  ): SchedulingDecision | undefined {
    try {
      return this.#decider.decide(pod, record, this.#context.clock.nowMs());
    } catch (error) {
      this.#background.report(attempt.pod.key, error);
      const message = this.#fail(attempt, pod, messageOf(error));
      this.#metrics.decided('error', 0);
      logDecision(this.#context.log, attempt, { result: 'error', node: undefined, message, seconds: 0 });
      return undefined;
    }
  }

  #bind(attempt: SchedulingAttempt, pod: Projected<Pod>, reservation: Reservation): void {
    this.#decider.reserved(reservation.placement);
    this.#queue.done(attempt);
    this.#background.start(attempt.pod.key, this.#bindings.start(attempt, pod, reservation));
  }

  /** No node fits. The pod waits for changes that could help, and the scheduler evicts other pods if that helps. */
  #refuse(attempt: SchedulingAttempt, pod: Projected<Pod>, { refusal, preemption }: RefusedDecision): string {
    this.#metrics.refused(refusal.reasons.keys());
    this.#rollback.rollBackClaimsOf(refusal.pod);
    this.#queue.refused(attempt, refusal.waker);
    if (isNominationLost(preemption)) this.#loseNomination(attempt.pod.key);
    const message = refusedMessage(refusal, preemption);
    this.#events.failedScheduling(pod, message);
    const constraints = volumeConstraints(refusal, this.#feed.index);
    if (constraints.length > 0) this.#events.constrainedByVolumes(pod, constraints);
    this.#background.start(attempt.pod.key, this.#preempt(attempt, pod, preemption, message));
    return message;
  }

  /** Before it is written: no pod that is decided next leaves the place free for this one, and pods that wait for the place are woken. */
  #loseNomination(podKey: string): void {
    const record = this.#feed.index.pods.stored(podKey);
    const change = record && this.#decider.loseNomination(record);
    if (change === undefined) return;
    this.#queue.observe(change);
    this.#assigned.observe(change);
  }

  async #preempt(
    attempt: SchedulingAttempt,
    pod: Projected<Pod>,
    preemption: Preemption,
    message: string,
  ): Promise<void> {
    if (preemption.kind === 'victims') await this.#evict(attempt, pod, preemption);
    const losesNomination = isNominationLost(preemption);
    const clearsNominations = losesNomination ? [pod.status?.nominatedNodeName] : [];
    const report = { reason: 'Unschedulable', message, clearsNominations } as const;
    try {
      await this.#session.podWrites.reportNotScheduled(pod, report, this.#signal);
    } catch (error) {
      // The nomination is still written, so the node counts as taken again: the next attempt removes it, and no event would cause one.
      if (losesNomination) {
        this.#decider.unnominate(attempt.pod.key);
        this.#queue.retry(attempt);
      }
      throw error;
    }
  }

  async #evict(attempt: SchedulingAttempt, pod: Projected<Pod>, victims: Victims): Promise<void> {
    let isNominated = false;
    try {
      isNominated = await this.#evictions.evict(pod, victims, this.#decider.nominated);
    } catch (error) {
      this.#signal.throwIfAborted();
      this.#background.report(attempt.pod.key, error);
    }
    if (isNominated) return;
    // Perhaps no victim is being deleted; then no event would wake the pod. And if the pod no longer exists, which the cache does not show yet, what it leaves
    // behind must not wake the pod itself: an idle scheduler would try it again immediately, and again.
    this.#queue.retry(attempt);
    this.#decider.unnominate(attempt.pod.key);
    this.#nodeVacated(victims.node);
  }

  #fail(attempt: SchedulingAttempt, pod: Pod, message: string): string {
    this.#queue.failed(attempt);
    this.#events.failedScheduling(pod, message);
    this.#background.start(
      attempt.pod.key,
      this.#session.podWrites.reportNotScheduled(pod, { reason: 'SchedulerError', message }, this.#signal),
    );
    return message;
  }
}

type Victims = Extract<Preemption, { kind: 'victims' }>;

function isNominationLost(preemption: Preemption): boolean {
  return preemption.kind === 'none' && !preemption.keepsNomination;
}

const outcomes = { reserved: 'scheduled', refused: 'error' } as const;

function disruptionBudgets({ informers }: ControllerContext): DisruptionBudget[] {
  return [...informers.of(podDisruptionBudgets).values()].flatMap(
    (budget) => readDisruptionBudget(budget) ?? [],
  );
}
