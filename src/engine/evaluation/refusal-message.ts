import type { PodRefusal } from '../rules/framework/rule.ts';
import { reasonsIn } from '../rules/framework/verdict.ts';
import { type NodeReason, nodeReasons, type Reason } from '../rules/reasons.ts';
import type { NodeVerdict } from './filter-nodes.ts';

/**
 * The text that kube-scheduler would put into the pod's condition, without the part about preemption, which the scheduler adds.
 * Items are sorted as text, so that "10 node(s)" comes before "2 node(s)". A node may be counted for several reasons.
 */
export function refusalMessage(
  nodeCount: number,
  podRefusals: readonly PodRefusal[],
  verdicts: Iterable<NodeVerdict>,
): string {
  if (nodeCount === 0) return 'no nodes available to schedule pods';
  const [first] = podRefusals;
  const detail = first === undefined ? formatCounts(countTexts(verdicts)) : first.message;
  return `0/${nodeCount} nodes are available: ${detail}.`;
}

/** Each text with its count, in kube-scheduler's order. */
export function formatCounts(counts: ReadonlyMap<string, number>): string {
  const items = [...counts].map(([text, count]) => `${count} ${text}`);
  return items.sort().join(', ');
}

/** Several of our reasons may have the same text in kube-scheduler; a node is counted once for it. */
export function countTexts(verdicts: Iterable<NodeVerdict>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const verdict of verdicts) {
    const texts = new Set(reasonsOf(verdict).flatMap((reason) => textsOf(reason, verdict)));
    for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + verdict.nodeCount);
  }
  return counts;
}

const placeholder = /\{\w+\}/;

function textsOf(reason: NodeReason, { notes }: NodeVerdict): string[] {
  const { upstream } = nodeReasons[reason];
  return placeholder.test(upstream)
    ? notes.map((note) => upstream.replace(placeholder, () => note))
    : [upstream];
}

export function countReasons(verdicts: Iterable<NodeVerdict>): Map<Reason, number> {
  const counts = new Map<Reason, number>();
  for (const verdict of verdicts) {
    for (const reason of reasonsOf(verdict))
      counts.set(reason, (counts.get(reason) ?? 0) + verdict.nodeCount);
  }
  return counts;
}

function reasonsOf({ rule, verdict }: NodeVerdict): NodeReason[] {
  return reasonsIn(verdict, rule.reasons);
}
