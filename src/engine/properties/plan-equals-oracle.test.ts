import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { type Profile, stowageProfile, upstreamProfile } from '../cluster-index/profile.ts';
import { type Placement, plan } from '../plan.ts';
import { volumeRules } from '../rules/volume-rules.ts';
import { addSizes, nanoOf, subtractSizes, zeroSize } from '../size.ts';
import { clusterOf } from '../testing/cluster.ts';
import { onlyNodeRule } from '../testing/only-node-rule.ts';
import { oracleRefusalMessage, oracleVerdict } from '../testing/oracle/index.ts';
import { arbCluster, randomNowMs as nowMs, type RandomCluster } from '../testing/random/cluster.ts';

const runs = propertyRuns(400);

const profiles: readonly Profile[] = [
  stowageProfile,
  upstreamProfile,
  { ...stowageProfile, inFlightOf: { d1: 'one-at-a-time', d2: 'off' } },
];

// One property for all profiles and both questions: each would draw the same clusters, and drawing and indexing them costs most.
test('a plan finds the same nodes as the oracle, on each node the same volumes, and chooses one of these nodes', () => {
  fc.assert(
    fc.property(arbCluster, (cluster) => {
      for (const profile of profiles) expectSameAsOracle(cluster, profile);
    }),
    { numRuns: runs },
  );
});

function expectSameAsOracle(cluster: RandomCluster, profile: Profile): void {
  const { objects, pod } = cluster;
  const under = `profile ${profile.name} ${JSON.stringify(profile.inFlightOf)}`;
  const index = clusterOf(objects, profile);
  const expected = oracleVerdict(objects, pod, profile, nowMs);
  const feasible = [...expected.feasible].map(
    ([node, { volumes, provisioned: made, waste }]) =>
      [node, { volumes, made: new Set(made.keys()), waste }] as const,
  );
  expect(nodesByPlan(index, cluster), under).toEqual(new Map(feasible));
  const answer = plan(pod, index, { nowMs, rules: volumeRules });
  if (answer.kind === 'refusal') {
    expect([...expected.feasible.keys()], under).toEqual([]);
    if (profile.name === 'upstream')
      expect(answer.message, under).toBe(oracleRefusalMessage(objects, expected));
  } else {
    expect(answer.feasibleNodes, under).toBe(expected.feasible.size);
    expect([...expected.feasible.keys()], under).toContain(answer.node);
    expect(summarize(answer).volumes, under).toEqual(expected.feasible.get(answer.node)!.volumes);
  }
}

interface Summary {
  readonly volumes: ReadonlyMap<string, string>;
  readonly made: ReadonlySet<string>;
  readonly waste: bigint;
}

/** Plans each node separately. */
function nodesByPlan(index: ClusterIndex, { objects, pod }: RandomCluster): Map<string, Summary> {
  const found = new Map<string, Summary>();
  for (const name of objects.Node.map((node) => node.metadata!.name!).sort()) {
    const answer = plan(pod, index, { nowMs, rules: [onlyNodeRule(name), ...volumeRules] });
    if (answer.kind === 'placement') found.set(name, summarize(answer));
  }
  return found;
}

function summarize({ bindings, provisions, inlineVolumes }: Placement): Summary {
  let waste = zeroSize;
  for (const { capacity, requested } of bindings) waste = addSizes(waste, subtractSizes(capacity, requested));
  return {
    volumes: new Map(bindings.map(({ claim, volume }) => [claim, volume])),
    made: new Set([...provisions.map(({ claim }) => claim), ...inlineVolumes.map(({ volume }) => volume)]),
    waste: nanoOf(waste),
  };
}
