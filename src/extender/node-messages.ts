import type { NodeAssessment, NodeRefusal } from '../engine/assess.ts';
import type { ClusterIndex } from '../engine/cluster-index/cluster-index.ts';
import { explainNodes, type NodeExplanation } from '../engine/evaluation/explain-nodes.ts';
import { closestMissOn } from '../engine/explain/closest-miss.ts';
import type { PodRecord } from '../engine/records/pod-record.ts';
import type { AnyRule } from '../engine/rules/framework/rule.ts';
import { type NodeReason, nodeReasons, type Reason, type ReasonText } from '../engine/rules/reasons.ts';

/**
 * This many nodes get their own message, with names and numbers; the others share one. kube-scheduler counts equal messages and
 * puts all different ones into the pod's condition, where thousands of them would be useless.
 */
const detailedMax = 8;

export interface NodeMessagesOptions {
  readonly pod: PodRecord;
  readonly index: ClusterIndex;
  readonly rules: readonly AnyRule[];
  readonly nowMs: number;
}

/** Why each node does not fit. kube-scheduler's own message comes first, because tools parse it; then the extender's details. */
export function nodeMessages(
  answers: readonly NodeAssessment[],
  { pod, index, rules, nowMs }: NodeMessagesOptions,
): ReadonlyMap<string, string> {
  const refused = answers.filter((answer) => answer.kind === 'refused');
  const detailed = refused.slice(0, detailedMax).map(({ node }) => node);
  const explained = new Map<string, NodeExplanation>();
  if (detailed.length > 0) {
    const { nodes } = explainNodes(pod, index, { nowMs, rules, onlyNodes: detailed });
    for (const each of nodes) explained.set(each.node, each);
  }
  const messages = refused.map(
    (answer) => [answer.node, messageOf(answer, explained.get(answer.node))] as const,
  );
  const unknown = answers.filter(({ kind }) => kind === 'unknown');
  return new Map([...messages, ...unknown.map(({ node }) => [node, unknownMessage] as const)]);
}

const unknownMessage = 'node(s) were not known to the extender yet';

function messageOf({ reasons, texts }: NodeRefusal, explained: NodeExplanation | undefined): string {
  // Explaining one node finds more than assessing all of them. Only findings that belong to the assessment are reported.
  const found =
    explained?.findings.map(({ reason }) => reason).filter((reason) => isReported(reason, texts)) ?? [];
  const miss = explained && closestMissOn(explained);
  const detail = [...sentencesOf(found.length > 0 ? found : reasons), ...(miss === undefined ? [] : [miss])];
  return detail.length === 0 ? texts.join(', ') : `${texts.join(', ')} (${detail.join('; ')})`;
}

function isReported(reason: NodeReason, texts: readonly string[]): boolean {
  return texts.includes(nodeReasons[reason].upstream);
}

/** Reasons that concern the pod on every node have no sentence here: kube-scheduler's own message says it. */
function sentencesOf(reasons: readonly Reason[]): readonly string[] {
  const texts: Readonly<Record<string, ReasonText>> = nodeReasons;
  return [...new Set(reasons.flatMap((reason) => texts[reason]?.sentence ?? []))];
}
