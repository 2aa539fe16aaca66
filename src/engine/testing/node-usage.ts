/** Random histories of nodes and pods for the rules that sum up resources and ports per node, and an oracle that counts pod by pod. */
import fc from 'fast-check';
import type { ContainerPort, Pod, ResourceList } from '../../kube/api/core.ts';
import { podRequests } from '../../kube/quantities/pod-requests.ts';
import { allocatableAmounts, type ResourceAmounts } from '../../kube/quantities/resource-amounts.ts';
import type { ClusterChange } from '../cluster-index/cluster-change.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { readPod } from '../records/pod-record.ts';

export const usageNodes = ['n1', 'n2'];
const podNames = ['p1', 'p2', 'p3', 'p4'];

export type NodeUsageEvent =
  | { readonly type: 'node'; readonly name: string; readonly allocatable: ResourceList }
  | { readonly type: 'node deleted'; readonly name: string }
  | { readonly type: 'pod'; readonly pod: Pod }
  | { readonly type: 'pod deleted'; readonly name: string }
  | { readonly type: 'assumed'; readonly pod: Pod; readonly node: string }
  | { readonly type: 'assumption reverted'; readonly name: string };

const arbRequests: fc.Arbitrary<ResourceList> = fc.record(
  {
    cpu: fc.constantFrom('0', '100m', '1', '1.5'),
    memory: fc.constantFrom('0', '1Gi', '1Gi', '2Gi', '2Gi', '3Gi', '9007199254740993'),
    'ephemeral-storage': fc.constantFrom('0', '1Gi'),
    'example.com/gpu': fc.constantFrom('0', '1', '2'),
    'hugepages-2Mi': fc.constantFrom('2Mi', '4Mi'),
  },
  { requiredKeys: [] },
);

const arbAllocatable: fc.Arbitrary<ResourceList> = fc.record(
  {
    cpu: fc.constantFrom('1', '2', '4'),
    memory: fc.constantFrom('2Gi', '4Gi', '8Gi'),
    pods: fc.constantFrom('1', '3', '110'),
    'ephemeral-storage': fc.constantFrom('1Gi', '4Gi'),
    'example.com/gpu': fc.constantFrom('0', '2', '4'),
    'hugepages-2Mi': fc.constantFrom('4Mi', '8Mi'),
  },
  { requiredKeys: ['cpu', 'memory', 'pods'] },
);

const arbPort: fc.Arbitrary<ContainerPort> = fc.record({
  hostPort: fc.constantFrom(80, 81),
  protocol: fc.constantFrom('TCP', 'UDP'),
  hostIP: fc.constantFrom('', '0.0.0.0', '10.0.0.1', '10.0.0.2'),
});

const arbPorts = fc.oneof(
  { weight: 2, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.array(arbPort, { maxLength: 2 }) },
);

/** A pod without a node, with one container. */
export function podRequesting(
  name: string,
  requests: ResourceList,
  ports: readonly ContainerPort[] = [],
): Pod {
  return {
    metadata: { namespace: 'default', name, uid: `uid-${name}` },
    spec: { containers: [{ name: 'main', resources: { requests }, ports }] },
  };
}

/** A pod on the node. */
export function assignedPod(
  name: string,
  node: string,
  requests: ResourceList = {},
  rest: Partial<Pod> = {},
): Pod {
  const pod = podRequesting(name, requests);
  return { ...pod, ...rest, spec: { ...pod.spec, ...rest.spec, nodeName: node } };
}

export const arbPendingPod: fc.Arbitrary<Pod> = fc
  .tuple(arbRequests, arbPorts)
  .map(([requests, ports]) => podRequesting('pending', requests, ports));

const arbPod: fc.Arbitrary<Pod> = fc
  .record({
    name: fc.constantFrom(...podNames),
    requests: arbRequests,
    ports: arbPorts,
    node: fc.constantFrom('', ...usageNodes, ...usageNodes),
    nominated: fc.constantFrom('', '', '', ...usageNodes),
    isFinished: fc.nat(9).map((draw) => draw === 0),
  })
  .map(({ name, requests, ports, node, nominated, isFinished }) => {
    const pod = podRequesting(name, requests, ports);
    return {
      ...pod,
      spec: { ...pod.spec, ...(node !== '' && { nodeName: node }) },
      status: { phase: isFinished ? 'Succeeded' : 'Running', nominatedNodeName: nominated },
    };
  });

export const arbNodeUsageEvent: fc.Arbitrary<NodeUsageEvent> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('node' as const),
      name: fc.constantFrom(...usageNodes),
      allocatable: arbAllocatable,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('node deleted' as const),
      name: fc.constantFrom(...usageNodes),
    }),
  },
  { weight: 6, arbitrary: fc.record({ type: fc.constant('pod' as const), pod: arbPod }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('pod deleted' as const), name: fc.constantFrom(...podNames) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('assumed' as const),
      pod: arbPendingPod,
      node: fc.constantFrom(...usageNodes),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('assumption reverted' as const), name: fc.constant('pending') }),
  },
);

/** Applies the event to the index. A new assumption alone is not reported as a change. */
export function applyNodeUsageEvent(index: ClusterIndex, event: NodeUsageEvent): ClusterChange | undefined {
  switch (event.type) {
    case 'node':
      return index.upsert('Node', {
        metadata: { name: event.name },
        status: { allocatable: event.allocatable },
      }).change;
    case 'node deleted':
      return index.remove('Node', event.name).change;
    case 'pod':
      return index.upsert('Pod', event.pod).change;
    case 'pod deleted':
      return index.remove('Pod', `default/${event.name}`).change;
    case 'assumed': {
      const record = readPod(event.pod);
      if (index.pods.assumed(record.key) === undefined)
        index.setAssumedPod(record.key, { ...record, nodeName: event.node });
      return undefined;
    }
    case 'assumption reverted': {
      const known = index.pods.assumed(`default/${event.name}`);
      if (known === undefined) return undefined;
      index.setAssumedPod(known.key, undefined);
      return { kind: 'Release', volumes: [], pools: [], nodeName: known.nodeName };
    }
  }
}

// ── Oracle ──

/** The sorted reasons for which kube-scheduler would refuse the node, counted pod by pod. */
export function expectedReasons(index: ClusterIndex, pod: Pod, nodeName: string): string[] {
  const ports = portReasons(index, pod, nodeName);
  return ports.length > 0 ? ports : resourceReasons(index, pod, nodeName);
}

function resourceReasons(index: ClusterIndex, pod: Pod, nodeName: string): string[] {
  const assigned = [...index.pods.onNode(nodeName)].map(({ shape }) => podRequests(shape.spec));
  const allocatable = allocatableAmounts(index.nodes.get(nodeName)!.allocatable);
  const requested = podRequests(pod.spec ?? {});
  const isShort = (amount: (of: ResourceAmounts) => number) => {
    const used = assigned.reduce((sum, amounts) => sum + BigInt(amount(amounts)), 0n);
    return amount(requested) > 0 && used + BigInt(amount(requested)) > BigInt(amount(allocatable));
  };
  return [
    ...(assigned.length >= allocatable.pods ? ['Too many pods'] : []),
    ...(isShort(({ cpuMilli }) => cpuMilli) ? ['Insufficient cpu'] : []),
    ...(isShort(({ memoryBytes }) => memoryBytes) ? ['Insufficient memory'] : []),
    ...(isShort(({ ephemeralStorageBytes }) => ephemeralStorageBytes)
      ? ['Insufficient ephemeral-storage']
      : []),
    ...[...requested.others.keys()]
      .filter((name) => isShort(({ others }) => others.get(name) ?? 0))
      .map((name) => `Insufficient ${name}`),
  ].sort();
}

function portReasons(index: ClusterIndex, pod: Pod, nodeName: string): string[] {
  const wanted = pod.spec?.containers?.flatMap(({ ports }) => ports ?? []) ?? [];
  const taken = [...index.pods.onNode(nodeName)].flatMap(({ shape }) =>
    shape.spec.containers.flatMap(({ hostPorts }) => hostPorts ?? []),
  );
  const collide = (a: ContainerPort, b: ContainerPort) =>
    a.hostPort === b.hostPort && a.protocol === b.protocol && (isAny(a) || isAny(b) || a.hostIP === b.hostIP);
  return wanted.some((port) => taken.some((other) => collide(port, other)))
    ? ["node(s) didn't have free ports for the requested pod ports"]
    : [];
}

function isAny({ hostIP }: ContainerPort): boolean {
  return hostIP === '' || hostIP === undefined || hostIP === '0.0.0.0';
}
