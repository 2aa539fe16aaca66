import type { StandaloneBinding } from '../bind/standalone-binding.ts';
import type { Assessment, NodeAssessment } from '../engine/assess.ts';
import type { ClusterChange } from '../engine/cluster-index/cluster-change.ts';
import type { Placement } from '../engine/plan.ts';
import { readPod } from '../engine/records/pod-record.ts';
import type { Pod } from '../kube/api/core.ts';
import { getCondition } from '../kube/conditions.ts';
import { messageOf } from '../runtime/error-message.ts';
import type {
  BindingArgs,
  BindingResult,
  ExtenderArgs,
  FilterResult,
  HostPriority,
  PreemptionArgs,
  PreemptionResult,
  VictimsOnNode,
} from './extender-protocol.ts';
import { nodeMessages } from './node-messages.ts';
import { PodBindings } from './pod-bindings.ts';
import { TentativeReservations } from './tentative-reservations.ts';

export interface ExtenderOptions {
  readonly binding: StandaloneBinding;
  /** How long capacity is held for a pod after an answer, if the cluster does not show what became of it. */
  readonly holdMs?: number | undefined;
  /** Aborts bindings in flight. */
  readonly signal: AbortSignal;
}

const holdMsDefault = 30_000;
/** Capacity is held on at most this many nodes for a pod: kube-scheduler filters no more of several thousand. */
const heldNodesMax = 500;
/** How long to wait for caches that are behind kube-scheduler's. kube-scheduler cancels a request after five seconds. */
const cacheWaitMaxMs = 1_000;
/** How long to wait until the cluster shows which nodes the previous pods have gone to. */
const tentativeWaitMaxMs = 1_000;

/**
 * Answers kube-scheduler's requests. It calls `filter`, then `prioritize` if several nodes are left, and continues with the next pod while
 * it still binds this one. So the extender holds the capacity on the nodes that it returned, until the cluster shows where the pod went.
 */
export class Extender {
  readonly #binding: StandaloneBinding;
  readonly #holdMs: number;
  readonly #signal: AbortSignal;
  readonly #tentative: TentativeReservations;
  readonly #bindings: PodBindings;

  constructor({ binding, holdMs = holdMsDefault, signal }: ExtenderOptions) {
    this.#binding = binding;
    this.#holdMs = holdMs;
    this.#signal = signal;
    this.#tentative = new TentativeReservations(binding.index);
    this.#bindings = new PodBindings(binding, signal);
    binding.onChange((change) => this.#changed(change));
  }

  /** Which of the nodes fit. An empty result is not an error. */
  async filter({ pod, nodeNames, nodes }: ExtenderArgs): Promise<FilterResult> {
    await this.#waitForCache(pod, nodeNames);
    const timeout = new AbortController();
    const timer = this.#binding.clock.after(tentativeWaitMaxMs, () => timeout.abort());
    try {
      for (;;) {
        const assessment = this.#assess(pod, nodeNames);
        const isFinal = fitsSomewhere(assessment) || !this.#wouldFitWithoutTentative(pod, nodeNames);
        if (isFinal || timeout.signal.aborted) {
          this.#hold(pod, assessment);
          return this.#filterResult(assessment, nodes);
        }
        await this.#binding.nextChange(timeout.signal);
      }
    } finally {
      timer.cancel();
    }
  }

  /** Scores are integers from 0 to 10. */
  async prioritize({ pod, nodeNames }: ExtenderArgs): Promise<readonly HostPriority[]> {
    await this.#waitForCache(pod, nodeNames);
    const assessment = this.#assess(pod, nodeNames);
    this.#hold(pod, assessment);
    return assessment.answers.map((answer) => ({
      Host: answer.node,
      Score: answer.kind === 'fits' ? Math.round(answer.score / 10) : 0,
    }));
  }

  /** The nodes where the pod's volumes fit once the victims are deleted. */
  async preempt({ pod, victims }: PreemptionArgs): Promise<PreemptionResult> {
    await this.#waitForCache(pod, [...victims.keys()]);
    this.#tentative.release(pod.metadata?.uid ?? '');
    const kept = [...victims].filter(([node, { uids }]) => this.#fitsWithout(pod, node, uids));
    return { NodeNameToMetaVictims: Object.fromEntries(kept.map(metaVictims)) };
  }

  async bind(args: BindingArgs): Promise<BindingResult> {
    try {
      await this.#until(() => this.#isKnown(args), cacheWaitMaxMs);
      await this.#bindings.bind(args);
      return { Error: '' };
    } catch (error) {
      this.#signal.throwIfAborted();
      return { Error: messageOf(error) };
    }
  }

  // ── Deciding ──

  /** Ignores what is held for the pod itself. */
  #assess(pod: Pod, nodeNames: readonly string[]): Assessment {
    this.#tentative.expire(this.#binding.clock.monotonicMs());
    this.#tentative.release(pod.metadata?.uid ?? '');
    return this.#binding.assess(pod, nodeNames);
  }

  /** Whether the pod would fit, if nothing were held for pods whose node is not known yet. */
  #wouldFitWithoutTentative(pod: Pod, nodeNames: readonly string[]): boolean {
    if (this.#tentative.size === 0) return false;
    return this.#tentative.ignoring(() => fitsSomewhere(this.#binding.assess(pod, nodeNames)));
  }

  /** Only for pods that are in the cluster: no event would ever show what became of another. */
  #hold(pod: Pod, assessment: Assessment): void {
    if (!this.#isStored(pod)) return;
    const fitting = assessment.answers.filter((answer) => answer.kind === 'fits');
    const best = fitting.sort((one, other) => other.score - one.score).slice(0, heldNodesMax);
    const placements: Placement[] = best.flatMap(({ node }) => assessment.placementOn(node) ?? []);
    const untilMs = this.#binding.clock.monotonicMs() + this.#holdMs;
    this.#tentative.reserve(placements, { untilMs, lastRefusal: lastRefusal(pod) });
  }

  #fitsWithout(pod: Pod, node: string, uids: readonly string[]): boolean {
    const { index } = this.#binding;
    const savepoint = index.savepoint();
    try {
      const victims = [...index.pods.onNode(node)].filter(({ uid }) => uids.includes(uid));
      for (const { key } of victims) index.remove('Pod', key);
      return fitsSomewhere(this.#binding.assess(pod, [node]));
    } finally {
      index.rollback(savepoint);
    }
  }

  #filterResult({ answers, pod }: Assessment, nodes: ExtenderArgs['nodes']): FilterResult {
    const { index, rules, clock } = this.#binding;
    const messages = nodeMessages(answers, { pod, index, rules, nowMs: clock.nowMs() });
    const failed = (isUnresolvable: boolean) =>
      Object.fromEntries(
        answers
          .filter((answer) => answer.kind !== 'fits' && isUnresolvable === isUnresolvableNode(answer))
          .map(({ node }) => [node, messages.get(node) ?? '']),
      );
    const names = answers.filter(({ kind }) => kind === 'fits').map(({ node }) => node);
    const fitting = new Set(names);
    return {
      Nodes:
        nodes === undefined
          ? null
          : { items: nodes.filter(({ metadata }) => fitting.has(metadata?.name ?? '')) },
      NodeNames: nodes === undefined ? names : null,
      FailedNodes: failed(false),
      FailedAndUnresolvableNodes: failed(true),
      Error: '',
    };
  }

  // ── Observing the cluster ──

  /** kube-scheduler has seen the objects that it asks about; the extender's own cache may be behind. */
  async #waitForCache(pod: Pod, nodeNames: readonly string[]): Promise<void> {
    const { index } = this.#binding;
    const { claims } = readPod(pod);
    await this.#until(() => {
      const hasClaims = claims.every(({ key }) => index.claims.get(key) !== undefined);
      return (
        this.#isStored(pod) && hasClaims && nodeNames.every((name) => index.nodes.row(name) !== undefined)
      );
    }, cacheWaitMaxMs);
  }

  #isStored({ metadata: { namespace = '', name = '', uid = '' } = {} }: Pod): boolean {
    return this.#isKnown({ namespace, name, uid });
  }

  #isKnown({ namespace, name, uid }: Omit<BindingArgs, 'node'>): boolean {
    return this.#binding.feed.get('Pod', `${namespace}/${name}`)?.metadata?.uid === uid;
  }

  /** Checks the condition at every change, until it is true or the time is up. */
  async #until(condition: () => boolean, maxMs: number): Promise<void> {
    if (condition()) return;
    const timeout = new AbortController();
    const timer = this.#binding.clock.after(maxMs, () => timeout.abort());
    try {
      do await this.#binding.nextChange(timeout.signal);
      while (!timeout.signal.aborted && !condition());
    } finally {
      timer.cancel();
    }
  }

  #changed(change: ClusterChange): void {
    this.#tentative.observe(change);
    if (change.kind !== 'Pod' || change.after === undefined) return;
    const { key, uid } = change.after;
    const terms = this.#tentative.termsOf(uid);
    const pod = terms && this.#binding.feed.get('Pod', key);
    if (terms === undefined || pod === undefined) return;
    // kube-scheduler has refused the pod after the extender's answer, so it goes to none of the nodes for now.
    const refusal = lastRefusal(pod);
    if (refusal !== '' && refusal !== terms.lastRefusal) this.#tentative.release(uid);
  }
}

function fitsSomewhere({ answers }: Assessment): boolean {
  return answers.some(({ kind }) => kind === 'fits');
}

/** A node that is missing in the cache is not final: the next request may find it. */
function isUnresolvableNode(answer: NodeAssessment): boolean {
  return answer.kind === 'refused' && answer.isUnresolvable;
}

/** The last reason that kube-scheduler wrote for the pod's missing node; empty if none. */
function lastRefusal({ status }: Pod): string {
  const condition = getCondition(status?.conditions, 'PodScheduled');
  return condition?.status === 'False' ? `${condition.reason} ${condition.message}` : '';
}

function metaVictims([node, { uids, budgetViolations }]: readonly [string, VictimsOnNode]) {
  const pods = uids.map((uid) => ({ UID: uid }));
  return [node, { Pods: pods, NumPDBViolations: budgetViolations }] as const;
}
