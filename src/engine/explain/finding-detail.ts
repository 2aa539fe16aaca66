import type { Taint } from '../../kube/api/core.ts';
import { matchesRequirement, type Requirement } from '../../kube/selectors/requirement.ts';
import { toleratesTaint } from '../../kube/selectors/tolerations.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { nonNullItems } from '../records/field-readers.ts';
import type { NodeRecord } from '../records/node-record.ts';
import type { PodRecord } from '../records/pod-record.ts';
import { hostPortsOf } from '../records/pod-shape/host-ports.ts';
import { podTermsOf } from '../records/pod-shape/pod-affinity.ts';
import { podNodeAffinityOf } from '../records/pod-shape/pod-node-affinity.ts';
import type { Finding } from '../rules/framework/finding.ts';

/** The taint, label, port or volume that a finding is about, as text. Empty if the reason says everything. */
export function findingDetail(finding: Finding, pod: PodRecord, node: string, index: ClusterIndex): string {
  const record = index.nodes.get(node);
  if (record === undefined) return '';
  switch (finding.reason) {
    case 'TaintNotTolerated':
      return untolerated(pod, record).map(taintText).join(', ');
    case 'NodeAffinityMismatch':
      return lackingLabels(pod, record);
    case 'PortsTaken':
      return takenPorts(pod, node, index);
    case 'ClaimPinnedElsewhere':
      return `for ${index.claims.get(finding.claim ?? '')?.selectedNode || 'a node without a name'}`;
    case 'BoundVolumeUnreachable':
    case 'ZoneMismatch':
      return finding.candidates.map(({ name }) => name).join(', ');
    case 'AttachLimitReached':
      return finding.margin?.unit === 'volumes' ? finding.margin.driver : '';
    case 'AntiAffinityNotMet':
      return topologyKeys(podTermsOf(pod.shape).requiredAnti);
    case 'AffinityNotMet':
      return topologyKeys(podTermsOf(pod.shape).required);
    default:
      return '';
  }
}

export function taintText({ key = '', value = '', effect = 'NoSchedule' }: Taint): string {
  return `${key}${value === '' ? '' : `=${value}`}:${effect}`;
}

function untolerated({ shape }: PodRecord, { taints }: NodeRecord): readonly Taint[] {
  const tolerations = nonNullItems(shape.spec.tolerations);
  return taints.filter(
    (taint) =>
      taint.effect !== 'PreferNoSchedule' &&
      !tolerations.some((toleration) => toleratesTaint(toleration, taint)),
  );
}

/** The unmet requirements of the term that has the fewest of them. */
function lackingLabels({ shape }: PodRecord, { labels }: NodeRecord): string {
  const lacking = (podNodeAffinityOf(shape).required?.terms ?? [])
    .map(({ requirements }) =>
      requirements.filter((requirement) => !matchesRequirement(requirement, labels)).map(requirementText),
    )
    .sort((a, b) => a.length - b.length);
  return (lacking[0] ?? []).join(', ');
}

function requirementText({ key, operator, values, bound }: Requirement): string {
  const list = [...values].join(', ');
  switch (operator) {
    case 'In':
      return values.size === 1 ? `${key}=${list}` : `${key} in (${list})`;
    case 'NotIn':
      return `${key} not in (${list})`;
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    case 'Gt':
      return `${key} > ${bound}`;
    case 'Lt':
      return `${key} < ${bound}`;
  }
}

function takenPorts({ shape }: PodRecord, node: string, { nodes, ports }: ClusterIndex): string {
  const row = nodes.row(node);
  const taken = hostPortsOf(shape).filter((port) => row !== undefined && ports.isUsedOn(row, port));
  return taken.map(({ key }) => key).join(', ');
}

function topologyKeys(terms: readonly { readonly topologyKey: string }[]): string {
  const keys = new Set(terms.map(({ topologyKey }) => topologyKey));
  return keys.size === 0 ? '' : `by ${[...keys].join(', ')}`;
}
