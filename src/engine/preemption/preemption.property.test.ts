import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { plan } from '../plan.ts';
import { dumpIndex } from '../testing/index-dump.ts';
import { readDisruptionBudget } from './disruption-budget.ts';
import type { Preemption } from './find-victims.ts';
import {
  assume,
  negative,
  nodeWithCpu,
  nowMs,
  pendingPod,
  preempt,
  preemptionCluster,
  resourceRules,
  runningPod,
} from './testing/preemption-cluster.ts';
import { expectedEviction, type PlainCluster } from './testing/preemption-oracle.ts';

const arbCluster: fc.Arbitrary<PlainCluster> = fc
  .record({
    sizes: fc.array(fc.integer({ min: 2, max: 6 }), { minLength: 1, maxLength: 4 }),
    pods: fc.array(
      fc.record({
        at: fc.nat(3),
        priority: fc.constantFrom(negative, 0, 1, 2),
        cpu: fc.nat(3),
        started: fc.nat(2),
        isProtected: fc.boolean(),
      }),
      { minLength: 4, maxLength: 12 },
    ),
    allowed: fc.nat(2),
    asking: fc.record({ priority: fc.integer({ min: 0, max: 3 }), cpu: fc.integer({ min: 2, max: 5 }) }),
  })
  .map(({ sizes, pods, allowed, asking }) => ({
    nodes: Object.fromEntries(sizes.map((size, at) => [`n${at}`, size])),
    pods: pods.map(({ at, ...rest }, number) => ({
      ...rest,
      name: `p${String(number).padStart(2, '0')}`,
      node: `n${at % sizes.length}`,
    })),
    allowed,
    asking,
  }));

/** Every third pod is only assumed on its node. */
function indexOf({ nodes, pods }: PlainCluster): ClusterIndex {
  const index = preemptionCluster(
    Object.entries(nodes).map(([name, size]) => nodeWithCpu(name, size * 100)),
    [],
  );
  for (const [at, { name, node, priority, cpu, started, isProtected }] of pods.entries()) {
    const traits = { started, labels: isProtected ? { app: 'foo' } : {} };
    if (at % 3 === 0) assume(index, pendingPod(name, priority, cpu * 100, traits), node);
    else index.upsert('Pod', runningPod(name, node, priority, cpu * 100, traits));
  }
  return index;
}

function budgetOf({ allowed }: PlainCluster) {
  const selector = { matchLabels: { app: 'foo' } };
  const metadata = { namespace: 'default', name: 'b' };
  return readDisruptionBudget({ metadata, spec: { selector }, status: { disruptionsAllowed: allowed } })!;
}

function stateOf(index: ClusterIndex): unknown {
  const { used } = index.usage.cpu;
  const keys = [...index.pods.records()].map(({ key }) => key).sort();
  const assumed = keys.map((key) => [key, index.pods.assumed(key)?.nodeName]);
  return { dump: dumpIndex(index), used: [...used], assumed };
}

test('preemption evicts the same pods as the oracle, and leaves the index as it was', () => {
  fc.assert(
    fc.property(arbCluster, fc.nat(9), (cluster, seed) => {
      const index = indexOf(cluster);
      const asking = pendingPod('asking', cluster.asking.priority, cluster.asking.cpu * 100);
      fc.pre(plan(asking, index, { nowMs, rules: resourceRules }).kind === 'refusal');
      const before = stateOf(index);
      const answer = preempt(index, asking, { budgets: [budgetOf(cluster)], seed });
      expect(stateOf(index)).toEqual(before);
      expect(evictionIn(answer)).toEqual(expectedEviction(cluster));
    }),
    { numRuns: 300 },
  );
});

function evictionIn(answer: Preemption) {
  if (answer.kind === 'none') return undefined;
  const { node, victims, violations } = answer;
  return { node, victims: victims.map(({ pod }) => pod.name), violations };
}

test('without the victims the pod fits, and with any one of them it does not', () => {
  fc.assert(
    fc.property(arbCluster, (cluster) => {
      const index = indexOf(cluster);
      const asking = pendingPod('asking', cluster.asking.priority, cluster.asking.cpu * 100);
      fc.pre(plan(asking, index, { nowMs, rules: resourceRules }).kind === 'refusal');
      const answer = preempt(index, asking, { budgets: [budgetOf(cluster)] });
      fc.pre(answer.kind === 'victims');
      const keys = answer.victims.map(({ pod }) => pod.key);
      const fitsWithout = (gone: readonly string[]) => fitsOn(answer.node, indexOf(cluster), gone);
      expect(fitsWithout(keys)).toBe(true);
      for (const kept of keys) expect(fitsWithout(keys.filter((key) => key !== kept))).toBe(false);

      function fitsOn(node: string, fresh: ClusterIndex, gone: readonly string[]): boolean {
        for (const key of gone) {
          fresh.remove('Pod', key);
          fresh.setAssumedPod(key, undefined);
        }
        return plan(asking, fresh, { nowMs, rules: resourceRules, onlyNodes: [node] }).kind === 'placement';
      }
    }),
    { numRuns: 100 },
  );
});
