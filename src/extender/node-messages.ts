import type { NodeAssessment, NodeRefusal } from '../engine/assess.ts';
import type { ClusterIndex } from '../engine/cluster-index/cluster-index.ts';
import { explainNodes, type NodeExplanation } from '../engine/evaluation/explain-nodes.ts';
import { closestMissOn } from '../engine/explain/closest-miss.ts';
import type { PodRecord } from '../engine/records/pod-record.ts';
import type { AnyRule } from '../engine/rules/framework/rule.ts';
import { type NodeReason, nodeReasons, type Reason, type ReasonText } from '../engine/rules/reasons.ts';

/**
 * So many nodes get a text of their own, with names and numbers; the others one that they share. kube-scheduler counts equal texts and
 * puts all different ones into the pod's condition, so thousands of them would help nobody.
 */
const preciseMax = 8;

export interface NodeMessagesOptions {
  readonly pod: PodRecord;
  readonly index: ClusterIndex;
  readonly rules: readonly AnyRule[];
  readonly nowMs: number;
}

/** Why each of the nodes won't do, for people: kube-scheduler's words first, as tools read them, then ours. */
export function nodeMessages(
  answers: readonly NodeAssessment[],
  { pod, index, rules, nowMs }: NodeMessagesOptions,
): ReadonlyMap<string, string> {
  const refused = answers.filter((answer) => answer.kind === 'refused');
  const precise = refused.slice(0, preciseMax).map(({ node }) => node);
  const explained = new Map<string, NodeExplanation>();
  if (precise.length > 0) {
    const { nodes } = explainNodes(pod, index, { nowMs, rules, onlyNodes: precise });
    for (const each of nodes) explained.set(each.node, each);
  }
  const texts = refused.map((answer) => [answer.node, textOf(answer, explained.get(answer.node))] as const);
  const unknown = answers.filter(({ kind }) => kind === 'unknown');
  return new Map([...texts, ...unknown.map(({ node }) => [node, unknownText] as const)]);
}

const unknownText = 'node(s) were not known to the extender yet';

function textOf({ reasons, texts }: NodeRefusal, explained: NodeExplanation | undefined): string {
  // A look at one node tells more than the verdict on all of them; of what it finds only that which was the verdict.
  const found =
    explained?.findings.map(({ reason }) => reason).filter((reason) => isSaid(reason, texts)) ?? [];
  const miss = explained && closestMissOn(explained);
  const detail = [...sentencesOf(found.length > 0 ? found : reasons), ...(miss === undefined ? [] : [miss])];
  return detail.length === 0 ? texts.join(', ') : `${texts.join(', ')} (${detail.join('; ')})`;
}

function isSaid(reason: NodeReason, texts: readonly string[]): boolean {
  return texts.includes(nodeReasons[reason].upstream);
}

/** What holds for the pod wherever it goes is said by kube-scheduler's own text. */
function sentencesOf(reasons: readonly Reason[]): readonly string[] {
  const texts: Readonly<Record<string, ReasonText>> = nodeReasons;
  return [...new Set(reasons.flatMap((reason) => texts[reason]?.sentence ?? []))];
}
