import { avoidAfter, BindFailure } from '../../bind/bind-failure.ts';
import { Flight, type Flights } from '../../bind/flight.ts';
import type { PodBinder } from '../../bind/pod-binder.ts';
import type { PodWrites } from '../../bind/pod-writes.ts';
import type { Projected } from '../../cluster/cluster.ts';
import type { Reservation } from '../../engine/ledger/ledger.ts';
import type { PodRecord } from '../../engine/records/pod-record.ts';
import type { Pod } from '../../kube/api/core.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import type { ClusterFeed } from '../../state/cluster-feed.ts';
import { logBinding } from './decision-log.ts';
import { wantsNode } from './pods-to-place.ts';
import type { Taken } from './queue/queued-pod.ts';
import type { SchedulingQueue } from './queue/scheduling-queue.ts';
import type { SchedulerMetrics } from './scheduler-metrics.ts';
import type { Teller } from './telling.ts';

export interface DeparturesOptions {
  readonly context: ControllerContext;
  readonly feed: ClusterFeed;
  readonly flights: Flights;
  readonly binder: PodBinder;
  readonly pods: PodWrites;
  readonly queue: SchedulingQueue;
  readonly teller: Teller;
  readonly metrics: SchedulerMetrics;
  /** The pod is there, or gone: its reservation may have become superfluous. */
  readonly confirm: (podKey: string) => void;
  /** From now on the pod waits for this node, to everybody who decides. */
  readonly nominate: (pod: PodRecord, nodeName: string) => void;
  /** Ends a reservation, and wakes those that it kept waiting. */
  readonly giveBack: (reservation: Reservation) => void;
  readonly signal: AbortSignal;
}

/** Has placements carried out beside the next decisions. Whatever fails is given back, and its pod queues again. */
export class Departures {
  readonly #options: DeparturesOptions;

  constructor(options: DeparturesOptions) {
    this.#options = options;
  }

  /** Resolves when the pod has its node, or queues again. */
  async depart(taken: Taken, pod: Projected<Pod>, reservation: Reservation): Promise<void> {
    const { context, flights, binder, signal } = this.#options;
    const flight = new Flight(pod, reservation);
    const startMs = context.clock.monotonicMs();
    flights.add(flight);
    try {
      await binder.carryOut(flight, signal);
      flights.delete(flight);
      this.#arrived(taken, flight, context.clock.monotonicMs() - startMs);
    } catch (error) {
      flights.delete(flight);
      if (signal.aborted) return;
      logBinding(context.log, taken, flight.placement.node, context.clock.monotonicMs() - startMs, error);
      await this.#failed(
        taken,
        flight,
        error instanceof BindFailure ? error : new BindFailure(String(error)),
      );
    }
  }

  #arrived(taken: Taken, { pod, placement, reservation }: Flight, bindMs: number): void {
    const { context, metrics, teller, confirm } = this.#options;
    metrics.bound(taken, { bindMs, podMs: context.clock.monotonicMs() - taken.queuedMs });
    logBinding(context.log, taken, placement.node, bindMs);
    teller.scheduled(pod, placement.node);
    // The pod's own event may have come while it was still on its way; no other need follow.
    confirm(reservation.podKey);
  }

  /** What could be undone has been. */
  async #failed(taken: Taken, flight: Flight, failure: BindFailure): Promise<void> {
    const { provision, kept, message } = failure;
    const { context, feed, teller, pods, queue, nominate, giveBack, signal } = this.#options;
    const { key, uid } = taken.pod;
    const { node } = flight.placement;
    avoidAfter(failure, node, feed.index, context.clock.nowMs());
    const stored = feed.index.pods.stored(key);
    const isWaiting = stored?.uid === uid && wantsNode(stored);
    const isPinned = isWaiting && this.#isPinned(flight);
    // Before its room is given back: it can go nowhere else, so others must not take it meanwhile.
    if (isPinned) nominate(stored, node);
    giveBack(flight.reservation);
    if (!isWaiting) return;
    if (kept.length > 0) teller.volumesKept(flight.pod, kept);
    teller.failedScheduling(flight.pod, message);
    const givesUp = [node, flight.pod.status?.nominatedNodeName];
    const outlook = isPinned ? { waitsFor: node } : { givesUp };
    const said = { reason: 'SchedulerError', message, ...outlook } as const;
    await pods
      .explain(flight.pod, said, signal)
      .catch((error) => context.report({ controller: 'scheduler', key, error }));
    // A volume that could not be made is an answer like any other; everything else is trouble.
    queue.requeue(taken, provision === undefined ? 'error' : 'refusal');
  }

  /** A volume of its own is, or is being made, where it was to go: the next attempt has to end there too. */
  #isPinned({ placement: { node, bindings, provisions } }: Flight): boolean {
    const { claims } = this.#options.feed.index;
    return [...bindings, ...provisions].some(({ claim: key, claimUid }) => {
      const claim = claims.get(key);
      return claim?.uid === claimUid && (claim.isBound || claim.selectedNode === node);
    });
  }
}
