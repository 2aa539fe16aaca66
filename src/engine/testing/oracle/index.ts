/**
 * The definition of right.
 *
 * The engine is fast because it interns, sorts, caches and proves shortcuts. This is the same decision written as if speed
 * did not matter: it reads the Kubernetes objects themselves, walks all of them for every node, and tries every way to give
 * a pod its volumes. It shares no code with the engine. Where the two disagree, the engine is wrong, or this file is the
 * place to say what we mean instead.
 *
 * What an answer must be, for a pod and a node:
 *
 * - Profile `stowage`: every volume that the pod has is reachable; every claim without one gets an existing volume that fits,
 *   or a new one in a pool with room; no volume and no byte is given twice, and what others have been promised counts as
 *   gone; the node can attach all of it. Among all such ways: the most existing volumes, then the least waste, then claim by
 *   claim (smallest request first, then in the pod's order) an existing volume before a new one, the smaller, the
 *   first by name.
 * - Profile `upstream`: what kube-scheduler v1.36 does with its default gates, reasons included: one claim after the other,
 *   smallest first, no way back, each asked for room as if it were alone.
 *
 * Which of several feasible nodes is best is the score's matter, and not decided here: `oraclePlan` takes the first by name.
 *
 * Cost: nodes x claims x volumes, and per node the product of the volumes that each claim accepts. Fine for 100 nodes and
 * 500 local volumes; ten claims that all accept all of a hundred volumes would outlive you.
 */
import type { Pod } from '../../../kube/api/core.ts';
import { nameOf, OracleCluster, type OracleObjects, type OracleProfile } from './cluster.ts';
import { podRefusal } from './refusals.ts';
import { type Assignment, bestAssignment } from './stowage.ts';
import { filterUpstream } from './upstream.ts';

export type { OracleObjects, OracleProfile } from './cluster.ts';
export type { Assignment } from './stowage.ts';

/** What is right for one pod. */
export interface OracleVerdict {
  /** Nodes that will do, in name order, each with the best way to give the pod its volumes there. */
  readonly feasible: ReadonlyMap<string, Assignment>;
  /** The others, each with kube-scheduler's texts for what stands in the way. */
  readonly refused: ReadonlyMap<string, readonly string[]>;
  /** kube-scheduler's text, where the pod can't run anywhere. */
  readonly podRefusal: string | undefined;
}

export type OraclePlan =
  | { readonly kind: 'placement'; readonly node: string; readonly assignment: Assignment }
  | { readonly kind: 'refusal'; readonly message: string };

export function oraclePlan(
  objects: OracleObjects,
  pod: Pod,
  profile: OracleProfile,
  nowMs: number,
): OraclePlan {
  const verdict = oracleVerdict(objects, pod, profile, nowMs);
  for (const [node, assignment] of verdict.feasible) return { kind: 'placement', node, assignment };
  return { kind: 'refusal', message: oracleRefusalMessage(objects, verdict) };
}

export function oracleVerdict(
  objects: OracleObjects,
  pod: Pod,
  profile: OracleProfile,
  nowMs: number,
): OracleVerdict {
  const cluster = new OracleCluster(objects, profile, nowMs);
  const feasible = new Map<string, Assignment>();
  const refused = new Map<string, readonly string[]>();
  const refusal = podRefusal(cluster, pod);
  if (refusal !== undefined) return { feasible, refused, podRefusal: refusal };
  for (const node of [...cluster.nodes].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))) {
    const found =
      profile.name === 'upstream' ? filterUpstream(cluster, pod, node) : bestAssignment(cluster, pod, node);
    if (found.kind === 'fits') feasible.set(nameOf(node), found.assignment);
    else refused.set(nameOf(node), found.reasons);
  }
  return { feasible, refused, podRefusal: undefined };
}

/** The text in the pod's condition, up to the part about preemption. */
export function oracleRefusalMessage({ Node: nodes = [] }: OracleObjects, verdict: OracleVerdict): string {
  if (nodes.length === 0) return 'no nodes available to schedule pods';
  return `0/${nodes.length} nodes are available: ${verdict.podRefusal ?? countedReasons(verdict)}.`;
}

function countedReasons({ refused }: OracleVerdict): string {
  const counts = new Map<string, number>();
  for (const reasons of refused.values())
    for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(', ');
}
