import type { Projected } from '../cluster/cluster.ts';
import type { ClusterChange } from '../engine/cluster-index/cluster-change.ts';
import { addTo, removeFrom } from '../engine/cluster-index/primitives/maps.ts';
import type { Reservation } from '../engine/ledger/ledger.ts';
import type { Placement } from '../engine/plan.ts';
import type { Pod } from '../kube/api/core.ts';
import { onAbort } from '../runtime/abort.ts';

/** A pod on its way to its node: decided and reserved, and now being written. */
export class InFlightBinding {
  /** As it was when it was decided on. */
  readonly pod: Projected<Pod>;
  readonly reservation: Reservation;
  readonly #cancelling = new AbortController();
  #wake: (() => void) | undefined;
  #hasNews = false;
  #isLeaving = false;

  constructor(pod: Projected<Pod>, reservation: Reservation) {
    this.pod = pod;
    this.reservation = reservation;
  }

  get placement(): Placement {
    return this.reservation.placement;
  }

  /** Aborts when the pod must not go on; the reason is the cause. */
  get cancelled(): AbortSignal {
    return this.#cancelling.signal;
  }

  /** False if it is too late: the pod's node is being written, and that isn't broken off. */
  cancel(cause: string): boolean {
    if (this.#isLeaving) return false;
    this.#cancelling.abort(new Error(cause));
    this.wake();
    return true;
  }

  /** The pod's node is written next: from now on nobody can let go of it. */
  markPodWriteStarted(): void {
    this.#isLeaving = true;
  }

  /** Something happened that may concern it. */
  wake(): void {
    this.#hasNews = true;
    this.#wake?.();
  }

  /** Resolves at the first poke since it last resolved, or when `signal` aborts. */
  nextWake(signal: AbortSignal): Promise<void> {
    if (this.#hasNews || signal.aborted) {
      this.#hasNews = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const finish = () => {
        stopListening();
        this.#wake = undefined;
        this.#hasNews = false;
        resolve();
      };
      const stopListening = onAbort(signal, finish);
      this.#wake = finish;
    });
  }
}

/** All flights, found by whatever an event is about. */
export class InFlightBindings {
  readonly #byPod = new Map<string, InFlightBinding>();
  readonly #byClaim = new Map<string, Set<InFlightBinding>>();
  readonly #byNode = new Map<string, Set<InFlightBinding>>();
  #onLanding: (() => void)[] = [];

  get size(): number {
    return this.#byPod.size;
  }

  get(podKey: string): InFlightBinding | undefined {
    return this.#byPod.get(podKey);
  }

  add(flight: InFlightBinding): void {
    this.#byPod.set(flight.reservation.podKey, flight);
    for (const { key } of flight.placement.pod.claims) addTo(this.#byClaim, key, flight);
    addTo(this.#byNode, flight.placement.node, flight);
  }

  delete(flight: InFlightBinding): void {
    this.#byPod.delete(flight.reservation.podKey);
    for (const { key } of flight.placement.pod.claims) removeFrom(this.#byClaim, key, flight);
    removeFrom(this.#byNode, flight.placement.node, flight);
    const waiting = this.#onLanding;
    this.#onLanding = [];
    for (const resolve of waiting) resolve();
  }

  /** Resolves when the next of them ends, however it ends. */
  nextEnd(): Promise<void> {
    return new Promise((resolve) => {
      this.#onLanding.push(resolve);
    });
  }

  /** Those that use the claim. */
  usingClaim(claimKey: string): Iterable<InFlightBinding> {
    return this.#byClaim.get(claimKey) ?? [];
  }

  /** Tells those that the change may concern. */
  observe(change: ClusterChange): void {
    for (const flight of this.#concernedBy(change)) flight.wake();
  }

  #concernedBy(change: ClusterChange): readonly InFlightBinding[] {
    switch (change.kind) {
      case 'Pod':
        return [this.#byPod.get((change.after ?? change.before)!.key) ?? []].flat();
      case 'PersistentVolumeClaim':
        return [...this.usingClaim((change.after ?? change.before)!.key)];
      case 'PersistentVolume': {
        const claims = [change.before?.claim?.claimKey, change.after?.claim?.claimKey];
        return [...new Set(claims)].flatMap((key) => (key === undefined ? [] : [...this.usingClaim(key)]));
      }
      case 'Node':
        return [...(this.#byNode.get((change.after ?? change.before)!.key) ?? [])];
      default:
        return [];
    }
  }
}
