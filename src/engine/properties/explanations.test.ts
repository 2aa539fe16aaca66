import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Pod } from '../../kube/api/core.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { stowageProfile, upstreamProfile } from '../cluster-index/profile.ts';
import { explainNodes, type NodeExplanation } from '../evaluation/explain-nodes.ts';
import { plan } from '../plan.ts';
import { readPod } from '../records/pod-record.ts';
import { type NodeReason, nodeReasons } from '../rules/reasons.ts';
import { volumeRules } from '../rules/volume-rules.ts';
import { compareSizes, zeroSize } from '../size.ts';
import { clusterOf } from '../testing/cluster.ts';
import { onlyNodeRule } from '../testing/only-node-rule.ts';
import { arbCluster, randomNowMs as nowMs } from '../testing/random/cluster.ts';

const runs = 400;

// One property for both profiles and both questions: each would draw the same clusters, and drawing and indexing them costs most.
test('an explanation has findings for every refused node, none for a feasible node, and consistent numbers', () => {
  fc.assert(
    fc.property(arbCluster, ({ objects, pod }) => {
      for (const profile of [stowageProfile, upstreamProfile]) {
        const index = clusterOf(objects, profile);
        const names = objects.Node.map(({ metadata }) => metadata!.name!).sort();
        expectFindings(index, pod, names);
        expectNumbers(index, pod);
      }
    }),
    { numRuns: runs },
  );
});

function expectFindings(index: ClusterIndex, pod: Pod, names: readonly string[]): void {
  const { podRefusals, nodes } = explainNodes(readPod(pod), index, { nowMs, rules: volumeRules });
  if (podRefusals.length > 0) {
    expect(plan(pod, index, { nowMs })).toMatchObject({ kind: 'refusal', podRefusals });
    return;
  }
  expect(nodes.map(({ node }) => node)).toEqual(names);
  for (const node of nodes) expectConsistent(index, pod, node);
}

/** More is needed than is free. */
function expectNumbers(index: ClusterIndex, pod: Pod): void {
  const answer = plan(pod, index, { nowMs });
  if (answer.kind === 'placement') return;
  for (const { reason, margin, candidates, omitted } of answer
    .explain()
    .nodes.flatMap(({ findings }) => findings)) {
    expect(omitted).toBeGreaterThanOrEqual(0);
    if (reason === 'AttachLimitReached' && margin?.unit === 'volumes')
      expect(margin.needed).toBeGreaterThan(margin.free);
    for (const { code, margin: shortage } of candidates.flatMap(({ obstacles }) => obstacles)) {
      if (code !== 'TooSmall' && code !== 'VolumeTooLarge') continue;
      expect(compareSizes(shortage!.needed, shortage!.free)).toBeGreaterThan(0);
      expect(shortage!.promised).toEqual(zeroSize);
    }
  }
}

function expectConsistent(index: ClusterIndex, pod: Pod, { node, findings }: NodeExplanation): void {
  const answer = plan(pod, index, { nowMs, rules: [onlyNodeRule(node), ...volumeRules] });
  if (answer.kind === 'placement') {
    expect(findings).toEqual([]);
    return;
  }
  const refused = textsOf(
    [...answer.reasons.keys()].filter(
      (reason) => reason in nodeReasons && reason !== 'SearchBoundReached',
    ) as NodeReason[],
  );
  const explained = textsOf(findings.map(({ reason }) => reason));
  expect(refused.some((text) => explained.includes(text))).toBe(true);
  for (const { rule, reason } of findings) {
    expect(volumeRules.map(({ name }) => name)).toContain(rule);
    expect(nodeReasons).toHaveProperty(reason);
  }
}

function textsOf(reasons: readonly NodeReason[]): string[] {
  return reasons.map((reason) => nodeReasons[reason].upstream);
}
