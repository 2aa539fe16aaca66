import { BindFailure } from '../bind/bind-failure.ts';
import type { BindExtent } from '../bind/binding-session.ts';
import { MissingPermission } from '../bind/missing-permission.ts';
import { StandaloneBinding } from '../bind/standalone-binding.ts';
import type { Cluster, Projected } from '../cluster/cluster.ts';
import { KubernetesCluster } from '../cluster/kubernetes/client.ts';
import type { Assessment, NodeAssessment } from '../engine/assess.ts';
import type { IndexedKind } from '../engine/cluster-index/cluster-change.ts';
import type { Profile } from '../engine/cluster-index/profile.ts';
import type { ObjectOf } from '../engine/cluster-index/read-object.ts';
import type { Reservation } from '../engine/ledger/ledger.ts';
import type { Placement } from '../engine/plan.ts';
import { defaultRules } from '../engine/rules/default-rules.ts';
import { podMessage } from '../engine/rules/reasons.ts';
import type { Pod } from '../kube/api/core.ts';
import { type Clock, realClock } from '../runtime/clock.ts';
import { type Random, systemRandom } from '../runtime/random.ts';
import { Supervisor } from '../runtime/supervisor.ts';

export interface VolumeBindingOptions {
  /** `volumes`, the default: only the rules about volumes. `all`: also taints, affinity, spread, resources and all others. */
  readonly rules?: 'volumes' | 'all';
  readonly profile?: Profile;
  /** How long provisioners and the PV controller may take to create and bind a pod's volumes. Default: ten minutes. */
  readonly bindTimeoutMs?: number;
  /**
   * Called with errors of the watches, which keep retrying, and with a `MissingPermission`. By default the library emits a
   * `MissingPermission` as a Node.js process warning and ignores the others.
   */
  readonly onError?: (error: unknown) => void;
  readonly clock?: Clock;
  readonly random?: Random;
}

export interface ConnectOptions extends VolumeBindingOptions {
  /** Default: KUBECONFIG, then ~/.kube/config, then the service account of the pod that this process runs in. */
  readonly kubeconfig?: string;
  /** Default: the kubeconfig's current context. */
  readonly context?: string;
}

/** How well a node suits a pod's volumes, from 0 to 100. */
export interface NodeScore {
  readonly node: string;
  readonly score: number;
}

/** `assume` failed: the pod does not fit the node, or its name is already reserved. The message says why. */
export class AssumeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'AssumeError';
  }
}

/**
 * Volume binding for custom schedulers: which nodes a pod's volumes admit, which node suits them best, and then all of the volumes
 * bound or none. It watches the cluster and keeps its own index of it.
 *
 * For each pod, call in this order:
 *
 * 1. `check` for each candidate node, and `prioritize` among those that fit. Both are synchronous and reserve nothing.
 * 2. `assume` the chosen node, without having awaited anything since: it reserves volumes and capacity, and no later call offers them
 *    to another pod. It throws an `AssumeError` for exactly those nodes for which `check` does not answer `fits`.
 * 3. `bind` what was assumed, while you decide on the next pods; or `revert` it. If `bind` fails, it rejects with a `BindFailure` and
 *    has reverted the reservation.
 *
 * A pod name has one reservation at a time. A pod that was re-created while its predecessor is being bound is refused on every node, as
 * `AlreadyReserved`; `nextChange` resolves when the name is free.
 *
 * Any number of pods may be assumed and in binding at the same time. Only one process should place the pods of one scheduler name.
 */
export class VolumeBinding implements AsyncDisposable {
  readonly cluster: Cluster;
  readonly #binding: StandaloneBinding;
  readonly #dispose: () => Promise<void>;

  private constructor(cluster: Cluster, binding: StandaloneBinding, dispose: () => Promise<void>) {
    this.cluster = cluster;
    this.#binding = binding;
    this.#dispose = dispose;
  }

  /** Resolves when the index has everything that the cluster holds. */
  static async connect(options: ConnectOptions = {}): Promise<VolumeBinding> {
    const { clock = realClock, random = systemRandom, kubeconfig, context } = options;
    const cluster = await KubernetesCluster.connect({
      clock,
      random,
      env: process.env,
      rateLimit: false,
      ...(kubeconfig !== undefined && { kubeconfig }),
      ...(context !== undefined && { context }),
    });
    return await VolumeBinding.#open(cluster, options, () => cluster.close());
  }

  /** The same on a connection that the caller has; `close` does not close it. */
  static async on(cluster: Cluster, options: VolumeBindingOptions = {}): Promise<VolumeBinding> {
    return await VolumeBinding.#open(cluster, options, async () => {});
  }

  static async #open(
    cluster: Cluster,
    options: VolumeBindingOptions,
    disconnect: () => Promise<void>,
  ): Promise<VolumeBinding> {
    const { clock = realClock, random = systemRandom, onError = warn, rules = 'volumes' } = options;
    const supervisor = new Supervisor({ clock, random, onCrash: ({ error }) => onError(error) });
    const dispose = async () => {
      await supervisor.close();
      await disconnect();
    };
    const shared = { cluster, clock, random, supervisor, onError };
    const { profile, bindTimeoutMs } = options;
    try {
      const chosen = rules === 'all' ? defaultRules : undefined;
      const binding = await StandaloneBinding.open(
        { ...shared, profile, bindTimeoutMs, rules: chosen },
        neverAborts(),
      );
      return new VolumeBinding(cluster, binding!, dispose);
    } catch (error) {
      await dispose();
      throw error;
    }
  }

  // ── State of the cluster ──

  /** All objects of a kind in the cache: `'Pod'`, `'Node'`, `'PersistentVolumeClaim'` ... Read-only. */
  list<K extends IndexedKind>(kind: K): Projected<ObjectOf[K]>[] {
    return [...this.#binding.feed.values(kind)];
  }

  /** Returns the cached object with the key `name`, or `namespace/name`. */
  get<K extends IndexedKind>(kind: K, key: string): Projected<ObjectOf[K]> | undefined {
    return this.#binding.feed.get(kind, key);
  }

  /** Resolves at the next change in the cache, when a re-created pod's name becomes free, or when `signal` aborts. */
  nextChange(signal: AbortSignal): Promise<void> {
    return this.#binding.nextChange(signal);
  }

  // ── Deciding ──

  /** Whether the node fits the pod, or why not. While a pod of that name has a reservation, this one or another, no node fits. */
  check(pod: Pod, node: string): NodeAssessment {
    return this.#answers(this.#binding.assess(pod, [node]))[0]!;
  }

  /** Those of the named nodes that fit, the best for the pod's volumes first. */
  prioritize(pod: Pod, nodes: readonly string[]): readonly NodeScore[] {
    const answers = this.#answers(this.#binding.assess(pod, nodes));
    const scores = answers.flatMap((answer) =>
      answer.kind === 'fits' ? [{ node: answer.node, score: answer.score }] : [],
    );
    return scores.sort((one, other) => other.score - one.score);
  }

  /**
   * Reserves the node for the pod, and what its volumes take there. Throws an `AssumeError` where `check` would not answer `fits`. If
   * `check` answered `fits` and the caller has awaited nothing since, `assume` does not throw.
   */
  assume(pod: Pod, node: string): AssumedPod {
    const assessment = this.#binding.assess(pod, [node]);
    const [answer] = this.#answers(assessment);
    const placement = answer?.kind === 'fits' ? assessment.placementOn(node) : undefined;
    if (placement === undefined) throw new AssumeError(whyNot(assessment.pod.key, answer!));
    const reserved = this.#binding.session.reserve(placement);
    if (reserved.kind === 'reserved') return new AssumedPod(this.#binding, reserved.reservation);
    const problems = reserved.conflicts.map(({ object, problem }) => `${object} ${problem}`);
    throw new AssumeError(`pod ${placement.pod.key} on node ${node}: ${problems.join(', ')}`);
  }

  /** A pod name has one reservation, so an existing one overrides what the nodes answer. */
  #answers({ pod, answers }: Assessment): readonly NodeAssessment[] {
    const reservation = this.#binding.session.reservationOf(pod.key);
    if (reservation === undefined) return answers;
    return answers.map((answer) =>
      answer.kind === 'unknown' ? answer : alreadyReserved(answer.node, reservation),
    );
  }

  /** Stops the watches, and closes the connection if `connect` opened it. Abort running `bind` calls first. */
  async close(): Promise<void> {
    this.#binding.close();
    await this.#dispose();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** A pod with a reserved node. Nothing has been written to the cluster yet. */
export class AssumedPod {
  readonly #binding: StandaloneBinding;
  readonly #reservation: Reservation;

  constructor(binding: StandaloneBinding, reservation: Reservation) {
    this.#binding = binding;
    this.#reservation = reservation;
  }

  /** The node, and what `bind` is going to write: existing volumes for claims (`bindings`), and new ones (`provisions`). */
  get placement(): Placement {
    return this.#reservation.placement;
  }

  /** True if no claim is left to bind. */
  get allBound(): boolean {
    return this.placement.bindings.length === 0 && this.placement.provisions.length === 0;
  }

  /**
   * Writes what the volumes need, waits until all of them are bound, and then binds the pod to its node. Rejects with a `BindFailure`
   * if a volume cannot be bound, another client was faster, or the pod was deleted: then the writes that can be reverted have been, and
   * the pod, if it still exists, can be planned again. Also rejects with a `BindFailure` if the reservation has ended: it was reverted, or is
   * bound.
   *
   * When `signal` aborts, it rejects immediately with the signal's reason and undoes nothing on the server. The next decision about the
   * pod finds what was written.
   */
  async bind(signal: AbortSignal = neverAborts()): Promise<void> {
    await this.#bind('volumes and pod', signal);
  }

  /** Binds only the volumes; the caller binds the pod to its node, or reverts. Rejects as `bind` does. */
  async bindVolumes(signal: AbortSignal = neverAborts()): Promise<void> {
    await this.#bind('volumes', signal);
  }

  /** Frees what is reserved and not written. May be repeated; does nothing once the cluster shows the placement. */
  revert(): void {
    this.#binding.session.revert(this.#reservation);
  }

  async #bind(extent: BindExtent, signal: AbortSignal): Promise<void> {
    const { key, uid } = this.placement.pod;
    const pod = this.#binding.feed.get('Pod', key);
    if (pod?.metadata?.uid !== uid) {
      this.revert();
      throw new BindFailure(`pod ${key} is gone`);
    }
    if (this.#binding.session.reservationOf(key) !== this.#reservation)
      throw new BindFailure(`pod ${key} is not reserved any more: it was reverted, or is bound`);
    await this.#binding.session.bind(pod, this.#reservation, { extent }, signal);
  }
}

function alreadyReserved(node: string, { podKey, placement }: Reservation): NodeAssessment {
  const reason = 'AlreadyReserved';
  const text = podMessage(reason, { pod: podKey, node: placement.node });
  return { kind: 'refused', node, reasons: [reason], texts: [text], isUnresolvable: true };
}

function whyNot(podKey: string, answer: NodeAssessment): string {
  const why = answer.kind === 'refused' ? answer.texts.join(', ') : 'there is no such node';
  return `pod ${podKey} does not fit node ${answer.node}: ${why}`;
}

/** Other errors are retried; this one lasts until an administrator grants the permission. */
function warn(error: unknown): void {
  if (error instanceof MissingPermission) process.emitWarning(error);
}

function neverAborts(): AbortSignal {
  return new AbortController().signal;
}
