import type { Projected } from '../cluster/cluster.ts';
import type { ClusterChange } from '../engine/cluster-index/cluster-change.ts';
import type { BoundClaim } from '../engine/ledger/binding-progress.ts';
import type { Reservation } from '../engine/ledger/ledger.ts';
import { addTo, removeFrom } from '../engine/maps.ts';
import type { Placement } from '../engine/plan.ts';
import type { Pod } from '../kube/api/core.ts';
import { onAbort } from '../runtime/abort.ts';

/** A reserved placement that is being written. */
export class InFlightBinding {
  /** The pod as it was when the placement was decided. */
  readonly pod: Projected<Pod>;
  readonly reservation: Reservation;
  /** The claims of the pod that have their volumes already. They must keep them until the pod has its node. */
  readonly boundClaims: readonly BoundClaim[];
  /** When the placement was decided, in monotonic time. */
  readonly decidedMs: number;
  readonly #cancellation = new AbortController();
  #wake: (() => void) | undefined;
  #wasWoken = false;
  #isPodWriteStarted = false;

  constructor(decision: BindingDecision) {
    this.pod = decision.pod;
    this.reservation = decision.reservation;
    this.boundClaims = decision.boundClaims;
    this.decidedMs = decision.decidedMs;
  }

  get placement(): Placement {
    return this.reservation.placement;
  }

  /** Aborts when the binding must stop; the signal's reason is the cause. */
  get cancelled(): AbortSignal {
    return this.#cancellation.signal;
  }

  /** False if it is too late: the pod's node is already being written. */
  cancel(cause: string): boolean {
    if (this.#isPodWriteStarted) return false;
    this.#cancellation.abort(new Error(cause));
    this.wake();
    return true;
  }

  /** The pod's node is written next: from now on the binding cannot be cancelled. */
  markPodWriteStarted(): void {
    this.#isPodWriteStarted = true;
  }

  /** A change may concern this binding. */
  wake(): void {
    this.#wasWoken = true;
    this.#wake?.();
  }

  /** Resolves at the first `wake` since it last resolved, or when `signal` aborts. Only one call may be pending. */
  nextWake(signal: AbortSignal): Promise<void> {
    if (this.#wasWoken || signal.aborted) {
      this.#wasWoken = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const finish = () => {
        stopListening();
        this.#wake = undefined;
        this.#wasWoken = false;
        resolve();
      };
      const stopListening = onAbort(signal, finish);
      this.#wake = finish;
    });
  }
}

export type BindingDecision = Pick<InFlightBinding, 'pod' | 'reservation' | 'boundClaims' | 'decidedMs'>;

/** The bindings in flight, indexed by the pod, the claims and the node that a change is about. */
export class InFlightBindings {
  readonly #byPod = new Map<string, InFlightBinding>();
  readonly #byClaim = new Map<string, Set<InFlightBinding>>();
  readonly #byNode = new Map<string, Set<InFlightBinding>>();
  #onEnd: (() => void)[] = [];

  get size(): number {
    return this.#byPod.size;
  }

  get(podKey: string): InFlightBinding | undefined {
    return this.#byPod.get(podKey);
  }

  add(binding: InFlightBinding): void {
    this.#byPod.set(binding.reservation.podKey, binding);
    for (const { key } of binding.placement.pod.claims) addTo(this.#byClaim, key, binding);
    addTo(this.#byNode, binding.placement.node, binding);
  }

  delete(binding: InFlightBinding): void {
    this.#byPod.delete(binding.reservation.podKey);
    for (const { key } of binding.placement.pod.claims) removeFrom(this.#byClaim, key, binding);
    removeFrom(this.#byNode, binding.placement.node, binding);
    const waiting = this.#onEnd;
    this.#onEnd = [];
    for (const resolve of waiting) resolve();
  }

  /** Resolves when the next binding ends, successfully or not. */
  nextEnd(): Promise<void> {
    return new Promise((resolve) => {
      this.#onEnd.push(resolve);
    });
  }

  usingClaim(claimKey: string): Iterable<InFlightBinding> {
    return this.#byClaim.get(claimKey) ?? [];
  }

  /** Wakes the bindings that the change may concern. */
  observe(change: ClusterChange): void {
    for (const binding of this.#concernedBy(change)) binding.wake();
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
