import type { ResourceAmounts } from '../../../kube/quantities/resource-amounts.ts';
import type { Cycle } from '../framework/cycle.ts';

const scoreMax = 100;

/** The mean of the cpu and the memory that would be left, in whole percent. A resource that the node does not have is left out. */
export function scoreLeastAllocated(pod: ResourceAmounts, cycle: Cycle, scores: Float64Array): void {
  const { rows: nodes, count } = cycle.feasibleRows();
  const { usage } = cycle.index;
  const { allocatable: cpu } = usage.cpu;
  const { allocatable: memory } = usage.memory;
  const { scoredCpu, scoredMemory } = usage;
  for (let position = 0; position < count; position++) {
    const node = nodes[position]!;
    const sum =
      percentLeft(cpu[node]!, scoredCpu[node]! + pod.cpuMilli) +
      percentLeft(memory[node]!, scoredMemory[node]! + pod.memoryBytes);
    scores[node] = cpu[node] === 0 || memory[node] === 0 ? sum : Math.floor(sum / 2);
  }
}

/** Rounded down. The product is exact below 2^53, that is, for nodes with up to 90 TB of memory. */
function percentLeft(allocatable: number, used: number): number {
  return used >= allocatable ? 0 : Math.floor(((allocatable - used) * scoreMax) / allocatable);
}
