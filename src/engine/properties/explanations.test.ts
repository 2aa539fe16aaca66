import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
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

describe.each([stowageProfile, upstreamProfile])('an explanation under profile $name', (profile) => {
  test('has findings for every refused node, and none for a feasible node', () => {
    fc.assert(
      fc.property(arbCluster, ({ objects, pod }) => {
        const index = clusterOf(objects, profile);
        const { podRefusals, nodes } = explainNodes(readPod(pod), index, { nowMs, rules: volumeRules });
        const answer = plan(pod, index, { nowMs });
        if (podRefusals.length > 0) {
          expect(answer).toMatchObject({ kind: 'refusal', podRefusals });
          return;
        }
        expect(nodes.map(({ node }) => node)).toEqual(
          objects.Node.map(({ metadata }) => metadata!.name).sort(),
        );
        for (const node of nodes) expectConsistent(index, pod, node);
      }),
      { numRuns: runs },
    );
  });

  test('has consistent numbers: more is needed than is free', () => {
    fc.assert(
      fc.property(arbCluster, ({ objects, pod }) => {
        const answer = plan(pod, clusterOf(objects, profile), { nowMs });
        if (answer.kind === 'placement') return;
        for (const { findings } of answer.explain().nodes) {
          for (const { reason, margin, candidates, omitted } of findings) {
            expect(omitted).toBeGreaterThanOrEqual(0);
            if (reason === 'AttachLimitReached' && margin?.unit === 'volumes')
              expect(margin.needed).toBeGreaterThan(margin.free);
            for (const { obstacles } of candidates) {
              for (const { code, margin: shortage } of obstacles) {
                if (code !== 'TooSmall' && code !== 'VolumeTooLarge') continue;
                expect(compareSizes(shortage!.needed, shortage!.free)).toBeGreaterThan(0);
                expect(shortage!.promised).toEqual(zeroSize);
              }
            }
          }
        }
      }),
      { numRuns: runs },
    );
  });
});

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
