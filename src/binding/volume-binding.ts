import { BindFailure } from '../bind/bind-failure.ts';
import { BindingDesk, type Extent } from '../bind/binding-desk.ts';
import { MissingRight } from '../bind/missing-right.ts';
import type { Cluster, Projected } from '../cluster/cluster.ts';
import { KubernetesCluster } from '../cluster/kubernetes/client.ts';
import type { Assessment, NodeAnswer } from '../engine/assess.ts';
import type { Kind } from '../engine/cluster-index/change.ts';
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
  /** `volumes`, the default: only the rules about volumes. `all`: also taints, affinity, spread, resources and the others. */
  readonly rules?: 'volumes' | 'all';
  readonly profile?: Profile;
  /** How long others may take to make and bind a pod's volumes; ten minutes by default. */
  readonly bindTimeoutMs?: number;
  /** Told what goes wrong in the background and is tried again. By default only a `MissingRight` is told, as a warning of Node. */
  readonly onTrouble?: (error: unknown) => void;
  readonly clock?: Clock;
  readonly random?: Random;
}

export interface ConnectOptions extends VolumeBindingOptions {
  /** Where it is left out: KUBECONFIG, ~/.kube/config, or the service account of the pod that this is. */
  readonly kubeconfig?: string;
  /** Instead of the current context. */
  readonly context?: string;
}

/** How good a node is for a pod's volumes, from 0 to 100. */
export interface NodeScore {
  readonly node: string;
  readonly score: number;
}

/** Of `assume`: the pod can't be given to the node. It doesn't fit there, or its name is reserved. The message says what is in the way. */
export class AssumeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'AssumeError';
  }
}

/**
 * Volume binding for schedulers of one's own: which nodes a pod's volumes admit, which suits them best, and then all of them bound or
 * none. It keeps its own picture of the cluster, up to date by watching.
 *
 * For each pod, in this order:
 *
 * 1. `check` for each node that comes into question, and `prioritize` among those that fit. Both are synchronous, and take nothing.
 * 2. `assume` the node that was chosen, without having awaited anything since: volumes and room are reserved, no later call offers
 *    them to anybody else. It throws an `AssumeError` for exactly those nodes that `check` would not have said `fits` of.
 * 3. `bind` what was assumed, while the next pods are decided on; or `revert` it. If `bind` fails, with a `BindFailure`, everything
 *    has been given back.
 *
 * A name has one reservation at a time. A pod that was re-created while the one before it is being bound is refused everywhere, as
 * `AlreadyReserved`; `nextChange` tells when that is over.
 *
 * Any number of pods may be assumed and being bound at once. Only one process should place pods of one scheduler name at a time.
 */
export class VolumeBinding implements AsyncDisposable {
  readonly cluster: Cluster;
  readonly #desk: BindingDesk;
  readonly #end: () => Promise<void>;

  private constructor(cluster: Cluster, desk: BindingDesk, end: () => Promise<void>) {
    this.cluster = cluster;
    this.#desk = desk;
    this.#end = end;
  }

  /** Resolves when everything that is there has been seen. */
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

  /** The same on a cluster that one has already; it is not closed at the end. */
  static async on(cluster: Cluster, options: VolumeBindingOptions = {}): Promise<VolumeBinding> {
    return await VolumeBinding.#open(cluster, options, async () => {});
  }

  static async #open(
    cluster: Cluster,
    options: VolumeBindingOptions,
    disconnect: () => Promise<void>,
  ): Promise<VolumeBinding> {
    const { clock = realClock, random = systemRandom, onTrouble = warn, rules = 'volumes' } = options;
    const supervisor = new Supervisor({ clock, random, onCrash: ({ error }) => onTrouble(error) });
    const end = async () => {
      await supervisor.close();
      await disconnect();
    };
    const never = new AbortController().signal;
    const shared = { cluster, clock, random, supervisor, onTrouble };
    const { profile, bindTimeoutMs } = options;
    try {
      const judged = rules === 'all' ? defaultRules : undefined;
      const desk = await BindingDesk.open({ ...shared, profile, bindTimeoutMs, rules: judged }, never);
      return new VolumeBinding(cluster, desk!, end);
    } catch (error) {
      await end();
      throw error;
    }
  }

  // ── The cluster ──

  /** All objects of a kind as they are known now: `'Pod'`, `'Node'`, `'PersistentVolumeClaim'` ... For reading only. */
  list<K extends Kind>(kind: K): Projected<ObjectOf[K]>[] {
    return [...this.#desk.feed.values(kind)];
  }

  /** By `name`, or `namespace/name`. */
  get<K extends Kind>(kind: K, key: string): Projected<ObjectOf[K]> | undefined {
    return this.#desk.feed.get(kind, key);
  }

  /** Resolves at the next change of anything that is known, or when `signal` aborts. */
  nextChange(signal: AbortSignal): Promise<void> {
    return this.#desk.nextChange(signal);
  }

  // ── Deciding ──

  /** What the node says to the pod: it fits, or why not. While a pod of that name is reserved, this one or another, no node fits. */
  check(pod: Pod, node: string): NodeAnswer {
    return this.#answers(this.#desk.assess(pod, [node]))[0]!;
  }

  /** Of the named nodes those that fit, the best for the pod's volumes first. */
  prioritize(pod: Pod, nodes: readonly string[]): readonly NodeScore[] {
    const answers = this.#answers(this.#desk.assess(pod, nodes));
    const scores = answers.flatMap((answer) =>
      answer.kind === 'fits' ? [{ node: answer.node, score: answer.score }] : [],
    );
    return scores.sort((one, other) => other.score - one.score);
  }

  /**
   * Gives the pod to the node and reserves what its volumes take there. Throws an `AssumeError` where `check` would not say
   * `fits`: if it did, and nothing was awaited since, `assume` doesn't throw.
   */
  assume(pod: Pod, node: string): AssumedPod {
    const assessment = this.#desk.assess(pod, [node]);
    const [answer] = this.#answers(assessment);
    const placement = answer?.kind === 'fits' ? assessment.placementOn(node) : undefined;
    if (placement === undefined) throw new AssumeError(whyNot(assessment.pod.key, answer!));
    const reserved = this.#desk.reserve(placement);
    if (reserved.kind === 'reserved') return new AssumedPod(this.#desk, reserved.reservation);
    const problems = reserved.conflicts.map(({ object, problem }) => `${object} ${problem}`);
    throw new AssumeError(`pod ${placement.pod.key} on node ${node}: ${problems.join(', ')}`);
  }

  /** The books come before what nodes say: a name is reserved once. */
  #answers({ pod, answers }: Assessment): readonly NodeAnswer[] {
    const reservation = this.#desk.reservationOf(pod.key);
    if (reservation === undefined) return answers;
    return answers.map((answer) =>
      answer.kind === 'unknown' ? answer : alreadyReserved(answer.node, reservation),
    );
  }

  /** Ends the watching, and the connection if it is its own. Abort what is being bound first. */
  async close(): Promise<void> {
    this.#desk.close();
    await this.#end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** A pod that has been given to a node; the cluster doesn't know yet. */
export class AssumedPod {
  readonly #desk: BindingDesk;
  readonly #reservation: Reservation;

  constructor(desk: BindingDesk, reservation: Reservation) {
    this.#desk = desk;
    this.#reservation = reservation;
  }

  /** The node, and what is going to be written: existing volumes for claims (`bindings`), and new ones (`provisions`). */
  get placement(): Placement {
    return this.#reservation.placement;
  }

  /** No claim is left to be bound. */
  get allBound(): boolean {
    return this.placement.bindings.length === 0 && this.placement.provisions.length === 0;
  }

  /**
   * Writes what the volumes need, waits until all of them are bound, and then gives the pod its node. Rejects with a `BindFailure` if one
   * of them can't be, somebody else was faster, or the pod is gone: what can be undone has been, and the pod, if there is one, may be
   * decided on again. The same where it isn't reserved any more: it was reverted, or is bound.
   *
   * When `signal` aborts it rejects at once with its reason and undoes nothing; what stands written is found again by whoever decides
   * next.
   */
  async bind(signal: AbortSignal = neverAborts()): Promise<void> {
    await this.#carryOut('volumes and pod', signal);
  }

  /** Only the volumes; the caller gives the pod its node, or reverts. Rejects as `bind` does. */
  async bindVolumes(signal: AbortSignal = neverAborts()): Promise<void> {
    await this.#carryOut('volumes', signal);
  }

  /** Gives everything back that isn't written. May be repeated; does nothing once the cluster shows it. */
  revert(): void {
    this.#desk.revert(this.#reservation);
  }

  async #carryOut(extent: Extent, signal: AbortSignal): Promise<void> {
    const { key, uid } = this.placement.pod;
    const pod = this.#desk.feed.get('Pod', key);
    if (pod?.metadata?.uid !== uid) {
      this.revert();
      throw new BindFailure(`pod ${key} is gone`);
    }
    if (this.#desk.reservationOf(key) !== this.#reservation)
      throw new BindFailure(`pod ${key} is not reserved any more: it was reverted, or is bound`);
    await this.#desk.carryOut(pod, this.#reservation, extent, signal);
  }
}

function alreadyReserved(node: string, { podKey, placement }: Reservation): NodeAnswer {
  const reason = 'AlreadyReserved';
  const text = podMessage(reason, { pod: podKey, node: placement.node });
  return { kind: 'refused', node, reasons: [reason], texts: [text], isForGood: true };
}

function whyNot(podKey: string, answer: NodeAnswer): string {
  const why = answer.kind === 'refused' ? answer.texts.join(', ') : 'there is no such node';
  return `pod ${podKey} does not fit node ${answer.node}: ${why}`;
}

/** What is tried again mends itself; this goes on until somebody grants the right. */
function warn(error: unknown): void {
  if (error instanceof MissingRight) process.emitWarning(error);
}

function neverAborts(): AbortSignal {
  return new AbortController().signal;
}
