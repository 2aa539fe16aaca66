import type { Pod } from '../../kube/api/core.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import type { FilterOptions } from '../evaluation/filter-nodes.ts';
import { type Placement, type PlanOptions, placeOnNode, plan } from '../plan.ts';
import { type PodRecord, readPod } from '../records/pod-record.ts';
import type { Refusal } from '../refusal/refusal.ts';
import { type NominatedByNode, nominatedRivals, withNominated } from './nominated-pods.ts';
import { mayTakeBytes } from './nominated-volumes.ts';
import { blockingOf, type RuleRejection, rejectionsOn } from './rejections.ts';

export interface NominatedPlanOptions extends PlanOptions {
  /** Pods that wait for the node that they are nominated to (`nominatedNode`). Pods that already count on a node are ignored. */
  readonly nominated: readonly PodRecord[];
}

/**
 * Plans with and without the nominated pods of equal or higher priority on their nodes. The pod must fit both ways, because a nominated
 * pod may still go elsewhere. Nominated pods of lower priority are ignored: they would have to yield anyway.
 *
 * A pod that is nominated itself goes to that node if it fits there, however well others score, because its victims were evicted there or
 * a user set the nomination.
 *
 * For each node only the pods nominated to that node count. If no pod is nominated to the chosen node, this costs no more than a plan.
 */
export function planWithNominated(
  pod: Pod,
  index: ClusterIndex,
  options: NominatedPlanOptions,
): Placement | Refusal {
  const { nominated, ...rest } = options;
  if (nominated.length === 0) return plan(pod, index, rest);
  const nominatedNode = rest.onlyNodes === undefined ? readPod(pod).nominatedNode : '';
  if (nominatedNode !== '' && index.nodes.row(nominatedNode) !== undefined) {
    const there = planAmong(pod, index, { ...rest, onlyNodes: [nominatedNode] }, nominated);
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
  // `onlyNodes` may be an iterator, which can be read only once.
  const asked: PlanOptions = { ...rest, onlyNodes: rest.onlyNodes && [...rest.onlyNodes] };
  const answer = plan(pod, index, asked);
  if (answer.kind === 'refusal') return answer;
  const nominatedByNode = nominatedRivals(answer.pod, index, nominated);
  if (rejectionsWithNominated(answer, index, asked, nominatedByNode).length === 0)
    return besideNominated(pod, answer, index, { ...asked, nominatedByNode });
  return planAround(pod, index, asked, nominatedByNode);
}

/** The same placement; but if the node has several pools, with those that leave the nominated pods theirs. */
function besideNominated(
  pod: Pod,
  placement: Placement,
  index: ClusterIndex,
  { nominatedByNode, ...options }: FilterOptions & { readonly nominatedByNode: NominatedByNode },
): Placement {
  const { node, provisions, inlineVolumes } = placement;
  const there = nominatedByNode.get(node);
  if (provisions.length + inlineVolumes.length === 0 || !there?.some(mayTakeBytes)) return placement;
  const beside = withNominated(index, there, options, () => placeOnNode(pod, index, node, options));
  if (beside === undefined) return placement;
  const { bindings, provisions: provisioned, inlineVolumes: inline } = beside;
  return { ...placement, bindings, provisions: provisioned, inlineVolumes: inline };
}

/** Why the node is rejected once the pods that are nominated to it are there. */
function rejectionsWithNominated(
  { pod, node }: { readonly pod: PodRecord; readonly node: string },
  index: ClusterIndex,
  options: PlanOptions,
  nominatedByNode: NominatedByNode,
): readonly RuleRejection[] {
  const there = nominatedByNode.get(node);
  if (there === undefined) return [];
  return withNominated(index, there, options, () => rejectionsOn(node, pod, index, options));
}

/** Finds all nodes that nominated pods take, in one pass. Finding them one by one could cost a plan over all nodes for each. */
function planAround(
  pod: Pod,
  index: ClusterIndex,
  options: PlanOptions,
  nominatedByNode: NominatedByNode,
): Placement | Refusal {
  const record = readPod(pod);
  const taken = new Set<string>();
  const rejections: RuleRejection[] = [];
  for (const node of nominatedByNode.keys()) {
    const found = rejectionsWithNominated({ pod: record, node }, index, options, nominatedByNode);
    if (found.length > 0) taken.add(node);
    rejections.push(...found);
  }
  const onlyNodes = namesIn(index, options).filter((node) => !taken.has(node));
  const answer = plan(pod, index, { ...options, onlyNodes });
  if (answer.kind === 'placement')
    return besideNominated(pod, answer, index, { ...options, nominatedByNode });
  // Plan once more, so that the refusal covers the taken nodes too.
  const blocking = [...taken].flatMap((node) => nominatedByNode.get(node) ?? []);
  const whole = withNominated(index, blocking, options, () => plan(pod, index, options));
  // It may fit only together with pods that are not there yet (pod affinity). Either way it also waits for the rules that reject each taken
  // node.
  return (whole.kind === 'placement' ? answer : whole).waitingForPreemption(blockingOf(rejections));
}

function namesIn({ nodes }: ClusterIndex, { onlyNodes }: PlanOptions): string[] {
  return onlyNodes === undefined ? nodes.rowsByName.map((row) => nodes.record(row)!.key) : [...onlyNodes];
}
