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
  /** How long room is kept for a pod that kube-scheduler was told nodes for, if nothing is heard of it. */
  readonly holdMs?: number | undefined;
  /** Ends what is being bound. */
  readonly signal: AbortSignal;
}

const holdMsDefault = 30_000;
/** kube-scheduler looks at no more nodes than that among thousands, and it is for so many that room is kept at most. */
const heldNodesMax = 500;
/** Our caches may be behind kube-scheduler's; it gives up after five seconds in all. */
const catchUpMaxMs = 1_000;
/** So long may it take until it shows which node the pods before this one have gone to. */
const clearUpMaxMs = 1_000;

/**
 * What kube-scheduler asks. It calls `filter`, then `prioritize` if several nodes are left, and goes on to the next pod while it still
 * writes about this one; so what `filter` said yes to is kept for the pod until the cluster shows what came of it.
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

  /** Which of the nodes would do. That none does is an answer like any other. */
  async filter({ pod, nodeNames, nodes }: ExtenderArgs): Promise<FilterResult> {
    await this.#caughtUp(pod, nodeNames);
    const giveUp = new AbortController();
    const timer = this.#binding.clock.after(clearUpMaxMs, () => giveUp.abort());
    try {
      for (;;) {
        const assessment = this.#assess(pod, nodeNames);
        const isClear = fitsSomewhere(assessment) || !this.#isOnlyTentative(pod, nodeNames);
        if (isClear || giveUp.signal.aborted) {
          this.#take(pod, assessment);
          return this.#filterResult(assessment, nodes);
        }
        await this.#binding.nextChange(giveUp.signal);
      }
    } finally {
      timer.cancel();
    }
  }

  /** From 0 to 10, whole numbers. */
  async prioritize({ pod, nodeNames }: ExtenderArgs): Promise<readonly HostPriority[]> {
    await this.#caughtUp(pod, nodeNames);
    const assessment = this.#assess(pod, nodeNames);
    this.#take(pod, assessment);
    return assessment.answers.map((answer) => ({
      Host: answer.node,
      Score: answer.kind === 'fits' ? Math.round(answer.score / 10) : 0,
    }));
  }

  /** The nodes where the pod's volumes would fit once the victims are gone. */
  async preempt({ pod, victims }: PreemptionArgs): Promise<PreemptionResult> {
    await this.#caughtUp(pod, [...victims.keys()]);
    this.#tentative.drop(pod.metadata?.uid ?? '');
    const kept = [...victims].filter(([node, { uids }]) => this.#fitsWithout(pod, node, uids));
    return { NodeNameToMetaVictims: Object.fromEntries(kept.map(metaVictims)) };
  }

  async bind(args: BindingArgs): Promise<BindingResult> {
    try {
      await this.#until(() => this.#isKnown(args), catchUpMaxMs);
      await this.#bindings.bind(args);
      return { Error: '' };
    } catch (error) {
      this.#signal.throwIfAborted();
      return { Error: messageOf(error) };
    }
  }

  // ── Deciding ──

  /** What the pod took itself isn't in its way. */
  #assess(pod: Pod, nodeNames: readonly string[]): Assessment {
    this.#tentative.expire(this.#binding.clock.monotonicMs());
    this.#tentative.drop(pod.metadata?.uid ?? '');
    return this.#binding.assess(pod, nodeNames);
  }

  /** It would fit, were it not for pods of which nobody knows yet where they go. */
  #isOnlyTentative(pod: Pod, nodeNames: readonly string[]): boolean {
    if (this.#tentative.size === 0) return false;
    return this.#tentative.without(() => fitsSomewhere(this.#binding.assess(pod, nodeNames)));
  }

  #take(pod: Pod, assessment: Assessment): void {
    const fitting = assessment.answers.filter((answer) => answer.kind === 'fits');
    const best = fitting.sort((one, other) => other.score - one.score).slice(0, heldNodesMax);
    const placements: Placement[] = best.flatMap(({ node }) => assessment.placementOn(node) ?? []);
    const untilMs = this.#binding.clock.monotonicMs() + this.#holdMs;
    this.#tentative.take(placements, { untilMs, said: lastRefusal(pod) });
  }

  #fitsWithout(pod: Pod, node: string, uids: readonly string[]): boolean {
    const { index } = this.#binding;
    const savepoint = index.savepoint();
    try {
      const leaving = [...index.pods.onNode(node)].filter(({ uid }) => uids.includes(uid));
      for (const { key } of leaving) index.remove('Pod', key);
      return fitsSomewhere(this.#binding.assess(pod, [node]));
    } finally {
      index.rollback(savepoint);
    }
  }

  #filterResult({ answers, pod }: Assessment, nodes: ExtenderArgs['nodes']): FilterResult {
    const { index, rules, clock } = this.#binding;
    const texts = nodeMessages(answers, { pod, index, rules, nowMs: clock.nowMs() });
    const failed = (isUnresolvable: boolean) =>
      Object.fromEntries(
        answers
          .filter((answer) => answer.kind !== 'fits' && isUnresolvable === isHopeless(answer))
          .map(({ node }) => [node, texts.get(node) ?? '']),
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

  // ── Hearing ──

  /** What kube-scheduler has passed on to us it has seen; we may have to wait for it. */
  async #caughtUp(pod: Pod, nodeNames: readonly string[]): Promise<void> {
    const { index } = this.#binding;
    const { claims } = readPod(pod);
    await this.#until(() => {
      const hasClaims = claims.every(({ key }) => index.claims.get(key) !== undefined);
      return hasClaims && nodeNames.every((name) => index.nodes.row(name) !== undefined);
    }, catchUpMaxMs);
  }

  #isKnown({ namespace, name, uid }: BindingArgs): boolean {
    return this.#binding.feed.get('Pod', `${namespace}/${name}`)?.metadata?.uid === uid;
  }

  /** Looks again at every change, until it is so or the time is up. */
  async #until(isSo: () => boolean, maxMs: number): Promise<void> {
    if (isSo()) return;
    const giveUp = new AbortController();
    const timer = this.#binding.clock.after(maxMs, () => giveUp.abort());
    try {
      do await this.#binding.nextChange(giveUp.signal);
      while (!giveUp.signal.aborted && !isSo());
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
    // It has been refused anew, after our answer: it goes nowhere for now.
    const said = lastRefusal(pod);
    if (said !== '' && said !== terms.said) this.#tentative.drop(uid);
  }
}

function fitsSomewhere({ answers }: Assessment): boolean {
  return answers.some(({ kind }) => kind === 'fits');
}

/** A node that we don't know yet may be known by the next time. */
function isHopeless(answer: NodeAssessment): boolean {
  return answer.kind === 'refused' && answer.isUnresolvable;
}

/** What kube-scheduler last wrote about why it has no node; empty if it has not. */
function lastRefusal({ status }: Pod): string {
  const condition = getCondition(status?.conditions, 'PodScheduled');
  return condition?.status === 'False' ? `${condition.reason} ${condition.message}` : '';
}

function metaVictims([node, { uids, budgetViolations }]: readonly [string, VictimsOnNode]) {
  const pods = uids.map((uid) => ({ UID: uid }));
  return [node, { Pods: pods, NumPDBViolations: budgetViolations }] as const;
}
