import type { BindingSession } from '../../bind/binding-session.ts';
import type { Projected } from '../../cluster/cluster.ts';
import type { ClusterChange } from '../../engine/cluster-index/cluster-change.ts';
import { provisionedVolumeFor } from '../../engine/ledger/binding-progress.ts';
import type { Reservation } from '../../engine/ledger/ledger.ts';
import { plan } from '../../engine/plan.ts';
import type { ClaimRecord } from '../../engine/records/claim-record.ts';
import type { PodRecord } from '../../engine/records/pod-record.ts';
import { volumeRules } from '../../engine/rules/volume-rules.ts';
import type { Waker } from '../../engine/waking/waker.ts';
import type { Pod } from '../../kube/api/core.ts';
import { annotations } from '../../kube/well-known.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import { runLoop } from '../../reconcile/run-loop.ts';
import { WorkQueue } from '../../reconcile/work-queue.ts';
import { messageOf } from '../../runtime/error-message.ts';
import type { ClusterFeed } from '../../state/cluster-feed.ts';
import { isScheduledBy } from './pending-pods.ts';
import type { SchedulerEvents } from './scheduler-events.ts';

export interface AssignedPodsOptions {
  readonly context: ControllerContext;
  readonly feed: ClusterFeed;
  readonly session: BindingSession;
  readonly events: SchedulerEvents;
  /** `spec.schedulerName` of the pods that the scheduler is responsible for. */
  readonly schedulerNames: readonly string[];
}

const workers = 4;
/** A pod that has a node can go nowhere else, so the scheduler retries until the provisioner succeeds. */
const retryMs = 10_000;
/** When to look again while a deleted pod of the same name still has its reservation. */
const otherPodMs = 1_000;

/**
 * Pods that were created with a node. They are never queued, so claims of theirs that wait for the scheduler would stay unbound: an
 * event says so. For pods with the annotation `stowage.dev/bind-claims` the scheduler binds the claims on that node.
 */
export class AssignedPods {
  readonly #options: AssignedPodsOptions;
  readonly #queue: WorkQueue;
  /** Uids of pods that have had their event. */
  readonly #reported = new Set<string>();
  /** Decides when to retry a pod whose node cannot provide its volumes now. Key: that of the pod. */
  readonly #waiting = new Map<string, Waker>();
  /** Bindings in flight. They take as long as a provisioner does, so no worker of the queue waits for one. */
  readonly #running = new Set<Promise<void>>();

  constructor(options: AssignedPodsOptions) {
    this.#options = options;
    this.#queue = new WorkQueue(options.context);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { context } = this.#options;
    const reconcile = async (key: string) => this.#reconcile(key, signal);
    await runLoop(
      context,
      { controller: 'scheduler', caches: [], listen: () => [], queue: this.#queue, reconcile, workers },
      signal,
    );
    await Promise.all(this.#running);
  }

  observe(change: ClusterChange): void {
    if (change.kind === 'Pod') this.#podChanged(change);
    if (change.kind === 'PersistentVolumeClaim' && change.after?.isBound === false) {
      // The claim may have been created after its pod.
      for (const pod of this.#options.feed.index.pods.usingClaim(change.after.key)) this.#enqueue(pod);
    }
    for (const [key, waker] of this.#waiting) {
      if (!waker.wokenBy(change)) continue;
      this.#waiting.delete(key);
      this.#queue.add(key);
    }
  }

  #podChanged({ before, after }: Extract<ClusterChange, { kind: 'Pod' }>): void {
    if (before !== undefined && before.uid !== after?.uid) {
      this.#reported.delete(before.uid);
      this.#waiting.delete(before.key);
    }
    if (after !== undefined) this.#enqueue(after);
  }

  #enqueue({ key, nodeName, claims }: PodRecord): void {
    if (nodeName !== '' && claims.length > 0) this.#queue.add(key);
  }

  #reconcile(key: string, signal: AbortSignal): { readonly afterMs: number } | undefined {
    const { feed, schedulerNames, events, session } = this.#options;
    this.#waiting.delete(key);
    const pod = feed.get('Pod', key);
    const record = feed.index.pods.stored(key);
    if (pod === undefined || record === undefined || record.nodeName === '') return undefined;
    if (record.isFinished || record.isDeleting) return undefined;
    if (!isScheduledBy(pod, schedulerNames)) return undefined;
    // Either this pod is being bound, or a deleted pod of the same name still is.
    const reservation = session.reservationOf(key);
    if (reservation !== undefined)
      return reservation.placement.pod.uid === record.uid ? undefined : { afterMs: otherPodMs };
    const waiting = this.#waitingClaims(record).map((claim) => claim.key);
    if (waiting.length === 0) return undefined;
    if (pod.metadata?.annotations?.[annotations.bindClaims] === 'true')
      return this.#bindClaims(pod, record, signal);
    if (!this.#reported.has(record.uid)) events.claimsNotBound(pod, waiting);
    this.#reported.add(record.uid);
    return undefined;
  }

  #waitingClaims({ claims }: PodRecord): readonly ClaimRecord[] {
    const { index } = this.#options.feed;
    // If the scheduler does not bind volumes, no claim waits for it.
    if (!index.bindsVolumes) return [];
    return (
      claims
        .flatMap(({ key }) => index.claims.get(key) ?? [])
        .filter((claim) => !claim.isBound && index.classes.get(claim.className)?.isDelayed === true)
        // An earlier scheduler may have bound the pod after its volume was provisioned.
        .filter((claim) => provisionedVolumeFor(index, claim) === undefined)
    );
  }

  #bindClaims(pod: Projected<Pod>, { key, nodeName }: PodRecord, signal: AbortSignal) {
    const { feed, session, events, context } = this.#options;
    const nowMs = context.clock.nowMs();
    const answer = plan(pod, feed.index, { nowMs, rules: volumeRules, onlyNodes: [nodeName] });
    if (answer.kind === 'refusal') {
      events.failedScheduling(pod, answer.message);
      this.#waiting.set(key, answer.waker);
      const { retryAtMs } = answer.waker;
      return retryAtMs === undefined ? undefined : { afterMs: Math.max(retryAtMs - nowMs, retryMs) };
    }
    const reserved = session.reserve(answer);
    if (reserved.kind !== 'reserved') return { afterMs: retryMs };
    const binding = this.#bind(pod, reserved.reservation, signal);
    this.#running.add(binding);
    void binding.finally(() => this.#running.delete(binding));
    return undefined;
  }

  /** Never rejects: a failure becomes an event and a retry. */
  async #bind(pod: Projected<Pod>, reservation: Reservation, signal: AbortSignal): Promise<void> {
    const { session, events } = this.#options;
    try {
      await session.bindAssigned(pod, reservation, signal);
    } catch (error) {
      if (signal.aborted) return;
      events.failedScheduling(pod, messageOf(error));
      this.#queue.addAfter(reservation.podKey, retryMs);
    }
  }
}
