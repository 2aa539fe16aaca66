import { BindFailure } from '../../bind/bind-failure.ts';
import type { BindingSession } from '../../bind/binding-session.ts';
import type { Projected } from '../../cluster/cluster.ts';
import type { Reservation } from '../../engine/ledger/ledger.ts';
import type { Placement } from '../../engine/plan.ts';
import { needsNode } from '../../engine/records/pending-pod.ts';
import type { Pod } from '../../kube/api/core.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import type { ClusterFeed } from '../../state/cluster-feed.ts';
import type { Decider } from './decider.ts';
import { logBinding } from './decision-log.ts';
import type { SchedulingAttempt } from './queue/queued-pod.ts';
import type { SchedulingQueue } from './queue/scheduling-queue.ts';
import type { SchedulerEvents } from './scheduler-events.ts';
import type { SchedulerMetrics } from './scheduler-metrics.ts';
import { isPinnedTo } from './volume-pins.ts';

export interface BindingTasksOptions {
  readonly context: ControllerContext;
  readonly feed: ClusterFeed;
  readonly session: BindingSession;
  readonly decider: Decider;
  readonly queue: SchedulingQueue;
  readonly events: SchedulerEvents;
  readonly metrics: SchedulerMetrics;
  readonly signal: AbortSignal;
}

/** Binds placements while the scheduler decides on the next pods. If a binding fails, its pod is queued again. */
export class BindingTasks {
  readonly #options: BindingTasksOptions;

  constructor(options: BindingTasksOptions) {
    this.#options = options;
  }

  /** Resolves when the pod is bound, or queued again. Never rejects because of a failed binding. */
  async start(attempt: SchedulingAttempt, pod: Projected<Pod>, reservation: Reservation): Promise<void> {
    const { context, session, signal } = this.#options;
    const { clock, log } = context;
    const { node } = reservation.placement;
    const startMs = clock.monotonicMs();
    let pending: PendingAfterFailure | undefined;
    const beforeRevert = (failure: unknown) => {
      pending = this.#nominateIfConstrained(attempt, reservation.placement, failure);
    };
    try {
      await session.bind(pod, reservation, { extent: 'volumes and pod', beforeRevert }, signal);
      this.#succeeded(attempt, pod, node, clock.monotonicMs() - startMs);
    } catch (error) {
      if (signal.aborted) return;
      logBinding(log, attempt, node, clock.monotonicMs() - startMs, error);
      if (pending === undefined) return;
      const failure = error instanceof BindFailure ? error : new BindFailure(String(error));
      await this.#failed(attempt, pod, pending, failure);
    }
  }

  #succeeded(attempt: SchedulingAttempt, pod: Pod, node: string, bindMs: number): void {
    const { context, metrics, events } = this.#options;
    metrics.bound(attempt, { bindMs, podMs: context.clock.monotonicMs() - attempt.queuedMs });
    logBinding(context.log, attempt, node, bindMs);
    events.scheduled(pod, node);
  }

  /**
   * Undefined if the pod no longer needs a node. Runs before the reservation is reverted: a pod that can run on no other node must not
   * lose its capacity there to another pod in the meantime.
   */
  #nominateIfConstrained(
    { pod }: SchedulingAttempt,
    { node }: Placement,
    failure: unknown,
  ): PendingAfterFailure | undefined {
    const { feed, decider } = this.#options;
    const stored = feed.index.pods.stored(pod.key);
    if (stored?.uid !== pod.uid || !needsNode(stored)) return undefined;
    // The index may be behind: the server has said that a volume stays bound.
    const keepsVolume = failure instanceof BindFailure && failure.keptBindings.length > 0;
    const isConstrained = keepsVolume || isPinnedTo(feed.index, stored, node);
    if (isConstrained) decider.nominate(stored, node);
    return { node, isConstrained };
  }

  async #failed(
    attempt: SchedulingAttempt,
    pod: Pod,
    { node, isConstrained }: PendingAfterFailure,
    { provision, keptBindings, message }: BindFailure,
  ): Promise<void> {
    const { context, session, events, queue, signal } = this.#options;
    if (keptBindings.length > 0) events.bindingsKept(pod, keptBindings);
    events.failedScheduling(pod, message);
    const nomination = isConstrained
      ? { keepsNomination: node }
      : { clearsNominations: [node, pod.status?.nominatedNodeName] };
    await session.podWrites
      .reportNotScheduled(pod, { reason: 'SchedulerError', message, ...nomination }, signal)
      .catch((error) => context.report({ controller: 'scheduler', key: attempt.pod.key, error }));
    // A volume that could not be provisioned is a refusal like any other; every other failure is an error.
    queue.requeue(attempt, provision === undefined ? 'error' : 'refusal');
  }
}

/** A pod that still needs a node after its binding failed. */
interface PendingAfterFailure {
  readonly node: string;
  /** Its volumes leave it no other node. */
  readonly isConstrained: boolean;
}
