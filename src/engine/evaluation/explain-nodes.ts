import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import type { PodRecord } from '../records/pod-record.ts';
import { Cycle } from '../rules/framework/cycle.ts';
import type { Finding } from '../rules/framework/finding.ts';
import { prepareRules } from '../rules/framework/prepare-rules.ts';
import type { AnyRule, PodRefusal } from '../rules/framework/rule.ts';

/** Why a pod does not fit, node by node, as data. */
export interface RefusalExplanation {
  readonly pod: string;
  readonly podRefusals: readonly PodRefusal[];
  /** Sorted by name. A node without findings fits. */
  readonly nodes: readonly NodeExplanation[];
}

export interface NodeExplanation {
  readonly node: string;
  readonly findings: readonly Finding[];
}

export interface ExplainOptions {
  readonly nowMs: number;
  readonly rules: readonly AnyRule[];
  /** The names of the nodes to explain; all nodes if undefined. */
  readonly onlyNodes?: Iterable<string> | undefined;
}

/** Asks every rule about every node, including nodes that an earlier rule refused. */
export function explainNodes(
  pod: PodRecord,
  index: ClusterIndex,
  { nowMs, rules, onlyNodes }: ExplainOptions,
): RefusalExplanation {
  index.settle(nowMs);
  const cycle = new Cycle(index, pod, nowMs, onlyNodes);
  // Taken before the rules prepare, because `prepare` of a rule may already reject nodes.
  const asked = index.nodes.rowsByName.filter((row) => cycle.isFeasible(row));
  const { active, refusals } = prepareRules(cycle, rules);
  if (refusals.length > 0) return { pod: pod.key, podRefusals: refusals, nodes: [] };
  const nodes = asked.map((row) => ({
    node: index.nodes.record(row)!.key,
    findings: active.flatMap(({ rule, state }) => rule.explain(state, cycle, row)),
  }));
  return { pod: pod.key, podRefusals: [], nodes };
}
