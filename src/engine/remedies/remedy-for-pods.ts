import type { Pod } from '../../kube/api/core.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { Ledger } from '../ledger/ledger.ts';
import { plan } from '../plan.ts';
import { readPod } from '../records/pod-record.ts';
import { defaultRules } from '../rules/default-rules.ts';
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

/** More new nodes than this are another cluster. */
const newNodesMax = 20;

/**
 * Tries a remedy for one pod on several. The pods are placed one after the other, so no two of them count with the same capacity. A pool
 * grows, and nodes are added, by the least that helps as many pods as any amount does. Leaves the index as it was.
 */
export function tryOnPods(
  remedy: Remedy,
  pending: PendingPods,
  index: ClusterIndex,
  options: RemedyOptions,
): RemedyForPods {
  const fitting = (steps: readonly RemedyStep[]) => podsFittingWith(steps, pending, index, options);
  const helped = fitting(remedy.steps);
  const growth = growthOf(remedy, pending.pods, index);
  if (growth === undefined || helped.length === pending.pods.length) return { remedy, helped };
  const mostHelped = fitting(growth.stepsWith(growth.most));
  if (mostHelped.length <= helped.length) return { remedy, helped };
  const isEnough = (amount: number) => fitting(growth.stepsWith(amount)).length >= mostHelped.length;
  const steps = growth.stepsWith(smallestEnough(growth.least, growth.most, isEnough));
  return { remedy: { ...remedy, steps }, helped: fitting(steps) };
}

/** How a remedy for one pod can be enlarged for several. */
interface RemedyGrowth {
  readonly least: number;
  /** More than all the pods together can need. */
  readonly most: number;
  readonly stepsWith: (amount: number) => readonly RemedyStep[];
}

/** Undefined if the remedy has no step that can grow. An existing node does not grow for several pods: a user adds a node instead. */
function growthOf({ steps }: Remedy, pods: readonly Pod[], index: ClusterIndex): RemedyGrowth | undefined {
  for (const [at, { action, amount, withAmount, repeated }] of steps.entries()) {
    if (repeated !== undefined) {
      const most = Math.min(newNodesMax, pods.length);
      return { least: 1, most, stepsWith: (count) => steps.with(at, repeated(count)) };
    }
    if (action !== 'GrowPool' || withAmount === undefined) continue;
    const most = amount + pods.reduce((sum, pod) => sum + storageOf(pod, index), 0);
    if (Number.isSafeInteger(most))
      return { least: amount, most, stepsWith: (other) => steps.with(at, withAmount(other)) };
  }
  return undefined;
}

function storageOf(pod: Pod, index: ClusterIndex): number {
  const { claims, inlineVolumes } = readPod(pod);
  const sizes = [
    ...claims.map(({ key }) => index.claims.get(key)?.request?.bytes ?? 0),
    ...inlineVolumes.map(({ size }) => size?.bytes ?? 0),
  ];
  return Math.ceil(sizes.reduce((sum, bytes) => sum + bytes, 0));
}

/** The keys of the pods that fit at the same time after the steps. */
function podsFittingWith(
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
