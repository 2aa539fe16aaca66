import type { ResourceAmounts } from '../../../kube/quantities/resource-amounts.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import type { ResourceColumn, UsageTable } from '../../cluster-index/pods/usage-table.ts';

export type ResourceFacts = Pick<ClusterIndex, 'usage' | 'deviceClasses'>;

/** A resource that a node has too little of, in the units of the columns. */
export interface NodeShortage {
  readonly reason:
    | 'TooManyPods'
    | 'InsufficientCpu'
    | 'InsufficientMemory'
    | 'InsufficientEphemeralStorage'
    | 'InsufficientResource'
    | 'UnsupportedFeatureOnNode';
  readonly resource: string;
  readonly needed: number;
  readonly allocatable: number;
  readonly used: number;
}

/** A resource that is not requested can't be short, even on an overcommitted node. Without a column no node has the resource. */
export function isShort(column: ResourceColumn | undefined, node: number, needed: number): boolean {
  if (needed === 0) return false;
  return column === undefined || needed > column.allocatable[node]! - column.used[node]!;
}

export function fits(requests: ResourceAmounts, usage: UsageTable, node: number): boolean {
  const isShortOfCommon =
    isShort(usage.pods, node, 1) ||
    isShort(usage.cpu, node, requests.cpuMilli) ||
    isShort(usage.memory, node, requests.memoryBytes) ||
    isShort(usage.ephemeralStorage, node, requests.ephemeralStorageBytes);
  if (isShortOfCommon) return false;
  for (const [name, needed] of requests.others) if (isShort(usage.other(name), node, needed)) return false;
  return true;
}

/** Whether the requests would fit without the pods that use `gone`. */
export function fitsAfterEvicting(
  requests: ResourceAmounts,
  usage: UsageTable,
  node: number,
  gone: ResourceAmounts & { readonly pods: number },
): boolean {
  const lacks = (column: ResourceColumn | undefined, needed: number, freed: number) =>
    needed > 0 && isShort(column, node, needed - freed);
  const { cpu, memory, ephemeralStorage, pods } = usage;
  if (
    lacks(pods, 1, gone.pods) ||
    lacks(cpu, requests.cpuMilli, gone.cpuMilli) ||
    lacks(memory, requests.memoryBytes, gone.memoryBytes) ||
    lacks(ephemeralStorage, requests.ephemeralStorageBytes, gone.ephemeralStorageBytes)
  )
    return false;
  for (const [name, needed] of requests.others)
    if (lacks(usage.other(name), needed, gone.others.get(name) ?? 0)) return false;
  return true;
}

/** Whether the requests would not fit even if the node were empty. */
export function isShortWhenEmpty(requests: ResourceAmounts, usage: UsageTable, node: number): boolean {
  if (
    requests.cpuMilli > usage.cpu.allocatable[node]! ||
    requests.memoryBytes > usage.memory.allocatable[node]! ||
    requests.ephemeralStorageBytes > usage.ephemeralStorage.allocatable[node]!
  )
    return true;
  for (const [name, needed] of requests.others) {
    if (needed > (usage.other(name)?.allocatable[node] ?? 0)) return true;
  }
  return false;
}

/**
 * Whether Kubernetes would allocate devices for the resource on this node, which the engine does not (`DRAExtendedResource`, on by default since 1.36): the
 * node does not advertise it, and a DeviceClass names it in `spec.extendedResourceName`.
 */
export function isServedByDevices(
  { usage, deviceClasses }: ResourceFacts,
  node: number,
  name: string,
): boolean {
  return deviceClasses.serves(name) && !((usage.other(name)?.allocatable[node] ?? 0) > 0);
}

/** All shortages of one node. */
export function shortagesAt(requests: ResourceAmounts, index: ResourceFacts, node: number): NodeShortage[] {
  return needsOf(requests, index.usage)
    .filter(({ column, needed }) => isShort(column, node, needed))
    .map(({ column, ...need }) => ({
      ...need,
      ...(isServedByDevices(index, node, need.resource) && { reason: 'UnsupportedFeatureOnNode' as const }),
      allocatable: column?.allocatable[node] ?? 0,
      used: column?.used[node] ?? 0,
    }));
}

interface Need extends Pick<NodeShortage, 'reason' | 'resource' | 'needed'> {
  readonly column: ResourceColumn | undefined;
}

function needsOf(requests: ResourceAmounts, usage: UsageTable): Need[] {
  const { cpuMilli, memoryBytes, ephemeralStorageBytes, others } = requests;
  return [
    { reason: 'TooManyPods', resource: 'pods', needed: 1, column: usage.pods },
    { reason: 'InsufficientCpu', resource: 'cpu', needed: cpuMilli, column: usage.cpu },
    { reason: 'InsufficientMemory', resource: 'memory', needed: memoryBytes, column: usage.memory },
    {
      reason: 'InsufficientEphemeralStorage',
      resource: 'ephemeral-storage',
      needed: ephemeralStorageBytes,
      column: usage.ephemeralStorage,
    },
    ...[...others].map(
      ([name, needed]): Need => ({
        reason: 'InsufficientResource',
        resource: name,
        needed,
        column: usage.other(name),
      }),
    ),
  ];
}
