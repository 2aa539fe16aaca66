import { policyOfClaim } from '../../engine/cluster-index/pools/policies/policy-of-claim.ts';
import { explainNodes } from '../../engine/evaluation/explain-nodes.ts';
import { groupNodes } from '../../engine/explain/node-groups.ts';
import { type NodeRanking, rankNodes } from '../../engine/explain/node-ranking.ts';
import type { Placement } from '../../engine/plan.ts';
import { readPod } from '../../engine/records/pod-record.ts';
import { policyText } from '../../engine/records/volume-policy.ts';
import { defaultRules } from '../../engine/rules/default-rules.ts';
import type { NodeGroupLine, PlacementLine, PodExplanation, ScoreLine } from './explanation.ts';
import { groupLine } from './lines.ts';
import type { PodQuestion } from './pod-question.ts';
import { poolLines } from './pool-lines.ts';

const scoresMax = 5;

/** Where a pending pod would go. */
export function placementOf(placement: Placement, question: PodQuestion): Partial<PodExplanation> {
  const { pod, index, nowMs } = question;
  const board = rankNodes(pod, index, { nowMs, max: scoresMax });
  return {
    nodes: { total: index.nodes.size, fitting: board.feasibleNodes, groups: [] },
    placement: {
      node: placement.node,
      volumes: [
        ...boundVolumes(question),
        ...placement.bindings.map(({ claim, volume }) => ({ claim, volume })),
        ...placement.provisions.map(({ claim, className, pool }) => ({
          claim,
          pool: pool?.name ?? `class ${className}`,
          policy: claimPolicy(claim, question),
        })),
        ...placement.inlineVolumes.map(({ volume, pool }) => ({
          claim: volume,
          inlineVolume: volume.slice(volume.lastIndexOf(':') + 1),
          pool: pool.name,
        })),
      ],
      scores: scoreLines(board),
    },
    pools: poolLines(
      [...placement.provisions, ...placement.inlineVolumes].map(({ pool }) => pool?.key),
      question,
    ),
  };
}

/** The rank of the pod's node in the current cluster without the pod. The cluster may have been different when the pod was placed. */
export function whyThere(question: PodQuestion): Partial<PodExplanation> {
  const { record, index } = question;
  const { board, groups } = withoutPod(question);
  const rank = board.nodes.findIndex(({ node }) => node === record.nodeName) + 1;
  const placement: PlacementLine = {
    node: record.nodeName,
    volumes: boundVolumes(question),
    scores: scoreLines(board),
  };
  return {
    verdict: 'placed',
    summary: `Pod ${record.key} is ${record.isDeleting ? 'being deleted, and is still ' : ''}on ${record.nodeName}${rankText(rank, board, question)}.`,
    nodes: { total: index.nodes.size, fitting: board.feasibleNodes, groups },
    placement,
  };
}

function rankText(
  rank: number,
  { nodes, feasibleNodes }: NodeRanking,
  { record, index }: PodQuestion,
): string {
  const { nodeName: node } = record;
  // The nodes could not be read.
  if (index.nodes.size === 0) return '';
  if (index.nodes.row(node) === undefined) return ', a node that does not exist';
  if (rank === 0) return ', which would not do if the pod had to be placed now';
  if (feasibleNodes === 1) return ', the only node that would do now';
  const [best] = nodes;
  const own = nodes.find((scores) => scores.node === node);
  const isBest = best !== undefined && own !== undefined && own.total >= best.total;
  return isBest
    ? `, the best of ${feasibleNodes} nodes that would do now`
    : `; of ${feasibleNodes} nodes that would do now, ${best?.node} is better`;
}

interface WithoutPod {
  readonly board: NodeRanking;
  /** The nodes that do not fit, by reasons. */
  readonly groups: readonly NodeGroupLine[];
}

function withoutPod({ pod, record, index, nowMs }: PodQuestion): WithoutPod {
  const { nodeName: _, ...spec } = pod.spec ?? {};
  const unplaced = { ...pod, spec };
  const savepoint = index.savepoint();
  try {
    index.remove('Pod', record.key);
    const board = rankNodes(unplaced, index, { nowMs, max: scoresMax, also: [record.nodeName] });
    if (board.feasibleNodes === index.nodes.size) return { board, groups: [] };
    const asked = readPod(unplaced);
    const { nodes } = explainNodes(asked, index, { nowMs, rules: defaultRules });
    return { board, groups: groupNodes(nodes, asked, index).map(groupLine) };
  } finally {
    index.rollback(savepoint);
  }
}

function boundVolumes(question: PodQuestion): PlacementLine['volumes'] {
  const { record, index } = question;
  return record.claims.flatMap(({ key }) => {
    const volume = index.claims.get(key)?.volumeName ?? '';
    return volume === '' ? [] : [{ claim: key, volume, policy: claimPolicy(key, question) }];
  });
}

function claimPolicy(key: string, { index }: PodQuestion): string | undefined {
  const claim = index.claims.get(key);
  return claim === undefined ? undefined : policyText(policyOfClaim(index, claim));
}

/** Only rules whose scores differ between nodes get a column. */
function scoreLines({ nodes }: NodeRanking): readonly ScoreLine[] {
  return nodes.map(({ node, total, byRule }) => ({ node, total: rounded(total), byRule: mapped(byRule) }));
}

function mapped(byRule: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(byRule).map(([rule, score]) => [rule, rounded(score)]));
}

function rounded(score: number): number {
  return Math.round(score * 100) / 100;
}
