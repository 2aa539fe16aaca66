import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Pod, ResourceList } from '../../../kube/api/core.ts';
import { readPod } from '../../records/pod-record.ts';
import { clusterOf } from '../../testing/cluster.ts';
import { balancedAllocationRule } from '../balanced-allocation/rule.ts';
import { Cycle } from '../framework/cycle.ts';
import type { Prepared, Rule } from '../framework/rule.ts';
import { mayPreemptionHelp, reasonsIn } from '../framework/verdict.ts';
import { nodePortsRule } from '../node-ports/rule.ts';
import { nodeReasons } from '../reasons.ts';
import { nodeResourcesRule } from './rule.ts';

/** A random pod and random nodes, with the results of the plugins of kube-scheduler v1.36.3. */
interface Vector {
  readonly pod: Pod;
  readonly nodes: readonly NodeVector[];
}

interface NodeVector {
  readonly allocatable: ResourceList;
  readonly pods: readonly Pod[] | null;
  readonly used: {
    readonly cpu: number;
    readonly memory: number;
    readonly storage: number;
    readonly others: Readonly<Record<string, number>>;
  };
  readonly scoredCpu: number;
  readonly scoredMemory: number;
  readonly reasons: readonly string[];
  readonly forGood: boolean;
  readonly least: number;
  /** Null if the plugin skips the pod. */
  readonly balanced: number | null;
  readonly portsFree: boolean;
}

const file = new URL('../../testing/resource-vectors.ndjson', import.meta.url);
const vectors = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Vector);

test.each([...vectors.entries()])(
  'vector %i: the results are those of kube-scheduler',
  (_, { pod, nodes }) => {
    for (const node of nodes) {
      const { allocatable: _allocatable, pods: _pods, ...expected } = node;
      // The plugin lists extended resources in random order.
      expect(answersOf(pod, node)).toEqual({ ...expected, reasons: expected.reasons.toSorted() });
    }
  },
);

function answersOf(
  pod: Pod,
  { allocatable, pods, used }: NodeVector,
): Omit<NodeVector, 'allocatable' | 'pods'> {
  const index = clusterOf({
    Node: [{ metadata: { name: 'n' }, status: { allocatable } }],
    Pod: pods ?? [],
  });
  const row = index.nodes.row('n')!;
  const newCycle = () => new Cycle(index, readPod(pod), 0);
  const fit = filtered(nodeResourcesRule, newCycle());
  const verdict = fit.verdicts[row]!;
  const { usage } = index;
  const others = Object.keys(used.others).map((name) => [name, usage.other(name)?.used[row] ?? 0]);
  return {
    used: {
      cpu: usage.cpu.used[row]!,
      memory: usage.memory.used[row]!,
      storage: usage.ephemeralStorage.used[row]!,
      others: Object.fromEntries(others),
    },
    scoredCpu: usage.scoredCpu[row]!,
    scoredMemory: usage.scoredMemory[row]!,
    reasons: textsOf(verdict, fit.notes.get(row)).sort(),
    forGood: !mayPreemptionHelp(verdict, nodeResourcesRule.reasons),
    least: scoreOf(nodeResourcesRule, newCycle(), row)!,
    balanced: scoreOf(balancedAllocationRule, newCycle(), row),
    portsFree: filtered(nodePortsRule, newCycle()).isFeasible(row),
  };
}

function filtered<State>(rule: Rule<State>, cycle: Cycle): Cycle {
  const prepared: Prepared<State> = rule.prepare(cycle);
  if (prepared.kind === 'ready') rule.filter(prepared.state, cycle);
  return cycle;
}

function scoreOf<State>(rule: Rule<State>, cycle: Cycle, row: number): number | null {
  const prepared = rule.prepare(cycle);
  if (prepared.kind !== 'ready') return null;
  const scores = new Float64Array(cycle.rowCount);
  rule.score!.run(prepared.state, cycle, scores);
  return scores[row]!;
}

function textsOf(verdict: number, notes: readonly string[] = []): string[] {
  const reasons = reasonsIn(verdict, nodeResourcesRule.reasons);
  return reasons.flatMap((reason) =>
    reason === 'InsufficientResource'
      ? notes.map((name) => nodeReasons[reason].upstream.replace('{resource}', name))
      : [nodeReasons[reason].upstream],
  );
}
