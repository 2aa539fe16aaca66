import type { Pod } from '../../kube/api/core.ts';
import { parseTimestamp } from '../../kube/go/timestamp.ts';
import { isActive, isReady, readySinceMs } from './pod-state.ts';

const deletionCostAnnotation = 'controller.kubernetes.io/pod-deletion-cost';
const phaseRank = { Pending: 0, Unknown: 1, Running: 2, Succeeded: 3, Failed: 3 } as const;
const nsPerMs = 1e6;

/** The pods in the order in which they may be deleted, least important first. `related` are pods that do the same work. */
export function rankForDeletion(
  pods: readonly Pod[],
  related: readonly Pod[],
  nowMs: number,
): readonly Pod[] {
  const relatedByNode = countByNode(related);
  const isEarlier = rules(relatedByNode, nowMs);
  return pods.toSorted((a, b) => {
    for (const rule of isEarlier) {
      const difference = rule(a, b);
      if (difference !== 0) return difference;
    }
    // Kubernetes leaves it open. By uid, so that every attempt deletes the same pods, whatever the order in which it found them.
    return (a.metadata?.uid ?? '') < (b.metadata?.uid ?? '') ? -1 : 1;
  });
}

type Rule = (a: Pod, b: Pod) => number;

/** The first rule that distinguishes two pods decides. */
function rules(relatedByNode: ReadonlyMap<string, number>, nowMs: number): readonly Rule[] {
  const by =
    (rank: (pod: Pod) => number): Rule =>
    (a, b) =>
      rank(a) - rank(b);
  return [
    by((pod) => (nodeOf(pod) === '' ? 0 : 1)),
    by(({ status }) => phaseRank[status?.phase ?? 'Pending']),
    by((pod) => (isReady(pod) ? 1 : 0)),
    by(deletionCost),
    by((pod) => -(relatedByNode.get(nodeOf(pod)) ?? 0)),
    (a, b) => (isReady(a) && isReady(b) ? compareAges(a, b, readySinceMs, nowMs) : 0),
    by((pod) => -restarts(pod)),
    (a, b) => compareAges(a, b, createdMs, nowMs),
  ];
}

/**
 * The younger goes first; one without a time counts as the youngest. Ages are compared by powers of two and within one by uid, so that
 * it is not always the newest node that loses its pods.
 */
function compareAges(a: Pod, b: Pod, timeOf: (pod: Pod) => number | undefined, nowMs: number): number {
  const [left, right] = [timeOf(a), timeOf(b)];
  if (left === right) return 0;
  if (left === undefined || right === undefined) return left === undefined ? -1 : 1;
  const difference = magnitude(nowMs - left) - magnitude(nowMs - right);
  if (difference !== 0) return difference;
  return (a.metadata?.uid ?? '') < (b.metadata?.uid ?? '') ? -1 : 1;
}

function magnitude(ms: number): number {
  return ms > 0 ? Math.trunc(Math.log2(ms * nsPerMs)) : -1;
}

function countByNode(pods: readonly Pod[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const pod of pods.filter(isActive)) counts.set(nodeOf(pod), (counts.get(nodeOf(pod)) ?? 0) + 1);
  return counts;
}

function deletionCost({ metadata }: Pod): number {
  const text = metadata?.annotations?.[deletionCostAnnotation] ?? '0';
  return /^-?\d+$/.test(text) ? Number(text) : 0;
}

function restarts({ status }: Pod): number {
  return Math.max(0, ...(status?.containerStatuses ?? []).map(({ restartCount = 0 }) => restartCount));
}

function createdMs({ metadata }: Pod): number | undefined {
  return parseTimestamp(metadata?.creationTimestamp);
}

function nodeOf({ spec }: Pod): string {
  return spec?.nodeName ?? '';
}
