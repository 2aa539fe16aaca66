import { matchesLabels } from '../../../kube/selectors/label-selector.ts';
import type { ClusterChange, ObjectChange } from '../../cluster-index/cluster-change.ts';
import { taintsKey } from '../../cluster-index/nodes/taint-table.ts';
import { haveSameLabels } from '../../records/labels.ts';
import type { NodeRecord } from '../../records/node-record.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import { hasSchedulingChange } from '../../records/pod-record.ts';
import {
  type SpreadConstraint,
  selectorFor,
  spreadConstraintsOf,
} from '../../records/pod-shape/spread-constraints.ts';
import type { Interest } from '../framework/rule.ts';
import { occupancyKey } from '../wake-conditions/pod-moves.ts';

/** One more pod may raise the minimum and one pod less lowers a skew, so either may help, in any domain. */
export function spreadWakes({ pod }: Interest, change: ClusterChange): boolean {
  const { hard } = spreadConstraintsOf(pod.shape);
  switch (change.kind) {
    case 'Node':
      return nodeMatters(hard, change);
    case 'Pod':
      return podMatters(pod, hard, change);
    case 'Release':
      return change.nodeName !== '';
    default:
      return false;
  }
}

/** As {@link spreadWakes}, which covers both directions; in addition changes that affect only the scores. */
export function spreadInvalidates(interest: Interest, change: ClusterChange): boolean {
  const { pod } = interest;
  const { hard, soft, isEmpty } = spreadConstraintsOf(pod.shape);
  switch (change.kind) {
    case 'Node':
      return true;
    case 'Pod':
      return podMatters(pod, [...hard, ...soft], change) || (isEmpty && isInNamespace(pod.namespace, change));
    case 'Service':
    case 'ReplicationController':
    case 'ReplicaSet':
    case 'StatefulSet':
      return isEmpty && (change.after ?? change.before)!.namespace === pod.namespace;
    default:
      return spreadWakes(interest, change);
  }
}

/** Only nodes with all topology labels take part. Their other labels and their taints decide whether they count. */
function nodeMatters(
  constraints: readonly SpreadConstraint[],
  { before, after }: ObjectChange<'Node'>,
): boolean {
  const tookPart = takesPart(constraints, before);
  if (!tookPart && !takesPart(constraints, after)) return false;
  if (before === undefined || after === undefined) return true;
  return !haveSameLabels(before, after) || taintsKey(before.taints) !== taintsKey(after.taints);
}

function takesPart(constraints: readonly SpreadConstraint[], node: NodeRecord | undefined): boolean {
  return (
    node !== undefined && constraints.every(({ topologyKey }) => Object.hasOwn(node.labels, topologyKey))
  );
}

function podMatters(
  pod: PodRecord,
  constraints: readonly SpreadConstraint[],
  { before, after }: ObjectChange<'Pod'>,
): boolean {
  if ((after ?? before)!.key === pod.key) return hasSchedulingChange(pod, after);
  return constraints.some((constraint) => {
    const selector = selectorFor(constraint, pod.labels);
    const occupancy = (other: PodRecord | undefined): string | undefined =>
      other !== undefined &&
      !other.isDeleting &&
      other.namespace === pod.namespace &&
      matchesLabels(selector, other.labels)
        ? occupancyKey(other)
        : undefined;
    return occupancy(before) !== occupancy(after);
  });
}

function isInNamespace(namespace: string, { before, after }: ObjectChange<'Pod'>): boolean {
  return (after ?? before)!.namespace === namespace;
}
