/** Oracle for inter-pod affinity as in kube-scheduler: counts by topology pair over all pods on all nodes. */
import type { Node, Pod, PodAffinityTerm, WeightedPodAffinityTerm } from '../../../kube/api/core.ts';
import {
  addCount,
  type InterPodCluster,
  labelsOf,
  matches,
  placedPods,
  type RuleAnswers,
} from './inter-pod.ts';

type Counts = Map<string, number>;

export function affinityAnswers(cluster: InterPodCluster, pod: Pod): RuleAnswers {
  const nodes = [...cluster.Node.values()];
  const verdicts = new Map(nodes.map((node) => [node, verdict(cluster, pod, node)]));
  const fitting = nodes.filter((node) => verdicts.get(node) === undefined);
  const raw = new Map(fitting.map((node) => [node, weightAt(cluster, pod, node)]));
  const least = Math.min(...raw.values());
  const range = Math.max(...raw.values()) - least;
  return Object.fromEntries(
    nodes.map((node) => [
      node.metadata!.name!,
      verdicts.get(node) ?? (range > 0 ? Math.trunc(100 * ((raw.get(node)! - least) / range)) : 0),
    ]),
  );
}

function verdict(cluster: InterPodCluster, pod: Pod, node: Node): string | undefined {
  const wanted: Counts = new Map();
  const unwanted: Counts = new Map();
  const unwantedByExisting: Counts = new Map();
  const { affinity, antiAffinity } = termsOf(pod);
  for (const placed of placedPods(cluster)) {
    const isWanted =
      affinity.length > 0 && affinity.every((term) => isSelected(cluster, term, pod, placed.pod));
    if (isWanted) for (const term of affinity) countPair(wanted, placed.node, term);
    for (const term of antiAffinity)
      if (isSelected(cluster, term, pod, placed.pod)) countPair(unwanted, placed.node, term);
    for (const term of termsOf(placed.pod).antiAffinity)
      if (isSelected(cluster, term, placed.pod, pod)) countPair(unwantedByExisting, placed.node, term);
  }
  if (!affinity.every((term) => pairOf(node, term) !== undefined))
    return "node(s) didn't match pod affinity rules";
  const isFirst = wanted.size === 0 && affinity.every((term) => isSelected(cluster, term, pod, pod));
  if (!isFirst && !affinity.every((term) => wanted.has(pairOf(node, term)!)))
    return "node(s) didn't match pod affinity rules";
  if (antiAffinity.some((term) => unwanted.has(pairOf(node, term) ?? '')))
    return "node(s) didn't match pod anti-affinity rules";
  if (Object.entries(labelsOf(node)).some(([key, value]) => unwantedByExisting.has(`${key}=${value}`)))
    return "node(s) didn't satisfy existing pods anti-affinity rules";
  return undefined;
}

function weightAt(cluster: InterPodCluster, pod: Pod, node: Node): number {
  let sum = 0;
  for (const placed of placedPods(cluster)) {
    const add = (term: PodAffinityTerm | undefined, weight: number, owner: Pod, other: Pod): void => {
      const pair = pairOf(node, term ?? {});
      const isNear = pair !== undefined && pair === pairOf(placed.node, term ?? {});
      if (isNear && isSelected(cluster, term ?? {}, owner, other)) sum += weight;
    };
    for (const { podAffinityTerm, weight } of preferences(pod))
      add(podAffinityTerm, weight!, pod, placed.pod);
    for (const { podAffinityTerm, weight } of preferences(placed.pod))
      add(podAffinityTerm, weight!, placed.pod, pod);
    for (const term of termsOf(placed.pod).affinity) add(term, 1, placed.pod, pod);
  }
  return sum;
}

function termsOf(pod: Pod): {
  affinity: readonly PodAffinityTerm[];
  antiAffinity: readonly PodAffinityTerm[];
} {
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {};
  return {
    affinity: podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [],
    antiAffinity: podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [],
  };
}

function preferences(pod: Pod): readonly WeightedPodAffinityTerm[] {
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {};
  return [
    ...(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((preference) => ({
      ...preference,
      weight: -preference.weight!,
    })),
  ];
}

function isSelected(cluster: InterPodCluster, term: PodAffinityTerm, owner: Pod, other: Pod): boolean {
  const namespace = other.metadata!.namespace!;
  const isOwn = (term.namespaces ?? []).length === 0 && term.namespaceSelector === undefined;
  const isNamed = isOwn ? namespace === owner.metadata!.namespace : term.namespaces?.includes(namespace);
  const isSelected = matches(term.namespaceSelector, labelsOf(cluster.Namespace.get(namespace)));
  return (isNamed === true || isSelected) && matches(term.labelSelector, labelsOf(other));
}

function pairOf(node: Node, { topologyKey }: PodAffinityTerm): string | undefined {
  const value = labelsOf(node)[topologyKey ?? ''];
  return value === undefined ? undefined : `${topologyKey}=${value}`;
}

function countPair(counts: Counts, node: Node, term: PodAffinityTerm): void {
  const pair = pairOf(node, term);
  if (pair !== undefined) addCount(counts, pair, 1);
}
