import type { Cluster, Projected } from '../cluster/cluster.ts';
import { type Assessment, assess } from '../engine/assess.ts';
import type { Change, Kind } from '../engine/cluster-index/change.ts';
import type { ClusterIndex } from '../engine/cluster-index/cluster-index.ts';
import { type Profile, stowageProfile } from '../engine/cluster-index/profile.ts';
import { Ledger, type Reservation, type ReserveResult } from '../engine/ledger/ledger.ts';
import type { Placement } from '../engine/plan.ts';
import type { AnyRule } from '../engine/rules/rule.ts';
import { volumeRules } from '../engine/rules/volume-rules.ts';
import type { Pod } from '../kube/api/core.ts';
import { SharedInformers } from '../reconcile/shared-informers.ts';
import { onAbort } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { Supervisor } from '../runtime/supervisor.ts';
import { ClusterFeed } from '../state/cluster-feed.ts';
import { decisionKinds, volumeKinds } from '../state/decision-kinds.ts';
import { avoidAfter, BindFailure } from './bind-failure.ts';
import { Confirmations } from './confirmations.ts';
import { Flight, Flights } from './flight.ts';
import { tellingMissingRight } from './missing-right.ts';
import { PodBinder } from './pod-binder.ts';
import { PodWrites } from './pod-writes.ts';
import { VolumeWrites } from './volume-writes.ts';

export interface BindingDeskOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly random: Random;
  /** Runs the informers; the desk ends with it. */
  readonly supervisor: Supervisor;
  /** Told what an informer met, and of a `MissingRight`; they go on. */
  readonly onTrouble: (error: unknown) => void;
  readonly profile?: Profile | undefined;
  /** What nodes are judged by; those about volumes by default. */
  readonly rules?: readonly AnyRule[] | undefined;
  /** How long others may take to make and bind a pod's volumes. */
  readonly bindTimeoutMs?: number | undefined;
}

/** How far a placement is carried out. */
export type Extent = 'volumes' | 'volumes and pod';

/**
 * What somebody needs who chooses nodes himself, a scheduler of his own or kube-scheduler, and leaves volumes to us: the state of the
 * cluster, what nodes say to a pod, the books of what has been promised, and the one who carries it out.
 */
export class BindingDesk {
  readonly feed: ClusterFeed;
  readonly rules: readonly AnyRule[];
  readonly clock: Clock;
  readonly #ledger: Ledger;
  readonly #flights = new Flights();
  readonly #confirmations: Confirmations;
  readonly #pods: PodWrites;
  readonly #binders: Readonly<Record<Extent, PodBinder>>;
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #waiting = new Set<() => void>();
  #stop: () => void = () => {};

  private constructor(options: BindingDeskOptions) {
    const { cluster, clock, bindTimeoutMs: timeoutMs } = options;
    this.clock = clock;
    this.rules = options.rules ?? volumeRules;
    this.feed = new ClusterFeed({
      informers: new SharedInformers({ ...options, onError: tellingMissingRight(options) }),
      kinds: kindsFor(this.rules),
      profile: options.profile ?? stowageProfile,
      onChange: (change) => this.#changed(change),
    });
    const { index } = this.feed;
    this.#ledger = new Ledger(index);
    this.#confirmations = new Confirmations({
      index,
      ledger: this.#ledger,
      flights: this.#flights,
      giveBack: (reservation) => this.revert(reservation),
    });
    this.#pods = new PodWrites({ cluster, feed: this.feed, clock });
    const volumes = new VolumeWrites(cluster, this.feed, clock);
    const nominate = this.#pods.nominate.bind(this.#pods);
    const shared = { index, clock, volumes, timeoutMs };
    this.#binders = {
      volumes: new PodBinder({ ...shared, pods: { nominate, bind: async () => {} } }),
      'volumes and pod': new PodBinder({ ...shared, pods: this.#pods }),
    };
  }

  /** Resolves when all there is has been seen; undefined where `signal` aborted before. */
  static async open(options: BindingDeskOptions, signal: AbortSignal): Promise<BindingDesk | undefined> {
    const desk = new BindingDesk(options);
    desk.#stop = desk.feed.start();
    if (await desk.feed.synced(signal)) return desk;
    desk.close();
    return undefined;
  }

  get index(): ClusterIndex {
    return this.feed.index;
  }

  /** Hears no more of the cluster. What is being carried out is its caller's to end. */
  close(): void {
    this.#stop();
  }

  // ── Hearing ──

  /** Told of every change after it is known. Must neither throw nor wait. */
  listen(listener: (change: Change) => void): void {
    this.#listeners.add(listener);
  }

  /** Resolves at the next change, when a pod's name is free for its successor, or when `signal` aborts. */
  nextChange(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const finish = () => {
        stopListening();
        this.#waiting.delete(finish);
        resolve();
      };
      const stopListening = onAbort(signal, finish);
      this.#waiting.add(finish);
    });
  }

  // ── Deciding ──

  assess(pod: Pod, nodes: readonly string[]): Assessment {
    return assess(pod, this.index, { nowMs: this.clock.nowMs(), rules: this.rules, nodes });
  }

  reserve(placement: Placement): ReserveResult {
    return this.#ledger.reserve(placement);
  }

  /** What is reserved for the pod of that name, whichever it is. */
  reservationOf(podKey: string): Reservation | undefined {
    return this.#ledger.get(podKey);
  }

  revert(reservation: Reservation): void {
    this.#ledger.revert(reservation);
    this.index.drainReleases();
    // A pod that has come under the name of this one could not be given anything until now, and nothing else may happen.
    const { key, uid } = reservation.placement.pod;
    if (this.index.pods.stored(key)?.uid !== uid) this.#wake();
  }

  // ── Carrying out ──

  /**
   * Rejects with a `BindFailure`, or with the reason of `signal`. The reservation is given back then; what stands written is undone as
   * far as it can be, and left as it is where `signal` aborted.
   */
  async carryOut(
    pod: Projected<Pod>,
    reservation: Reservation,
    extent: Extent,
    signal: AbortSignal,
  ): Promise<void> {
    const flight = new Flight(pod, reservation);
    this.#flights.add(flight);
    try {
      await this.#binders[extent].carryOut(flight, signal);
      this.#flights.delete(flight);
      this.#confirmations.confirm(reservation.podKey);
    } catch (error) {
      this.#flights.delete(flight);
      if (error instanceof BindFailure)
        avoidAfter(error, flight.placement.node, this.index, this.clock.nowMs());
      this.revert(reservation);
      throw error;
    }
  }

  /** Gives the pod its node, without a word about volumes. */
  async bindPod(pod: Projected<Pod>, nodeName: string, signal: AbortSignal): Promise<void> {
    await this.#pods.bind(pod, nodeName, signal);
  }

  #changed(change: Change): void {
    this.#flights.changed(change);
    this.#confirmations.changed(change);
    for (const listener of this.#listeners) listener(change);
    this.#wake();
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}

function kindsFor(rules: readonly AnyRule[]): readonly Kind[] {
  return rules.every((rule) => volumeRules.includes(rule)) ? volumeKinds : decisionKinds;
}
