/** Oracle for topology spread as in kube-scheduler: counts by label value over all eligible nodes. */
import type { Node, Pod, TopologySpreadConstraint } from '../../../kube/api/core.ts';
import type { LabelSelector } from '../../../kube/api/meta.ts';
import { compileNodeSelector, matchesNode } from '../../../kube/selectors/node-selector.ts';
import { findUntoleratedTaint } from '../../../kube/selectors/tolerations.ts';
import { hostname, zone } from '../objects.ts';
import {
  addCount,
  type InterPodCluster,
  labelsOf,
  matches,
  placedPods,
  type RuleAnswers,
} from './inter-pod.ts';

interface Constraint extends TopologySpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  /** A pod must match all of them. */
  readonly selectors: readonly (LabelSelector | undefined)[];
}

export function spreadAnswers(cluster: InterPodCluster, pod: Pod): RuleAnswers {
  const nodes = [...cluster.Node.values()];
  const own = (pod.spec?.topologySpreadConstraints ?? []).map((constraint) => ownConstraint(pod, constraint));
  const hard = own.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule');
  const soft = own.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'ScheduleAnyway');
  const verdicts = nodes.map((node) => verdict(cluster, pod, hard, node));
  const fitting = nodes.filter((_, at) => verdicts[at] === undefined);
  const scores = scoresOf(cluster, pod, own.length > 0 ? soft : systemDefaults(cluster, pod), fitting);
  return Object.fromEntries(
    nodes.map((node, at) => [node.metadata!.name!, verdicts[at] ?? scores.get(node) ?? 0]),
  );
}

function ownConstraint(pod: Pod, constraint: TopologySpreadConstraint): Constraint {
  const keys = (constraint.matchLabelKeys ?? []).filter((key) => labelsOf(pod)[key] !== undefined);
  const matchLabels = Object.fromEntries(keys.map((key) => [key, labelsOf(pod)[key]!]));
  const selectors = [constraint.labelSelector, ...(keys.length > 0 ? [{ matchLabels }] : [])];
  return { maxSkew: 1, topologyKey: '', ...constraint, selectors };
}

function systemDefaults(cluster: InterPodCluster, pod: Pod): Constraint[] {
  const { namespace, ownerReferences = [] } = pod.metadata!;
  const services = [...cluster.Service.values()]
    .filter((service) => service.metadata?.namespace === namespace)
    .map((service) => ({ matchLabels: service.spec?.selector ?? {} }))
    .filter((selector) => matches(selector, labelsOf(pod)));
  const owner = ownerReferences.find(({ controller }) => controller === true);
  const key = `${namespace}/${owner?.name}`;
  const sets = { ReplicaSet: cluster.ReplicaSet, StatefulSet: cluster.StatefulSet };
  const kind = owner?.kind as keyof typeof sets;
  const owning = sets[kind]?.get(key)?.spec?.selector;
  const selectors = [...services, ...(owning === undefined ? [] : [owning])];
  if (selectors.every(isEmptySelector)) return [];
  return [
    { topologyKey: hostname, maxSkew: 3, selectors },
    { topologyKey: zone, maxSkew: 5, selectors },
  ];
}

function verdict(
  cluster: InterPodCluster,
  pod: Pod,
  constraints: readonly Constraint[],
  node: Node,
): string | undefined {
  const text = "node(s) didn't match pod topology spread constraints";
  for (const constraint of constraints) {
    const value = labelsOf(node)[constraint.topologyKey];
    if (value === undefined) return `${text} (missing required label)`;
    const counts = new Map<string, number>();
    for (const other of cluster.Node.values()) {
      if (!hasKeys(other, constraints) || !isCounted(pod, other, constraint)) continue;
      addCount(counts, labelsOf(other)[constraint.topologyKey]!, countOn(cluster, pod, other, constraint));
    }
    const floor = counts.size < (constraint.minDomains ?? 1) ? 0 : Math.min(...counts.values());
    const self = isSelected(constraint, pod) ? 1 : 0;
    if ((counts.get(value) ?? 0) + self - floor > constraint.maxSkew) return text;
  }
  return undefined;
}

function scoresOf(
  cluster: InterPodCluster,
  pod: Pod,
  constraints: readonly Constraint[],
  fitting: readonly Node[],
): ReadonlyMap<Node, number> {
  if (constraints.length === 0) return new Map();
  const needsAll = (pod.spec?.topologySpreadConstraints ?? []).length > 0;
  const ranked = fitting.filter((node) => !needsAll || hasKeys(node, constraints));
  const raw = new Map(ranked.map((node) => [node, 0]));
  for (const constraint of constraints)
    addPodCounts(cluster, pod, { constraint, constraints, ranked, needsAll }, raw);
  for (const [node, count] of raw) raw.set(node, Math.round(count));
  const least = Math.min(...raw.values());
  const most = Math.max(0, ...raw.values());
  return new Map(
    ranked.map((node) => [
      node,
      most === 0 ? 100 : Math.trunc((100 * (most + least - raw.get(node)!)) / most),
    ]),
  );
}

interface SpreadScoring {
  readonly constraint: Constraint;
  readonly constraints: readonly Constraint[];
  readonly ranked: readonly Node[];
  readonly needsAll: boolean;
}

function addPodCounts(
  cluster: InterPodCluster,
  pod: Pod,
  { constraint, constraints, ranked, needsAll }: SpreadScoring,
  raw: Map<Node, number>,
): void {
  const { topologyKey: key, maxSkew } = constraint;
  const counts = new Map(ranked.map((node) => [labelsOf(node)[key] ?? '', 0]));
  for (const other of cluster.Node.values()) {
    const value = labelsOf(other)[key] ?? '';
    if ((needsAll && !hasKeys(other, constraints)) || !isCounted(pod, other, constraint)) continue;
    if (counts.has(value)) addCount(counts, value, countOn(cluster, pod, other, constraint));
  }
  const weight = Math.log((key === hostname ? ranked.length : counts.size) + 2);
  for (const node of ranked) {
    const value = labelsOf(node)[key];
    if (value === undefined) continue;
    const count = key === hostname ? countOn(cluster, pod, node, constraint) : counts.get(value)!;
    addCount(raw, node, count * weight + (maxSkew - 1));
  }
}

function hasKeys(node: Node, constraints: readonly Constraint[]): boolean {
  return constraints.every(({ topologyKey }) => labelsOf(node)[topologyKey] !== undefined);
}

function isCounted(pod: Pod, node: Node, constraint: Constraint): boolean {
  const { nodeAffinityPolicy = 'Honor', nodeTaintsPolicy = 'Ignore' } = constraint;
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const isAsked =
    matches({ matchLabels: pod.spec?.nodeSelector ?? {} }, labelsOf(node)) &&
    (required === undefined ||
      matchesNode(compileNodeSelector(required), node.metadata?.name, labelsOf(node)));
  const effects = ['NoSchedule', 'NoExecute'] as const;
  const isTolerated = findUntoleratedTaint(node.spec?.taints, pod.spec?.tolerations, effects) === undefined;
  return (nodeAffinityPolicy === 'Ignore' || isAsked) && (nodeTaintsPolicy === 'Ignore' || isTolerated);
}

function countOn(cluster: InterPodCluster, pod: Pod, node: Node, constraint: Constraint): number {
  if (constraint.selectors.every(isEmptySelector)) return 0;
  return placedPods(cluster).filter(
    (placed) =>
      placed.node === node &&
      placed.pod.metadata?.deletionTimestamp === undefined &&
      placed.pod.metadata?.namespace === pod.metadata?.namespace &&
      isSelected(constraint, placed.pod),
  ).length;
}

function isSelected({ selectors }: Constraint, pod: Pod): boolean {
  return selectors.every((selector) => matches(selector, labelsOf(pod)));
}

function isEmptySelector(selector: LabelSelector | undefined): boolean {
  return (
    selector !== undefined &&
    Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length === 0
  );
}
