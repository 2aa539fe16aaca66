import type { Pod } from '../../kube/api/core.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { type Placement, type PlanOptions, plan } from '../plan.ts';
import { type PodRecord, readPod } from '../records/pod-record.ts';
import type { Refusal } from '../refusal/refusal.ts';
import type { AnyRule } from '../rules/framework/rule.ts';
import { type NominatedByNode, nominatedRivals, withNominated } from './nominated-pods.ts';
import { type RuleRejection, rejectionsOn } from './rejections.ts';

export interface NominatedPlanOptions extends PlanOptions {
  /** Pods that wait for a node of their own (`nominatedNode`); those that count already where they stand are left out. */
  readonly nominated: readonly PodRecord[];
}

/**
 * Plans as if pods of equal or higher priority already stood on the nodes that room is being made for them on, as well as if they
 * didn't: the pod must fit there both ways, for they may yet go elsewhere. Lower ones have to yield anyway.
 *
 * A pod that is itself nominated goes there if it fits, however good others are: room was made for it there, or somebody wants it so.
 *
 * A node is held against the pods that are nominated to it, not to others. Where nobody is nominated, or not to the node that is
 * chosen, this costs no more than a plan.
 */
export function planWithNominated(
  pod: Pod,
  index: ClusterIndex,
  options: NominatedPlanOptions,
): Placement | Refusal {
  const { nominated, ...rest } = options;
  if (nominated.length === 0) return plan(pod, index, rest);
  const meant = rest.onlyNodes === undefined ? readPod(pod).nominatedNode : '';
  if (meant !== '' && index.nodes.row(meant) !== undefined) {
    const there = planAmong(pod, index, { ...rest, onlyNodes: [meant] }, nominated);
    if (there.kind === 'placement') return there;
  }
  return planAmong(pod, index, rest, nominated);
}

function planAmong(
  pod: Pod,
  index: ClusterIndex,
  rest: PlanOptions,
  nominated: readonly PodRecord[],
): Placement | Refusal {
  // May be an iterator, which can be read but once.
  const asked: PlanOptions = { ...rest, onlyNodes: rest.onlyNodes && [...rest.onlyNodes] };
  const answer = plan(pod, index, asked);
  if (answer.kind === 'refusal') return answer;
  const nominatedByNode = nominatedRivals(answer.pod, index, nominated);
  if (rejectionsWithNominated(answer, index, asked, nominatedByNode).length === 0) return answer;
  return planAround(pod, index, asked, nominatedByNode);
}

/** What speaks against the node once those are there that are nominated to it. */
function rejectionsWithNominated(
  { pod, node }: { readonly pod: PodRecord; readonly node: string },
  index: ClusterIndex,
  options: PlanOptions,
  nominatedByNode: NominatedByNode,
): readonly RuleRejection[] {
  const there = nominatedByNode.get(node);
  if (there === undefined) return [];
  return withNominated(index, there, () => rejectionsOn(node, pod, index, options));
}

/** The nodes that are taken are found all at once: one by one, each might cost a plan over all nodes. */
function planAround(
  pod: Pod,
  index: ClusterIndex,
  options: PlanOptions,
  nominatedByNode: NominatedByNode,
): Placement | Refusal {
  const record = readPod(pod);
  const taken = new Set<string>();
  const blockingRules = new Set<AnyRule>();
  for (const node of nominatedByNode.keys()) {
    for (const { rule } of rejectionsWithNominated({ pod: record, node }, index, options, nominatedByNode)) {
      taken.add(node);
      blockingRules.add(rule);
    }
  }
  const onlyNodes = namesIn(index, options).filter((node) => !taken.has(node));
  const answer = plan(pod, index, { ...options, onlyNodes });
  if (answer.kind === 'placement') return answer;
  // Once more, so that the refusal speaks of the taken nodes too.
  const inTheWay = [...taken].flatMap((node) => nominatedByNode.get(node) ?? []);
  const whole = withNominated(index, inTheWay, () => plan(pod, index, options));
  // Or it fits only beside pods that aren't there yet. Either way it waits for what speaks against each node by itself, too.
  return (whole.kind === 'placement' ? answer : whole).waitingForPreemption({
    blockingRules: [...blockingRules],
  });
}

function namesIn({ nodes }: ClusterIndex, { onlyNodes }: PlanOptions): string[] {
  return onlyNodes === undefined ? nodes.rowsByName.map((row) => nodes.record(row)!.key) : [...onlyNodes];
}
