import type { ClusterChange, ObjectChange } from '../../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { haveSameLabels } from '../../records/labels.ts';
import type { NodeRecord } from '../../records/node-record.ts';
import { type PodTerm, podTermsOf, termMatches } from '../../records/pod-affinity.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import { hasSchedulingChange } from '../../records/pod-record.ts';
import type { Interest } from '../framework/rule.ts';
import { nodeClaimKey, nodesClaimed } from '../wake-conditions/pod-moves.ts';
import { selects } from './affinity-state.ts';

/** Beyond kube-scheduler's hints: namespaces, and that the last pod of a kind goes, so that another may be its first. */
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

/** As {@link affinityWakes}, which takes no side; and what is preferred may change the ranking. */
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

/** A node that moves between domains takes its pods along. */
function nodeMatters(pod: PodRecord, { before, after }: ObjectChange<'Node'>, index: ClusterIndex): boolean {
  if (before === undefined || after === undefined) return true;
  const standing = index.relations.terms.antiAffinityTerms(index.relations.termTarget(pod));
  const keys = [...requiredTermsOf(pod), ...standing.map(({ term }) => term)].map((term) => term.topologyKey);
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
  const left = standsSomewhere(before) ? before : undefined;
  const came = standsSomewhere(after) ? after : undefined;
  if (left !== undefined && came !== undefined && standsTheSame(left, came)) return false;
  return [left, came].some(
    (other) =>
      other !== undefined &&
      (terms.some((term) => selects(index, pod, term, other)) || hasTermAbout(other, pod, index)),
  );
}

/** On a node, or about to be: a plan also reckons with pods that room is being made for. */
function standsSomewhere(pod: PodRecord | undefined): boolean {
  return nodesClaimed(pod).length > 0;
}

/** Everything that terms read of a pod on a node. */
function standsTheSame(before: PodRecord, after: PodRecord): boolean {
  return (
    nodeClaimKey(before) === nodeClaimKey(after) &&
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

/** Namespaces are selected by the pod's terms, and by others' terms that are about it. */
function namespaceMatters(pod: PodRecord, { before, after }: ObjectChange<'Namespace'>): boolean {
  if (before !== undefined && after !== undefined && haveSameLabels(before, after)) return false;
  if ((after ?? before)!.key === pod.namespace) return true;
  const { required, requiredAnti, preferred } = podTermsOf(pod.shape);
  return [required, requiredAnti, preferred].some((terms) =>
    terms.some(({ namespaceSelector }) => namespaceSelector !== undefined),
  );
}
