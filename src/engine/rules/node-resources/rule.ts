/** NodeResourcesFit: a node must be able to run one more pod and have all the resources that it requests. Prefers nodes with more left. */
import type { ResourceAmounts } from '../../../kube/quantities/resource-amounts.ts';
import { type PodDemand, podDemandOf } from '../../records/pod-shape/pod-demand.ts';
import type { Cycle } from '../framework/cycle.ts';
import type { Finding, ResourceMargin } from '../framework/finding.ts';
import type { Prepared, Rule } from '../framework/rule.ts';
import { scoreLeastAllocated } from './least-allocated.ts';
import { isServedByDevices, isShort, isShortWhenEmpty, type NodeShortage, shortagesAt } from './shortages.ts';
import { resourcesInvalidate, resourcesWake } from './wakes.ts';

export const nodeResourcesRule: Rule<PodDemand> = {
  name: 'NodeResourcesFit',
  reasons: [
    'TooManyPods',
    'InsufficientCpu',
    'InsufficientMemory',
    'InsufficientEphemeralStorage',
    'InsufficientResource',
    'UnsupportedFeatureOnNode',
  ],
  prepare: ({ pod }: Cycle): Prepared<PodDemand> => ({ kind: 'ready', state: podDemandOf(pod.shape) }),
  filter,
  score: { weight: 1, run: ({ scored }, cycle, scores) => scoreLeastAllocated(scored, cycle, scores) },
  explain,
  wakes: resourcesWake,
  invalidates: resourcesInvalidate,
};

const podsBit = 1;
const cpuBit = 2;
const memoryBit = 4;
const storageBit = 8;
const otherBit = 16;
const devicesBit = 32;

/** The columns say which nodes are short of a resource. Only for those the rule looks up which resources, and whether preemption may help. */
function filter({ requests }: PodDemand, cycle: Cycle): void {
  const { rows: nodes, count } = cycle.feasibleRows();
  const { usage } = cycle.index;
  const { cpuMilli, memoryBytes, ephemeralStorageBytes, others } = requests;
  const { allocatable: pods, used: podsUsed } = usage.pods;
  const { allocatable: cpu, used: cpuUsed } = usage.cpu;
  const { allocatable: memory, used: memoryUsed } = usage.memory;
  const { allocatable: storage, used: storageUsed } = usage.ephemeralStorage;
  for (let position = 0; position < count; position++) {
    const node = nodes[position]!;
    const fits =
      podsUsed[node]! < pods[node]! &&
      (cpuMilli === 0 || cpuMilli <= cpu[node]! - cpuUsed[node]!) &&
      (memoryBytes === 0 || memoryBytes <= memory[node]! - memoryUsed[node]!) &&
      (ephemeralStorageBytes === 0 || ephemeralStorageBytes <= storage[node]! - storageUsed[node]!);
    if (!fits || (others.size > 0 && !fitsOthers(others, cycle, node))) rejectShort(requests, cycle, node);
  }
}

function fitsOthers(others: ResourceAmounts['others'], { index }: Cycle, node: number): boolean {
  for (const [name, needed] of others) if (isShort(index.usage.other(name), node, needed)) return false;
  return true;
}

function rejectShort(requests: ResourceAmounts, cycle: Cycle, node: number): void {
  const { pods, cpu, memory, ephemeralStorage } = cycle.index.usage;
  // The number of pods never makes the verdict unresolvable, not even on a node that may run no pods.
  let verdict = isShort(pods, node, 1) ? podsBit : 0;
  verdict |= isShort(cpu, node, requests.cpuMilli) ? cpuBit : 0;
  verdict |= isShort(memory, node, requests.memoryBytes) ? memoryBit : 0;
  verdict |= isShort(ephemeralStorage, node, requests.ephemeralStorageBytes) ? storageBit : 0;
  verdict |= otherShortages(requests.others, cycle, node);
  if (isShortWhenEmpty(requests, cycle.index.usage, node)) cycle.rejectUnresolvable(node, verdict);
  else cycle.reject(node, verdict);
}

/** A node has one list of names. Devices that the node lacks can't be replaced, so they come first, and other shortages are left out. */
function otherShortages(others: ResourceAmounts['others'], cycle: Cycle, node: number): number {
  const short = [...others].flatMap(([name, needed]) =>
    isShort(cycle.index.usage.other(name), node, needed) ? [name] : [],
  );
  const byDevices = short.filter((name) => isServedByDevices(cycle.index, node, name));
  for (const name of byDevices.length > 0 ? byDevices : short) cycle.note(node, name);
  if (byDevices.length > 0) return devicesBit;
  return short.length > 0 ? otherBit : 0;
}

function explain({ requests }: PodDemand, { index }: Cycle, node: number): readonly Finding[] {
  return shortagesAt(requests, index, node).map((shortage) => ({
    rule: nodeResourcesRule.name,
    reason: shortage.reason,
    claim: undefined,
    candidates: [],
    omitted: 0,
    margin: marginOf(shortage),
  }));
}

function marginOf({ resource, needed, allocatable, used }: NodeShortage): ResourceMargin {
  const unitsPerOne = resource === 'cpu' ? 1000 : 1;
  const free = Math.max(0, allocatable - used);
  return { unit: 'resource', resource, needed: needed / unitsPerOne, free: free / unitsPerOne };
}
