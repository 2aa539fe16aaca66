/**
 * NodeResourcesBalancedAllocation: prefers nodes whose cpu and memory fill up evenly. It refuses no node. The score says how much the pod
 * balances or unbalances the node: 75 for no difference, up to 100 for better and down to 50 for worse.
 */
import type { ResourceAmounts } from '../../../kube/quantities/resource-amounts.ts';
import { podDemandOf } from '../../records/pod-shape/pod-demand.ts';
import type { Cycle } from '../framework/cycle.ts';
import { type Prepared, type Rule, skip } from '../framework/rule.ts';
import { resourcesInvalidate } from '../node-resources/wakes.ts';

export const balancedAllocationRule: Rule<ResourceAmounts> = {
  name: 'NodeResourcesBalancedAllocation',
  reasons: [],
  prepare: ({ pod }: Cycle): Prepared<ResourceAmounts> => {
    const { requests } = podDemandOf(pod.shape);
    // A pod without requests would find the same node best each time, and so would all others like it.
    return requests.cpuMilli === 0 && requests.memoryBytes === 0 ? skip : { kind: 'ready', state: requests };
  },
  filter: () => {},
  score: { weight: 1, run: scoreBalance },
  explain: () => [],
  wakes: () => false,
  invalidates: resourcesInvalidate,
};

const scoreMax = 100;

function scoreBalance(pod: ResourceAmounts, cycle: Cycle, scores: Float64Array): void {
  const { rows: nodes, count } = cycle.feasibleRows();
  const { allocatable: cpu, used: cpuUsed } = cycle.index.usage.cpu;
  const { allocatable: memory, used: memoryUsed } = cycle.index.usage.memory;
  const { cpuMilli, memoryBytes } = pod;
  for (let position = 0; position < count; position++) {
    const node = nodes[position]!;
    // A single resource can't be out of balance.
    if (cpu[node] === 0 || memory[node] === 0) {
      scores[node] = (scoreMax * 3) / 4;
      continue;
    }
    const before = evenness(cpuUsed[node]! / cpu[node]!, memoryUsed[node]! / memory[node]!);
    const after = evenness(
      (cpuUsed[node]! + cpuMilli) / cpu[node]!,
      (memoryUsed[node]! + memoryBytes) / memory[node]!,
    );
    scores[node] = scoreMax / 2 + Math.floor((scoreMax / 2 + after - before) / 2);
  }
}

/** A whole number from 50 to 100. The standard deviation of two fractions is half their distance. */
function evenness(cpuFraction: number, memoryFraction: number): number {
  const deviation = Math.abs((Math.min(1, cpuFraction) - Math.min(1, memoryFraction)) / 2);
  return Math.floor((1 - deviation) * scoreMax);
}
