import type { Node, Pod, Taint, Toleration } from '../../../kube/core.ts';
import { matchesRequirement, type Requirement } from '../../../kube/requirement.ts';
import { toleratesTaint } from '../../../kube/tolerations.ts';
import { labels as wellKnownLabels } from '../../../kube/well-known.ts';
import { textOf } from '../../../kube/wire.ts';
import { type MatcherTerm, matcherHolds } from '../../records/node-matcher.ts';
import { podNodes } from '../../records/pod-nodes.ts';
import { itemsOf } from '../../records/reading.ts';
import { put, type Step } from './step.ts';
import type { Trial } from './trial.ts';

const cordonTaint = 'node.kubernetes.io/unschedulable';
/** Taints under this name are put and lifted by Kubernetes itself. */
const conditionPrefix = 'node.kubernetes.io/';

/** The taint that goes with the mark is lifted with it. */
export function uncordon(trial: Trial): Step[] {
  const node = trial.get('Node', trial.node);
  if (node === undefined) return [];
  const taints = itemsOf(node.spec?.taints).filter(({ key }) => key !== cordonTaint);
  const after: Node = { ...node, spec: { ...node.spec, unschedulable: false, taints } };
  return [ofNode('UncordonNode', trial.node, [], after)];
}

/** Either the node loses its taints or the pod tolerates them; what a node's condition put there nobody should tolerate away. */
export function taintSteps(trial: Trial): Step[] {
  const node = trial.get('Node', trial.node);
  if (node === undefined) return [];
  const tolerations = itemsOf(trial.pod.spec?.tolerations);
  const isInTheWay = (taint: Taint) =>
    taint.effect !== 'PreferNoSchedule' &&
    !tolerations.some((toleration) => toleratesTaint(toleration, taint));
  const taints = itemsOf(node.spec?.taints);
  const untolerated = taints.filter(isInTheWay);
  const kept = taints.filter((taint) => !untolerated.includes(taint));
  const names = untolerated.map(taintText);
  const after: Node = { ...node, spec: { ...node.spec, taints: kept } };
  const removal = ofNode('RemoveTaint', trial.node, names, after);
  if (untolerated.some(({ key }) => textOf(key).startsWith(conditionPrefix))) return [removal];
  const added = untolerated.map(tolerationOf);
  const pod: Pod = { ...trial.pod, spec: { ...trial.pod.spec, tolerations: [...tolerations, ...added] } };
  return [removal, ofPod('TolerateTaint', trial, names, pod)];
}

function tolerationOf({ key, value, effect }: Taint): Toleration {
  const isPlain = value === undefined || value === '';
  return {
    key: textOf(key),
    ...(isPlain ? { operator: 'Exists' as const } : { operator: 'Equal' as const, value }),
    effect: effect ?? '',
  };
}

function taintText({ key, value, effect }: Taint): string {
  const assignment = value === undefined || value === '' ? textOf(key) : `${key}=${value}`;
  return `${assignment}:${effect}`;
}

/** Labels that say what a node is or where it stands: nobody changes them to please a pod. */
const physicalLabels: ReadonlySet<string> = new Set([
  wellKnownLabels.hostname,
  wellKnownLabels.zone,
  wellKnownLabels.region,
  wellKnownLabels.betaZone,
  wellKnownLabels.betaRegion,
  'kubernetes.io/arch',
  'kubernetes.io/os',
  'node.kubernetes.io/instance-type',
]);

/** Either the node gets the labels that the pod asks for, or the pod asks for less. */
export function nodeAffinitySteps(trial: Trial): Step[] {
  const node = trial.get('Node', trial.node);
  const { required } = podNodes(trial.record.shape);
  if (node === undefined || required === undefined) return [];
  const labels = node.metadata?.labels ?? {};
  const changes = required.terms
    .map((term) => labelChanges(term, trial.node, labels))
    .filter((found) => found !== undefined)
    .sort((a, b) => a.length - b.length);
  const [fewest] = changes;
  return [
    ...(fewest === undefined ? [] : [labelNode(node, fewest, trial.node)]),
    ...dropNodeSelector(trial, labels),
  ];
}

interface LabelChange {
  readonly key: string;
  /** Undefined: the label goes. */
  readonly value: string | undefined;
}

/** What would make the term hold; undefined if nothing that people change would. */
function labelChanges(
  { names, requirements }: MatcherTerm,
  nodeName: string,
  labels: Readonly<Record<string, string>>,
): LabelChange[] | undefined {
  if (names.some(({ operator, values }) => values.has(nodeName) !== (operator === 'In'))) return undefined;
  const changes: LabelChange[] = [];
  for (const requirement of requirements) {
    if (matchesRequirement(requirement, labels)) continue;
    const change = changeFor(requirement);
    if (change === undefined || physicalLabels.has(change.key)) return undefined;
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

function labelNode(node: Node, changes: readonly LabelChange[], name: string): Step {
  const labels: Record<string, string> = { ...node.metadata?.labels };
  for (const { key, value } of changes) {
    if (value === undefined) delete labels[key];
    else labels[key] = value;
  }
  const names = changes.map(({ key, value }) => (value === undefined ? `${key}-` : `${key}=${value}`));
  return ofNode('LabelNode', name, names, { ...node, metadata: { ...node.metadata, labels } });
}

/** The pairs of its node selector that the node lacks, and the required affinity as a whole if the node lacks that. */
function dropNodeSelector(trial: Trial, labels: Readonly<Record<string, string>>): Step[] {
  const { nodeSelector = {}, affinity, ...spec } = trial.pod.spec ?? {};
  const lacking = Object.entries(nodeSelector).filter(([key, value]) => labels[key] !== value);
  const kept = Object.fromEntries(
    Object.entries(nodeSelector).filter(([key, value]) => labels[key] === value),
  );
  const { nodeAffinity, ...others } = affinity ?? {};
  const { requiredDuringSchedulingIgnoredDuringExecution: required, ...preferred } = nodeAffinity ?? {};
  const isMet = required === undefined || required === null || holds(trial, kept, labels);
  const pod: Pod = {
    ...trial.pod,
    spec: {
      ...spec,
      nodeSelector: kept,
      ...(affinity && { affinity: isMet ? affinity : { ...others, nodeAffinity: preferred } }),
    },
  };
  const names = [
    ...lacking.map(([key, value]) => `${key}=${value}`),
    ...(isMet ? [] : ['required node affinity']),
  ];
  return names.length === 0 ? [] : [ofPod('DropNodeSelector', trial, names, pod)];
}

/** Whether the required affinity holds by itself: with the pairs that hold anyway it is all that is asked. */
function holds(
  trial: Trial,
  nodeSelector: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>>,
): boolean {
  const { affinity } = trial.record.shape.spec;
  const asked = podNodes({
    key: `${trial.record.shape.key} without selector`,
    spec: { ...trial.record.shape.spec, nodeSelector, affinity },
  });
  return asked.required === undefined || matcherHolds(asked.required, trial.node, labels);
}

function ofNode(sort: Step['sort'], name: string, names: readonly string[], after: Node): Step {
  return {
    sort,
    scope: '',
    object: { kind: 'Node', name },
    amount: Math.max(1, names.length),
    unit: 'changes',
    names,
    edits: [put('Node', after)],
  };
}

function ofPod(sort: Step['sort'], { record }: Trial, names: readonly string[], pod: Pod): Step {
  return {
    sort,
    scope: '',
    object: { kind: 'Pod', name: record.key },
    amount: names.length,
    unit: 'changes',
    names,
    edits: [{ type: 'change pod', pod }],
  };
}
