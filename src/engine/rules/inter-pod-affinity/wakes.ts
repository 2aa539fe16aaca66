import type { ClusterChange, ObjectChange } from '../../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { haveSameLabels } from '../../records/labels.ts';
import type { NodeRecord } from '../../records/node-record.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import { hasSchedulingChange } from '../../records/pod-record.ts';
import { type PodTerm, podTermsOf, termMatches } from '../../records/pod-shape/pod-affinity.ts';
import type { Interest } from '../framework/rule.ts';
import { occupancyKey, occupiedNodes } from '../wake-conditions/pod-moves.ts';
import { selects } from './affinity-state.ts';

/** More than kube-scheduler's queueing hints: also namespaces, and the removal of the last matching pod, after which a pod may be the first. */
export function affinityWakes({ pod }: Interest, change: ClusterChange, index: ClusterIndex): boolean {
  switch (change.kind) {
    case 'Node':
      return nodeMatters(pod, change, index);
    case 'Pod':
      return podMatters(pod, change, index, requiredTermsOf(pod));
    case 'Namespace':
      return namespaceMatters(pod, change);
    case 'Release':
      return change.nodeName !== '';
    default:
      return false;
  }
}

/** As {@link affinityWakes}, which covers both directions; in addition preferred terms may change the scores. */
export function affinityInvalidates(interest: Interest, change: ClusterChange, index: ClusterIndex): boolean {
  const { pod } = interest;
  switch (change.kind) {
    case 'Node':
      return true;
    case 'Pod':
      return podMatters(pod, change, index, [...requiredTermsOf(pod), ...podTermsOf(pod.shape).preferred]);
    default:
      return affinityWakes(interest, change, index);
  }
}

function requiredTermsOf(pod: PodRecord): readonly PodTerm[] {
  const { required, requiredAnti } = podTermsOf(pod.shape);
  return [...required, ...requiredAnti];
}

/** A node that changes its domain moves its pods with it. */
function nodeMatters(pod: PodRecord, { before, after }: ObjectChange<'Node'>, index: ClusterIndex): boolean {
  if (before === undefined || after === undefined) return true;
  const existing = index.relations.terms.antiAffinityTerms(index.relations.termTarget(pod));
  const keys = [...requiredTermsOf(pod), ...existing.map(({ term }) => term)].map((term) => term.topologyKey);
  return keys.some((key) => labelOf(before, key) !== labelOf(after, key));
}

function labelOf({ labels }: NodeRecord, key: string): string | undefined {
  return labels[key];
}

function podMatters(
  pod: PodRecord,
  { before, after }: ObjectChange<'Pod'>,
  index: ClusterIndex,
  terms: readonly PodTerm[],
): boolean {
  if ((after ?? before)!.key === pod.key) return hasSchedulingChange(pod, after);
  const left = hasNode(before) ? before : undefined;
  const came = hasNode(after) ? after : undefined;
  if (left !== undefined && came !== undefined && isUnchanged(left, came)) return false;
  return [left, came].some(
    (other) =>
      other !== undefined &&
      (terms.some((term) => selects(index, pod, term, other)) || hasTermAbout(other, pod, index)),
  );
}

/** On a node or nominated to one: a plan also counts nominated pods. */
function hasNode(pod: PodRecord | undefined): boolean {
  return occupiedNodes(pod).length > 0;
}

/** Whether everything that terms read of a pod on a node is the same. */
function isUnchanged(before: PodRecord, after: PodRecord): boolean {
  return (
    occupancyKey(before) === occupancyKey(after) &&
    podTermsOf(before.shape).key === podTermsOf(after.shape).key &&
    haveSameLabels(before, after)
  );
}

function hasTermAbout(other: PodRecord, pod: PodRecord, index: ClusterIndex): boolean {
  const about = index.relations.termTarget(pod);
  const { required, requiredAnti, preferred } = podTermsOf(other.shape);
  return [requiredAnti, required, preferred].some((terms) =>
    terms.some((term) => termMatches(term, other.namespace, about)),
  );
}

/** The pod's terms select namespaces, and terms of other pods may select the pod's namespace. */
function namespaceMatters(pod: PodRecord, { before, after }: ObjectChange<'Namespace'>): boolean {
  if (before !== undefined && after !== undefined && haveSameLabels(before, after)) return false;
  if ((after ?? before)!.key === pod.namespace) return true;
  const { required, requiredAnti, preferred } = podTermsOf(pod.shape);
  return [required, requiredAnti, preferred].some((terms) =>
    terms.some(({ namespaceSelector }) => namespaceSelector !== undefined),
  );
}
