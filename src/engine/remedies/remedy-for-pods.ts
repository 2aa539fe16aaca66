import type { Pod } from '../../kube/api/core.ts';
import { podRequests } from '../../kube/quantities/pod-requests.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { Ledger } from '../ledger/ledger.ts';
import { plan } from '../plan.ts';
import { readPod } from '../records/pod-record.ts';
import { defaultRules } from '../rules/default-rules.ts';
import { amountOf } from './amounts.ts';
import type { RemedyOptions } from './find-remedies.ts';
import type { Remedy } from './remedy-collection.ts';
import type { RemedyStep } from './remedy-step.ts';
import { smallestEnough } from './smallest-amount.ts';
import { type SearchContext, WhatIf } from './what-if.ts';

/** A remedy that was tried on several pods. */
export interface RemedyForPods {
  /** Its amounts may be larger than for one pod. */
  readonly remedy: Remedy;
  /** The keys of the pods that fit with it, all at the same time. */
  readonly helped: readonly string[];
}

export interface PendingPods {
  /** They take their resources in this order. */
  readonly pods: readonly Pod[];
  /** The keys of pods with the same template: if the remedy changes one of them, it changes all. */
  readonly alike: ReadonlySet<string>;
}

/**
 * Tries a remedy for one pod on several. The pods are placed one after the other, so no two of them count with the same capacity. If a
 * pool or node grows, it grows by the least that helps as many pods as any growth does. Leaves the index as it was.
 */
export function tryOnPods(
  remedy: Remedy,
  pending: PendingPods,
  index: ClusterIndex,
  options: RemedyOptions,
): RemedyForPods {
  const fitting = (steps: readonly RemedyStep[]) => podsFittingWith(steps, pending, index, options);
  const helped = fitting(remedy.steps);
  const at = remedy.steps.findIndex(isGrowth);
  const step = remedy.steps[at];
  if (step?.withAmount === undefined || helped.length === pending.pods.length) return { remedy, helped };
  const { withAmount } = step;
  const stepsWith = (amount: number) => remedy.steps.with(at, withAmount(amount));
  const most = step.amount + totalNeed(step, pending.pods, index);
  const mostHelped = Number.isSafeInteger(most) ? fitting(stepsWith(most)) : helped;
  if (mostHelped.length <= helped.length) return { remedy, helped };
  const isEnough = (amount: number) => fitting(stepsWith(amount)).length >= mostHelped.length;
  const steps = stepsWith(smallestEnough(step.amount, most, isEnough));
  return { remedy: { ...remedy, steps }, helped: fitting(steps) };
}

function isGrowth({ action }: RemedyStep): boolean {
  return action === 'GrowPool' || action === 'GrowNode';
}

/** More than all the pods together can need of what grows. */
function totalNeed({ action, scope }: RemedyStep, pods: readonly Pod[], index: ClusterIndex): number {
  return pods.reduce(
    (sum, pod) => sum + (action === 'GrowPool' ? storageOf(pod, index) : needOf(pod, scope)),
    0,
  );
}

function storageOf(pod: Pod, index: ClusterIndex): number {
  const { claims, inlineVolumes } = readPod(pod);
  const sizes = [
    ...claims.map(({ key }) => index.claims.get(key)?.request?.bytes ?? 0),
    ...inlineVolumes.map(({ size }) => size?.bytes ?? 0),
  ];
  return Math.ceil(sizes.reduce((sum, bytes) => sum + bytes, 0));
}

function needOf(pod: Pod, resource: string): number {
  return resource === 'pods' ? 1 : amountOf(podRequests(pod.spec ?? {}), resource);
}

/** The keys of the pods that fit at the same time after the steps. */
export function podsFittingWith(
  steps: readonly RemedyStep[],
  { pods, alike }: PendingPods,
  index: ClusterIndex,
  { nowMs, objects, rules = defaultRules }: RemedyOptions,
): readonly string[] {
  const budget = { evaluations: 0, explanations: 0 };
  const context: SearchContext = { index, objects, nowMs, rules, budget, records: new WeakMap() };
  return new WhatIf(context, '', {}).withSteps(steps, () => {
    const ledger = new Ledger(index);
    return pods.flatMap((pod) => {
      const { key } = readPod(pod);
      const answer = plan(alike.has(key) ? changedBy(steps, pod) : pod, index, { nowMs, rules });
      return answer.kind === 'placement' && ledger.reserve(answer).kind === 'reserved' ? [key] : [];
    });
  });
}

function changedBy(steps: readonly RemedyStep[], pod: Pod): Pod {
  return steps
    .flatMap(({ edits }) => edits)
    .reduce((changed, edit) => (edit.type === 'change pod' ? edit.change(changed) : changed), pod);
}
