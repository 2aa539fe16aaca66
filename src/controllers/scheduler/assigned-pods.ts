import { Flight, type Flights } from '../../bind/flight.ts';
import type { PodBinder } from '../../bind/pod-binder.ts';
import type { Projected } from '../../cluster/cluster.ts';
import type { Change } from '../../engine/cluster-index/change.ts';
import type { Ledger, Reservation } from '../../engine/ledger/ledger.ts';
import { volumeMadeFor } from '../../engine/ledger/progress.ts';
import { plan } from '../../engine/plan.ts';
import type { ClaimRecord } from '../../engine/records/claim-record.ts';
import type { PodRecord } from '../../engine/records/pod-record.ts';
import { volumeRules } from '../../engine/rules/volume-rules.ts';
import type { Waker } from '../../engine/waker.ts';
import type { Pod } from '../../kube/api/core.ts';
import { annotations } from '../../kube/well-known.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import { runLoop } from '../../reconcile/run-loop.ts';
import { WorkQueue } from '../../reconcile/work-queue.ts';
import { messageOf } from '../../runtime/error-message.ts';
import type { ClusterFeed } from '../../state/cluster-feed.ts';
import type { Teller } from './telling.ts';

export interface AssignedPodsOptions {
  readonly context: ControllerContext;
  readonly feed: ClusterFeed;
  readonly ledger: Ledger;
  readonly flights: Flights;
  readonly binder: PodBinder;
  readonly teller: Teller;
  /** Whether the scheduler looks after the pod. */
  readonly isOurs: (pod: Pod) => boolean;
  /** Ends a reservation, and wakes those that it kept waiting. */
  readonly giveBack: (reservation: Reservation) => void;
}

const workers = 4;
/** For as long as it takes a provisioner to come round; a pod with a node has nowhere else to go. */
const retryMs = 10_000;
/** What a pod that is gone had reserved is given back by then. */
const otherPodMs = 1_000;

/**
 * Pods that were created with a node. They never queue, so nobody would bind claims that wait for the scheduler: their owner hears
 * about it. Pods that ask for it (`stowage.dev/bind-claims`) have their claims bound for that node.
 */
export class AssignedPods {
  readonly #options: AssignedPodsOptions;
  readonly #queue: WorkQueue;
  /** By uid: once is enough. */
  readonly #told = new Set<string>();
  /** By key, what those wait for whose node can't give them their volumes now. */
  readonly #waiting = new Map<string, Waker>();
  /** Bindings under way. They take as long as a provisioner does, so no worker waits for one. */
  readonly #work = new Set<Promise<void>>();

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
    await Promise.all(this.#work);
  }

  changed(change: Change): void {
    if (change.kind === 'Pod') this.#podChanged(change);
    if (change.kind === 'PersistentVolumeClaim' && change.after?.isBound === false) {
      // It may have come after its pod.
      for (const pod of this.#options.feed.index.pods.usingClaim(change.after.key)) this.#look(pod);
    }
    for (const [key, waker] of this.#waiting) {
      if (!waker.wokenBy(change)) continue;
      this.#waiting.delete(key);
      this.#queue.add(key);
    }
  }

  #podChanged({ before, after }: Extract<Change, { kind: 'Pod' }>): void {
    if (before !== undefined && before.uid !== after?.uid) {
      this.#told.delete(before.uid);
      this.#waiting.delete(before.key);
    }
    if (after !== undefined) this.#look(after);
  }

  #look({ key, nodeName, claims }: PodRecord): void {
    if (nodeName !== '' && claims.length > 0) this.#queue.add(key);
  }

  #reconcile(key: string, signal: AbortSignal): { readonly afterMs: number } | undefined {
    const { feed, isOurs, teller, flights, ledger } = this.#options;
    this.#waiting.delete(key);
    const pod = feed.get('Pod', key);
    const record = feed.index.pods.stored(key);
    if (pod === undefined || record === undefined || record.nodeName === '') return undefined;
    if (record.isFinished || record.isDeleting) return undefined;
    if (!isOurs(pod)) return undefined;
    // A pod that is being bound right now has its claims looked after. Another of its name is waited for: it is on its way out.
    const held = flights.get(key)?.reservation ?? ledger.get(key);
    if (held !== undefined)
      return held.placement.pod.uid === record.uid ? undefined : { afterMs: otherPodMs };
    const waiting = this.#waitingClaims(record).map((claim) => claim.key);
    if (waiting.length === 0) return undefined;
    if (pod.metadata?.annotations?.[annotations.bindClaims] === 'true')
      return this.#bindClaims(pod, record, signal);
    if (!this.#told.has(record.uid)) teller.claimsWait(pod, waiting);
    this.#told.add(record.uid);
    return undefined;
  }

  #waitingClaims({ claims }: PodRecord): readonly ClaimRecord[] {
    const { index } = this.#options.feed;
    // Then no claim waits for us.
    if (!index.bindsVolumes) return [];
    return (
      claims
        .flatMap(({ key }) => index.claims.get(key) ?? [])
        .filter((claim) => !claim.isBound && index.classes.get(claim.className)?.isDelayed === true)
        // Of these the pod may have been given its node already, by a scheduler before us.
        .filter((claim) => volumeMadeFor(index, claim) === undefined)
    );
  }

  #bindClaims(pod: Projected<Pod>, { key, nodeName }: PodRecord, signal: AbortSignal) {
    const { feed, ledger, teller, context } = this.#options;
    const nowMs = context.clock.nowMs();
    const answer = plan(pod, feed.index, { nowMs, rules: volumeRules, onlyNodes: [nodeName] });
    if (answer.kind === 'refusal') {
      teller.failedScheduling(pod, answer.message);
      this.#waiting.set(key, answer.waker);
      const { retryAtMs } = answer.waker;
      return retryAtMs === undefined ? undefined : { afterMs: Math.max(retryAtMs - nowMs, retryMs) };
    }
    const reserved = ledger.reserve(answer);
    if (reserved.kind !== 'reserved') return { afterMs: retryMs };
    const flying = this.#fly(new Flight(pod, reserved.reservation), signal);
    this.#work.add(flying);
    void flying.finally(() => this.#work.delete(flying));
    return undefined;
  }

  /** Never rejects: what goes wrong is told, and tried again. */
  async #fly(flight: Flight, signal: AbortSignal): Promise<void> {
    const { flights, binder, teller, giveBack } = this.#options;
    flights.add(flight);
    try {
      await binder.carryOut(flight, signal);
    } catch (error) {
      if (signal.aborted) return;
      teller.failedScheduling(flight.pod, messageOf(error));
      this.#queue.addAfter(flight.reservation.podKey, retryMs);
    } finally {
      flights.delete(flight);
      // What was written holds by itself; the pod has been on its node all along.
      giveBack(flight.reservation);
    }
  }
}
