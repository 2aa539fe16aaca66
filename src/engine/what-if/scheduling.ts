import type { Pod, PodCondition, PodStatus } from '../../kube/api/core.ts';
import { setCondition } from '../../kube/conditions.ts';
import { formatTimestamp } from '../../kube/go/timestamp.ts';
import type { ClusterChange } from '../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { Ledger } from '../ledger/ledger.ts';
import type { DisruptionBudget } from '../preemption/disruption-budget.ts';
import { findVictims, type Preemption } from '../preemption/find-victims.ts';
import { planWithNominated } from '../preemption/plan-with-nominated.ts';
import { needsNode, tieBreakSeed } from '../records/pending-pod.ts';
import { type PodRecord, readPod } from '../records/pod-record.ts';
import type { Refusal } from '../refusal/refusal.ts';
import { RefusalCache } from '../refusal/refusal-cache.ts';
import type { AnyRule } from '../rules/framework/rule.ts';
import { keepVolumes } from './kept-volumes.ts';
import { volumeDeletionMs } from './own-volumes.ts';
import type { WhatIfCluster } from './what-if-cluster.ts';

export interface SchedulingOptions {
  readonly nowMs: number;
  readonly rules?: readonly AnyRule[] | undefined;
  readonly budgets?: readonly DisruptionBudget[] | undefined;
}

/** Callbacks that do the work of controllers while pods are scheduled. */
export interface SchedulingHooks {
  /** The pod has a node now. */
  readonly placed: (pod: PodRecord, node: string) => void;
  /** The pod is evicted. It still counts on its node until it is deleted. */
  readonly evicting: (pod: PodRecord, stored: Pod) => void;
  /** An evicted pod is deleted. */
  readonly gone: (pod: PodRecord, stored: Pod) => void;
}

type NoPreemption = Extract<Preemption, { kind: 'none' }>;

interface Waiting {
  readonly key: string;
  readonly priority: number;
  readonly order: number;
}

/** A pod is decided on again after each change that could help it. More attempts than this, per pod, would not end. */
const attemptsPerPodMax = 50;

const endlessNote =
  'evictions do not end: pods of lower priority take the capacity that others evicted pods for; the prediction stops in between';

/** Pods are assumed to take a second to end; deletion timestamps are whole seconds. */
const podEndMs = 1_000;

function endOfPodMs(nowMs: number): number {
  return Math.floor((nowMs + podEndMs) / 1_000) * 1_000;
}

/**
 * Schedules pods in a what-if cluster as an idle scheduler does: each pod is decided on when it arrives; pods that a change wakes together, highest
 * priority first, then the one that has waited longest; pods that leave are deleted, one after the other, once all others have had their turn. No pod backs off:
 * that would depend on how long pods take to end, which is unknown.
 */
export class WhatIfScheduling {
  readonly #cluster: WhatIfCluster;
  readonly #options: SchedulingOptions;
  readonly #hooks: SchedulingHooks;
  readonly #ledger: Ledger;
  /** Pods of equal shape share their refusal, as in the scheduler. */
  readonly #refusals: RefusalCache<NoPreemption>;
  readonly #queue: Waiting[] = [];
  readonly #refused = new Map<string, { readonly waiting: Waiting; readonly refusal: Refusal }>();
  readonly #nominated = new Map<string, PodRecord>();
  /** The keys of pods that leave. */
  readonly #leaving = new Set<string>();
  /** Work that takes time, the earliest first. */
  readonly #pending: { readonly atMs: number; readonly work: () => void }[] = [];
  readonly #work: (() => void)[] = [];
  /** Work that came up in the step before. */
  readonly #newWork: (() => void)[] = [];
  #lastOrder = 0;
  #attempts = 0;
  #moves = 0;

  constructor(cluster: WhatIfCluster, options: SchedulingOptions, hooks: SchedulingHooks) {
    this.#cluster = cluster;
    this.#options = options;
    this.#hooks = hooks;
    this.#ledger = new Ledger(cluster.index);
    this.#refusals = new RefusalCache(cluster.index);
    for (const pod of cluster.index.pods.records()) this.#observeNomination(pod);
  }

  get #index(): ClusterIndex {
    return this.#cluster.index;
  }

  /** How many pods have got a node, or had to leave one. */
  get moves(): number {
    return this.#moves;
  }

  enqueue(pod: PodRecord): void {
    this.#lastOrder += 1;
    this.#push({ key: pod.key, priority: pod.priority, order: this.#lastOrder });
  }

  /**
   * The pods leave their nodes, all at the same time: they count there until all other pods have had their turn, as pods do while they end. Their controllers react at
   * the same time, each to one pod after the other.
   */
  evict(victims: readonly PodRecord[], condition?: PodCondition): void {
    const evicted = victims.flatMap((victim) => {
      const stored = this.#cluster.get('Pod', victim.key);
      if (stored === undefined || this.#leaving.has(victim.key)) return [];
      this.#leaving.add(victim.key);
      this.#moves += 1;
      this.#at(endOfPodMs(this.#cluster.nowMs), () => this.#remove(victim));
      const deletionTimestamp = formatTimestamp(this.#cluster.nowMs);
      this.#cluster.put('Pod', {
        ...stored,
        metadata: { ...stored.metadata, deletionTimestamp },
        status: {
          ...stored.status,
          ...(condition && {
            conditions: setCondition(stored.status?.conditions, condition, deletionTimestamp),
          }),
        },
      });
      return [{ victim, stored }];
    });
    for (const { victim, stored } of inTurns(
      evicted,
      ({ victim: { namespace, owner } }) => `${namespace} ${owner}`,
    ))
      this.later(() => this.#hooks.evicting(victim, stored));
  }

  /** Work of a controller that is done when the pods of the queue have had their turn, before work that was waiting already. */
  later(work: () => void): void {
    this.#newWork.push(work);
  }

  /** Work that is done when nothing else is left to do at this moment, before the next pod has ended. */
  lastly(work: () => void): void {
    this.#work.push(work);
  }

  /** Work that is done when so much time has passed and nothing else is left to do; what is due at the same time, in the order of the calls. */
  after(delayMs: number, work: () => void): void {
    this.#at(this.#cluster.nowMs + delayMs, work);
  }

  #at(atMs: number, work: () => void): void {
    let at = this.#pending.length;
    while (at > 0 && this.#pending[at - 1]!.atMs > atMs) at -= 1;
    this.#pending.splice(at, 0, { atMs, work });
  }

  /** Called with every change of the cluster. */
  observe(change: ClusterChange): void {
    this.#refusals.onChange(change);
    for (const [key, { waiting, refusal }] of this.#refused) {
      if (!refusal.wokenBy(change)) continue;
      this.#refused.delete(key);
      this.#push(waiting);
    }
  }

  /**
   * Does one thing, in this order of preference: decides on a pod of the queue, does work of a controller, lets time pass until a pod is deleted or a volume is
   * deleted. Returns false if there is nothing left to do: then no pod can be placed any more.
   */
  step(): boolean {
    if (this.#newWork.length > 0) this.#work.unshift(...this.#newWork.splice(0));
    const waiting = this.#queue.shift();
    if (waiting !== undefined) {
      this.#decide(waiting);
      return true;
    }
    const work = this.#work.shift();
    if (work !== undefined) {
      work();
      return true;
    }
    const next = this.#pending.shift();
    if (next === undefined) return false;
    this.#cluster.nowMs = next.atMs;
    next.work();
    return true;
  }

  /** The last refusal of a pod that has no node. */
  refusalOf(key: string): Refusal | undefined {
    return this.#refused.get(key)?.refusal;
  }

  /** Takes the pod out of the queue, and releases what was reserved for it. */
  forget(key: string): void {
    const at = this.#queue.findIndex((waiting) => waiting.key === key);
    if (at >= 0) this.#queue.splice(at, 1);
    this.#refused.delete(key);
    this.#nominated.delete(key);
    const reservation = this.#ledger.get(key);
    if (reservation === undefined) return;
    const released = this.#ledger.revert(reservation);
    if (released !== undefined) this.observe(released);
  }

  #push(waiting: Waiting): void {
    const before = (other: Waiting) =>
      other.priority > waiting.priority ||
      (other.priority === waiting.priority && other.order < waiting.order);
    // Most pods arrive last among those of their priority.
    let at = this.#queue.length;
    while (at > 0 && !before(this.#queue[at - 1]!)) at -= 1;
    this.#queue.splice(at, 0, waiting);
  }

  #decide(waiting: Waiting): void {
    const pod = this.#cluster.get('Pod', waiting.key);
    const record = pod && readPod(pod);
    if (pod === undefined || record === undefined || !needsNode(record)) return;
    if (this.#index.pods.get(record.key)?.nodeName) return;
    this.#attempts += 1;
    const known = this.#refusals.get(record);
    if (known !== undefined) {
      this.#wait(waiting, known.refusal);
      this.#loseNomination(pod, record, known.extra);
      return;
    }
    const { nowMs, rules } = this.#options;
    const shared = { nowMs, ...(rules && { rules }), nominated: [...this.#nominated.values()] };
    const seed = tieBreakSeed(record);
    const answer = planWithNominated(pod, this.#index, { ...shared, tieSeed: seed });
    if (answer.kind === 'placement') {
      if (this.#ledger.reserve(answer).kind !== 'reserved') return;
      this.#refusals.onAssumed(record, answer.node);
      this.#place(pod, record, answer.node);
      return;
    }
    if (this.#attempts > attemptsPerPodMax * (this.#index.pods.size + 1)) {
      this.#cluster.notes.add(endlessNote);
      this.#wait(waiting, answer);
      return;
    }
    const budgets = this.#options.budgets ?? [];
    const preemption = findVictims(pod, answer, this.#index, { ...shared, budgets, seed });
    if (preemption.kind === 'victims') {
      const { node, victims } = preemption;
      this.#wait(waiting, answer.waitingForPreemption({ vacatingNode: node }));
      this.#nominate(pod, node);
      this.#unnominateOthers(record, node);
      this.evict(
        victims.map((victim) => victim.pod),
        preempted,
      );
      return;
    }
    const refusal = answer.waitingForPreemption(preemption);
    this.#refusals.set(refusal, preemption);
    this.#wait(waiting, refusal);
    this.#loseNomination(pod, record, preemption);
  }

  #wait(waiting: Waiting, refusal: Refusal): void {
    this.#lastOrder += 1;
    this.#refused.set(waiting.key, { waiting: { ...waiting, order: this.#lastOrder }, refusal });
  }

  #loseNomination(pod: Pod, { nominatedNode }: PodRecord, preemption: NoPreemption): void {
    if (!preemption.keepsNomination && nominatedNode !== '') this.#nominate(pod, undefined);
  }

  /** Pods of lower priority may no longer fit on the node. */
  #unnominateOthers({ priority }: PodRecord, node: string): void {
    for (const other of [...this.#nominated.values()]) {
      const stored = this.#cluster.get('Pod', other.key);
      const isLower = other.nominatedNode === node && other.priority < priority;
      if (isLower && stored !== undefined) this.#nominate(stored, undefined);
    }
  }

  #place(pod: Pod, record: PodRecord, nodeName: string): void {
    this.#moves += 1;
    this.#nominated.delete(record.key);
    const status = runningStatus(pod, formatTimestamp(this.#cluster.nowMs));
    this.#cluster.put('Pod', { ...pod, spec: { ...pod.spec, nodeName }, status });
    this.#hooks.placed(record, nodeName);
  }

  #nominate(pod: Pod, node: string | undefined): void {
    const { nominatedNodeName: _, ...status } = pod.status ?? {};
    const nominated = {
      ...pod,
      status: { ...status, ...(node !== undefined && { nominatedNodeName: node }) },
    };
    this.#cluster.put('Pod', nominated);
    this.#observeNomination(readPod(nominated));
  }

  #observeNomination(pod: PodRecord): void {
    if (pod.nominatedNode !== '' && needsNode(pod)) this.#nominated.set(pod.key, pod);
    else this.#nominated.delete(pod.key);
  }

  #remove(pod: PodRecord): void {
    const stored = this.#cluster.get('Pod', pod.key);
    const reservation = this.#ledger.get(pod.key);
    this.#leaving.delete(pod.key);
    this.forget(pod.key);
    const releaseBytes = reservation && keepVolumes(this.#cluster, reservation);
    if (releaseBytes !== undefined)
      this.after(volumeDeletionMs, () => {
        releaseBytes();
        const released = this.#index.drainReleases();
        if (released !== undefined) this.observe(released);
      });
    this.#cluster.remove('Pod', pod.key);
    // Pods that wait for its place come first.
    if (stored !== undefined) this.later(() => this.#hooks.gone(pod, stored));
  }
}

/** On the victims of preemption: the preemptor evicts no others while one of them leaves its node. */
const preempted: PodCondition = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'PreemptionByScheduler',
};

/** The first of each group, then the second of each, and so on. */
function inTurns<T>(items: readonly T[], groupOf: (item: T) => string): readonly T[] {
  const counts = new Map<string, number>();
  const ranked = items.map((item) => {
    const rank = counts.get(groupOf(item)) ?? 0;
    counts.set(groupOf(item), rank + 1);
    return { item, rank };
  });
  return ranked.sort((a, b) => a.rank - b.rank).map(({ item }) => item);
}

/** As a kubelet reports it: the pod runs and is ready immediately. Controllers remove pods that are not ready first, and preemption those that started last. */
function runningStatus({ status }: Pod, startTime: string): PodStatus {
  const { nominatedNodeName: _, ...known } = status ?? {};
  const ready = { type: 'Ready', status: 'True', lastTransitionTime: startTime } as const;
  return { ...known, phase: 'Running', startTime, conditions: [ready] };
}
