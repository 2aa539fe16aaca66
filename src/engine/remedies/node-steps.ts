import type { Node, NodeSelector, Pod, Taint, Toleration } from '../../kube/api/core.ts';
import { compileNodeSelector, matchesNode } from '../../kube/selectors/node-selector.ts';
import { matchesRequirement, type Requirement } from '../../kube/selectors/requirement.ts';
import { toleratesTaint } from '../../kube/selectors/tolerations.ts';
import { textOf } from '../../kube/wire.ts';
import { taintText } from '../explain/finding-detail.ts';
import { nonNullItems } from '../records/field-readers.ts';
import type { MatcherTerm } from '../records/node-matcher.ts';
import { podNodeAffinityOf } from '../records/pod-shape/pod-node-affinity.ts';
import { isKubernetesTaint, isNodeIdentityLabel, isNodeRemovalTaint } from './node-facts.ts';
import { changing, type RemedyStep, requiredNodeAffinity } from './remedy-step.ts';
import type { WhatIf } from './what-if.ts';

const cordonTaint = 'node.kubernetes.io/unschedulable';

/** Also removes the taint that comes with `spec.unschedulable`. */
export function uncordonSteps({ node }: WhatIf): RemedyStep[] {
  const change = (object: Node): Node => ({
    ...object,
    spec: {
      ...object.spec,
      unschedulable: false,
      taints: nonNullItems(object.spec?.taints).filter(({ key }) => key !== cordonTaint),
    },
  });
  return [ofNode('UncordonNode', node, [], change)];
}

/** Either the node loses its taints or the pod tolerates them. A pod should not tolerate a taint that reports the node's condition. */
export function taintSteps(whatIf: WhatIf): RemedyStep[] {
  const tolerations = nonNullItems(whatIf.pod.spec?.tolerations);
  const isUntolerated = (taint: Taint) =>
    taint.effect !== 'PreferNoSchedule' &&
    !tolerations.some((toleration) => toleratesTaint(toleration, taint));
  const untolerated = nonNullItems(whatIf.get('Node', whatIf.node)?.spec?.taints).filter(isUntolerated);
  if (untolerated.length === 0 || untolerated.some(isNodeRemovalTaint)) return [];
  const names = untolerated.map(taintText);
  const removal = ofNode('RemoveTaint', whatIf.node, names, (node) => ({
    ...node,
    spec: { ...node.spec, taints: nonNullItems(node.spec?.taints).filter((taint) => !isUntolerated(taint)) },
  }));
  if (untolerated.some(({ key }) => isKubernetesTaint(textOf(key)))) return [removal];
  const added = untolerated.map(tolerationOf);
  const tolerating = ofPod('TolerateTaint', whatIf, names, (pod) => ({
    ...pod,
    spec: { ...pod.spec, tolerations: [...nonNullItems(pod.spec?.tolerations), ...added] },
  }));
  return [removal, tolerating];
}

function tolerationOf({ key, value, effect }: Taint): Toleration {
  const isPlain = value === undefined || value === '';
  return {
    key: textOf(key),
    ...(isPlain ? { operator: 'Exists' as const } : { operator: 'Equal' as const, value }),
    ...(effect !== undefined && { effect }),
  };
}

/** Either the node gets the labels that the pod selects, or the pod selects less. */
export function nodeAffinitySteps(whatIf: WhatIf): RemedyStep[] {
  const node = whatIf.get('Node', whatIf.node);
  const { required } = podNodeAffinityOf(whatIf.record.shape);
  if (node === undefined || required === undefined) return [];
  const labels = node.metadata?.labels ?? {};
  const [fewest] = required.terms
    .map((term) => labelChanges(term, whatIf, labels))
    .filter((found) => found !== undefined)
    .sort((a, b) => a.length - b.length);
  return [
    ...(fewest === undefined ? [] : [labelNode(fewest, whatIf.node, labels)]),
    ...dropNodeSelector(whatIf, labels),
  ];
}

interface LabelChange {
  readonly key: string;
  /** Undefined to remove the label. */
  readonly value: string | undefined;
}

/** The label changes that would make the term match; undefined if that needs a change that users should not make. */
function labelChanges(
  { names, requirements }: MatcherTerm,
  whatIf: WhatIf,
  labels: Readonly<Record<string, string>>,
): LabelChange[] | undefined {
  if (names.some(({ operator, values }) => values.has(whatIf.node) !== (operator === 'In'))) return undefined;
  const changes: LabelChange[] = [];
  for (const requirement of requirements) {
    if (matchesRequirement(requirement, labels)) continue;
    const change = changeFor(requirement);
    if (change === undefined || isNodeIdentityLabel(change.key, whatIf)) return undefined;
    changes.push(change);
  }
  return changes;
}

function changeFor({ key, operator, values, bound }: Requirement): LabelChange | undefined {
  switch (operator) {
    case 'In': {
      const [value] = values;
      return value === undefined ? undefined : { key, value };
    }
    case 'Exists':
      return { key, value: 'true' };
    case 'NotIn':
    case 'DoesNotExist':
      return { key, value: undefined };
    case 'Gt':
      return bound === undefined ? undefined : { key, value: String(bound + 1n) };
    case 'Lt':
      return bound === undefined ? undefined : { key, value: String(bound - 1n) };
  }
}

function labelNode(
  changes: readonly LabelChange[],
  name: string,
  before: Readonly<Record<string, string>>,
): RemedyStep {
  const names = changes.map(({ key, value }) => (value === undefined ? `${key}-` : `${key}=${value}`));
  const replaced = changes.filter(({ key, value }) => value !== undefined && before[key] !== undefined);
  const step = ofNode('LabelNode', name, names, (node) => {
    const labels: Record<string, string> = { ...node.metadata?.labels };
    for (const { key, value } of changes) {
      if (value === undefined) delete labels[key];
      else labels[key] = value;
    }
    return { ...node, metadata: { ...node.metadata, labels } };
  });
  return { ...step, remarks: replaced.map(({ key }) => `${key}=${before[key]}`) };
}

/** Drops the labels of the node selector that the node lacks, and the whole required affinity if the node does not match it. */
function dropNodeSelector(whatIf: WhatIf, labels: Readonly<Record<string, string>>): RemedyStep[] {
  const { nodeSelector, affinity } = whatIf.pod.spec ?? {};
  const lacking = Object.entries(nodeSelector ?? {}).filter(([key, value]) => labels[key] !== value);
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const isMet = required === undefined || required === null || holds(required, whatIf.node, labels);
  const names = [
    ...lacking.map(([key, value]) => `${key}=${value}`),
    ...(isMet ? [] : [requiredNodeAffinity]),
  ];
  if (names.length === 0) return [];
  const dropped = new Set(lacking.map(([key]) => key));
  return [ofPod('DropNodeSelector', whatIf, names, (pod) => withoutSelector(pod, dropped, isMet))];
}

function holds(required: NodeSelector, name: string, labels: Readonly<Record<string, string>>): boolean {
  return matchesNode(compileNodeSelector(required), name, labels);
}

function withoutSelector(pod: Pod, dropped: ReadonlySet<string>, keepsAffinity: boolean): Pod {
  const { nodeSelector, affinity, ...spec } = pod.spec ?? {};
  const kept = Object.entries(nodeSelector ?? {}).filter(([key]) => !dropped.has(key));
  const { requiredDuringSchedulingIgnoredDuringExecution: _, ...preferred } = affinity?.nodeAffinity ?? {};
  return {
    ...pod,
    spec: {
      ...spec,
      nodeSelector: Object.fromEntries(kept),
      ...(affinity && { affinity: keepsAffinity ? affinity : { ...affinity, nodeAffinity: preferred } }),
    },
  };
}

function ofNode(
  action: RemedyStep['action'],
  name: string,
  names: readonly string[],
  change: (node: Node) => Node,
): RemedyStep {
  return {
    action,
    scope: '',
    object: { kind: 'Node', name },
    amount: Math.max(1, names.length),
    unit: 'changes',
    names,
    edits: [changing('Node', name, change)],
  };
}

function ofPod(
  action: RemedyStep['action'],
  { record }: WhatIf,
  names: readonly string[],
  change: (pod: Pod) => Pod,
): RemedyStep {
  return {
    action,
    scope: '',
    object: { kind: 'Pod', name: record.key },
    amount: names.length,
    unit: 'changes',
    names,
    edits: [{ type: 'change pod', change }],
  };
}
