import { inlineVolumeId } from '../../engine/cluster-index/pools/promise-ids.ts';
import { closestCandidates } from '../../engine/explain/closest-candidates.ts';
import { groupNodes, type NodeGroup } from '../../engine/explain/node-groups.ts';
import { truncatedList } from '../../engine/explain/truncated-list.ts';
import type { Placement } from '../../engine/plan.ts';
import type { PodRecord } from '../../engine/records/pod-record.ts';
import type { Refusal } from '../../engine/refusal/refusal.ts';
import { findRemedies } from '../../engine/remedies/find-remedies.ts';
import type { PodRefusal } from '../../engine/rules/framework/rule.ts';
import { nodeReasons } from '../../engine/rules/reasons.ts';
import { grouped } from '../../kube/quantities/count-text.ts';
import { claimStanding, noDefaultRemedy } from './claim-state.ts';
import type { PodExplanation, PodReasonLine } from './explanation.ts';
import { candidateLine, groupLine, podReasonLine, remedyLine } from './lines.ts';
import type { PodQuestion } from './pod-question.ts';
import { poolLines } from './pool-lines.ts';
import { lostNodeReasons } from './volume-waits.ts';

/** The number of candidates in the line of a claim. */
const candidatesMax = 5;

/** No node fits: the reasons by node or for the whole pod, and what would help. */
export function refused(
  base: PodExplanation,
  question: PodQuestion,
  refusal: Refusal,
): Partial<PodExplanation> {
  const { pod, record, index, nowMs, view } = question;
  const common = { verdict: 'refused', message: refusal.message } as const;
  if (refusal.nodeCount === 0)
    return { ...common, summary: `Pod ${record.key} fits nowhere: there are no nodes.` };
  const podReasons = refusal.podRefusals.map((reason) => podReason(reason, question));
  if (podReasons.length > 0) {
    const why = podReasons.map(({ line, cause }) => cause ?? causeOf(line));
    return {
      ...common,
      podReasons: podReasons.map(({ line }) => line),
      summary: `Pod ${record.key} cannot run anywhere: ${why.join('; ')}.`,
    };
  }
  const lost = lostNodeReasons(question);
  const { nodes } = refusal.explain();
  const groups = groupNodes(nodes, record, index);
  const { remedies, ...search } = question.skipsRemedies
    ? { remedies: [] }
    : findRemedies(pod, index, nodes, { nowMs, objects: view.snapshot });
  return {
    ...common,
    summary:
      lost.length > 0
        ? `Pod ${record.key} cannot run anywhere: ${lost.map(causeOf).join('; ')}.`
        : `${refusedSummary(record, refusal.nodeCount, groups)}${nomination(record)}`,
    podReasons: lost,
    nodes: { total: refusal.nodeCount, fitting: 0, groups: groups.map(groupLine) },
    ...withClosest(base, question, nodes),
    remedies: remedies.map(remedyLine),
    ...('isCutShort' in search && { search }),
  };
}

/** The pod would fit if other pods were not nominated to the node: the scheduler has evicted pods for them, or their volumes are there. */
export function keptForNominated(
  { record, index }: PodQuestion,
  { message, nodeCount }: Refusal,
  { node }: Placement,
): Partial<PodExplanation> {
  const rivals = [...index.pods.records()].filter(
    (pod) => pod.nominatedNode !== '' && pod.nodeName === '' && pod.priority >= record.priority,
  );
  const there = rivals.filter(({ nominatedNode }) => nominatedNode === node).map(({ key }) => key);
  const pods = truncatedList(there.slice(0, rivalsShownMax), there.length);
  return {
    verdict: 'refused',
    message,
    nodes: { total: nodeCount, fitting: 0, groups: [] },
    summary: `Pod ${record.key} does not fit: ${node} would do, but the scheduler keeps its free capacity for ${pods}, nominated to it.`,
  };
}

const rivalsShownMax = 3;

interface ExplainedPodReason {
  readonly line: PodReasonLine;
  /** The cause in the headline, if it is more exact than the sentence of the reason. */
  readonly cause: string | undefined;
}

function podReason(reason: PodRefusal, question: PodQuestion): ExplainedPodReason {
  const line = podReasonLine(reason);
  const { claim = '' } = reason;
  if (reason.reason === 'ClaimNotFound' && question.view.isFromFiles)
    return { line, cause: `claim ${claim} is not in the files, or does not exist` };
  if (reason.reason !== 'UnboundImmediateClaim') return { line, cause: undefined };
  return unboundReason(line, claim, question);
}

/** The class does not exist, binds immediately, or leaves the claim to a scheduler that has the feature gate off: the claim's state says which. */
function unboundReason(
  line: PodReasonLine,
  claim: string,
  { index, record, view }: PodQuestion,
): ExplainedPodReason {
  const known = index.claims.get(claim);
  if (known === undefined) return { line, cause: undefined };
  const { className } = known;
  if (!index.bindsVolumes && index.classes.get(className)?.isDelayed === true) {
    const waitsFor = `asks for class ${className}, which waits for a pod, and the feature gate VolumeScheduling is off`;
    const remedy = 'start the scheduler and the PV binder with --feature-gates VolumeScheduling=true';
    return { line: { ...line, waitsFor, remedy }, cause: `claim ${claim} ${waitsFor}` };
  }
  const { state, says, waitsFor: next } = claimStanding(known, index, [record], view);
  const waitsFor = next === undefined ? says : `${says}: ${next}`;
  if (state === 'NoDefaultClass') {
    const remedy = noDefaultRemedy(index);
    const sentence = `the claim ${says}`;
    return { line: { ...line, sentence, waitsFor, remedy }, cause: `claim ${claim} ${says}` };
  }
  if (state !== 'ClassMissing') return { line: { ...line, waitsFor }, cause: `claim ${claim} ${waitsFor}` };
  const remedy = `create StorageClass ${className}, or recreate the claim with a class that exists`;
  const absence = view.isFromFiles ? 'is not in the files, or does not exist' : 'does not exist';
  // The sentence of the reason is about a class that exists.
  const sentence = `the claim asks for StorageClass ${className}, which ${absence}`;
  return {
    line: { ...line, sentence, waitsFor, remedy },
    cause: `claim ${claim} asks for StorageClass ${className}, which ${absence}`,
  };
}

function causeOf({ claim, sentence }: PodReasonLine): string {
  return claim === undefined ? sentence : `${sentence} (${claim})`;
}

/** The scheduler has evicted pods for this one, and waits until they are deleted. */
function nomination({ nominatedNode }: PodRecord): string {
  return nominatedNode === ''
    ? ''
    : ` Its scheduler has nominated it to ${nominatedNode}, where it waits for evicted pods to end.`;
}

const reasonsSummedUp = 2;

/** The reasons that most nodes have, as text. */
function refusedSummary({ key }: PodRecord, nodeCount: number, groups: readonly NodeGroup[]): string {
  const counts = new Map<string, number>();
  for (const { nodes, reasons } of groups) {
    for (const sentence of new Set(reasons.map(({ reason }) => nodeReasons[reason].sentence))) {
      counts.set(sentence, (counts.get(sentence) ?? 0) + nodes.length);
    }
  }
  const ranked = [...counts].sort((a, b) => b[1] - a[1]);
  const shown = ranked
    .slice(0, reasonsSummedUp)
    .map(([sentence, count]) => `${countText(count, nodeCount)}${sentence}`);
  const more = ranked.length > reasonsSummedUp ? '; and more' : '';
  const on =
    nodeCount === 1 ? 'does not fit on the only node' : `fits on none of ${grouped(nodeCount)} nodes`;
  return `Pod ${key} ${on}: ${shown.join('; ')}${more}.`;
}

function countText(count: number, nodeCount: number): string {
  if (nodeCount === 1) return '';
  return count === nodeCount ? 'on each, ' : `on ${grouped(count)}, `;
}

/** The claims and inline volumes with the volumes and pools that came closest, and the figures of these pools. */
function withClosest(
  { claims, inlineVolumes }: PodExplanation,
  question: PodQuestion,
  nodes: Parameters<typeof closestCandidates>[0],
): Pick<PodExplanation, 'claims' | 'inlineVolumes' | 'pools'> {
  const found = new Map(closestCandidates(nodes, candidatesMax).map((close) => [close.claim, close]));
  const closestOf = (key: string) => {
    const { candidates = [], omitted = 0 } = found.get(key) ?? {};
    return { closest: candidates.map((candidate) => candidateLine(candidate, candidate.node)), omitted };
  };
  const keys = [...found.values()].flatMap(({ candidates }) => candidates.map(({ poolKey }) => poolKey));
  return {
    claims: claims.map((line) => ({ ...line, ...closestOf(line.claim) })),
    inlineVolumes: inlineVolumes?.map((line) => ({
      ...line,
      ...closestOf(inlineVolumeId(question.record.key, line.volume)),
    })),
    pools: poolLines(keys, question),
  };
}
