/**
 * The oracle: the definition of a correct decision.
 *
 * The engine is fast because it interns, sorts, caches and takes proven shortcuts. The oracle makes the same decision without regard to
 * speed: it reads the Kubernetes objects, scans all of them for every node, and tries every assignment of volumes to a pod. It shares
 * no code with the engine. If the two disagree, the engine is wrong, or the definition here has to change.
 *
 * The correct answer for a pod and a node:
 *
 * - Profile `stowage`: the node reaches every bound volume of the pod. Every unbound claim gets an existing volume that fits, or a new
 *   volume in a pool with enough free capacity. No volume and no byte is assigned twice, and capacity that is promised to others counts
 *   as used. The node can attach all of the volumes. Among all such assignments the best has the most existing volumes, then the least
 *   waste, then, claim by claim (smallest request first, then in the pod's order), an existing volume before a new one, the smaller
 *   volume, and the first by name.
 * - Profile `upstream`: what kube-scheduler v1.36 does with its default gates, including its reasons: one claim after the other,
 *   smallest first, without backtracking, and the capacity of pools checked for each claim alone.
 *
 * Scoring decides which of several feasible nodes is best. It is not part of the oracle: `oraclePlan` returns the first node by name.
 *
 * Cost: nodes x claims x volumes, and per node the product of the volumes that each claim accepts. This is fast enough for 100 nodes
 * and 500 local volumes. Ten claims that each accept a hundred volumes would never finish.
 */
import type { Pod } from '../../../kube/api/core.ts';
import { OracleCluster, type OracleObjects, type OracleProfile, objectName } from './cluster.ts';
import { podRefusal } from './refusals.ts';
import { type Assignment, bestAssignment } from './stowage.ts';
import { filterUpstream } from './upstream.ts';

export type { OracleObjects, OracleProfile } from './cluster.ts';
export type { Assignment } from './stowage.ts';

/** The correct answer for one pod. */
export interface OracleVerdict {
  /** The feasible nodes in name order, each with the best assignment of volumes. */
  readonly feasible: ReadonlyMap<string, Assignment>;
  /** The other nodes, each with kube-scheduler's reasons. */
  readonly refused: ReadonlyMap<string, readonly string[]>;
  /** kube-scheduler's message if the pod is refused before any node is checked. */
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
  for (const node of [...cluster.nodes].sort((a, b) => (objectName(a) < objectName(b) ? -1 : 1))) {
    const found =
      profile.name === 'upstream' ? filterUpstream(cluster, pod, node) : bestAssignment(cluster, pod, node);
    if (found.kind === 'fits') feasible.set(objectName(node), found.assignment);
    else refused.set(objectName(node), found.reasons);
  }
  return { feasible, refused, podRefusal: undefined };
}

/** The message in the pod's condition, without the part about preemption. */
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
