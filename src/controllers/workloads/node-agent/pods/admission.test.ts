import { expect, test } from 'vitest';
import type { Cluster } from '../../../../cluster/cluster.ts';
import { InterceptedCluster } from '../../../../cluster/intercepted-cluster.ts';
import type { Node, Pod, PodSpec } from '../../../../kube/api/core.ts';
import { nodes, pods } from '../../../../kube/resources.ts';
import { crashControllersAtEveryWrite } from '../../../testing/crash-at-every-write.ts';
import { VirtualTimeCluster } from '../../../testing/virtual-time-cluster.ts';
import { nodeAgentController } from '../node-agent.ts';
import { getPod, makeNode, makePod, namespace, phases } from '../testing/agent-fixture.ts';
import { admissionFailure } from './admission.ts';

interface Case {
  readonly what: string;
  readonly pod?: PodSpec;
  readonly node?: Node['spec'];
  readonly allocatable?: Readonly<Record<string, string>>;
  readonly others?: readonly PodSpec[];
  readonly expected: string | undefined;
}

const affinity = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";
const ports = "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports";
const taints = "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate";

function requiring(...values: readonly string[]): PodSpec {
  const matchExpressions = [{ key: 'zone', operator: 'In', values }] as const;
  const required = { nodeSelectorTerms: [{ matchExpressions }] };
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } };
}

function onPort(hostPort: number, more: object = {}): PodSpec {
  return { containers: [{ name: 'main', ports: [{ containerPort: 80, hostPort, ...more }] }] };
}

function asking(requests: Readonly<Record<string, string>>): PodSpec {
  return { containers: [{ name: 'main', resources: { requests } }] };
}

const short = "Node didn't have enough resource:";
const noExecute = { taints: [{ key: 'k', value: 'v', effect: 'NoExecute' }] } as const;
const onAddress = (hostIP: string) => onPort(80, { hostIP });

const cases: readonly Case[] = [
  { what: 'no requirements', expected: undefined },
  { what: 'a selector that matches', pod: { nodeSelector: { zone: 'a' } }, expected: undefined },
  { what: 'a selector that does not match', pod: { nodeSelector: { zone: 'b' } }, expected: affinity },
  { what: 'an affinity that matches', pod: requiring('b', 'a'), expected: undefined },
  { what: 'an affinity that does not match', pod: requiring('b'), expected: affinity },
  { what: 'a port that is free', pod: onPort(80), others: [onPort(81)], expected: undefined },
  { what: 'a port that is taken', pod: onPort(80), others: [onPort(80)], expected: ports },
  {
    what: 'a port of another protocol',
    pod: onPort(80),
    others: [onPort(80, { protocol: 'UDP' })],
    expected: undefined,
  },
  {
    what: 'a port on another address',
    pod: onAddress('10.0.0.1'),
    others: [onAddress('10.0.0.2')],
    expected: undefined,
  },
  {
    what: 'a port taken on all addresses',
    pod: onAddress('10.0.0.1'),
    others: [onPort(80)],
    expected: ports,
  },
  {
    what: 'a port of an init container that ends',
    pod: onPort(80),
    others: [{ initContainers: onPort(80).containers ?? [] }],
    expected: undefined,
  },
  {
    what: 'a port of a sidecar',
    pod: onPort(80),
    others: [
      { initContainers: (onPort(80).containers ?? []).map((one) => ({ ...one, restartPolicy: 'Always' })) },
    ],
    expected: ports,
  },
  { what: 'a NoExecute taint', node: noExecute, expected: taints },
  {
    what: 'a taint that it tolerates for a while',
    node: noExecute,
    pod: { tolerations: [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }] },
    expected: undefined,
  },
  {
    what: 'a taint for the scheduler only',
    node: { taints: [{ key: 'k', effect: 'NoSchedule' }] },
    expected: undefined,
  },
  {
    what: 'several failures',
    node: noExecute,
    pod: { ...requiring('b'), ...onPort(80) },
    others: [onPort(80)],
    expected: affinity,
  },
  {
    what: 'a request that just fits',
    allocatable: { cpu: '1', pods: '2' },
    pod: asking({ cpu: '500m' }),
    others: [asking({ cpu: '500m' })],
    expected: undefined,
  },
  {
    what: 'a request for more cpu than is free',
    allocatable: { cpu: '1', memory: '1Gi', pods: '2' },
    pod: { ...asking({ cpu: '600m', memory: '2Gi' }), ...requiring('b') },
    others: [asking({ cpu: '500m' })],
    expected: `${short} cpu, requested: 600, used: 500, capacity: 1000`,
  },
  {
    what: 'a request for more memory than is free',
    allocatable: { cpu: '1', memory: '1Ki' },
    pod: asking({ cpu: '600m', memory: '1Ki' }),
    others: [asking({ memory: '24' })],
    expected: `${short} memory, requested: 1024, used: 24, capacity: 1024`,
  },
  {
    what: 'a request for more ephemeral storage than there is',
    allocatable: { 'ephemeral-storage': '10' },
    pod: asking({ 'ephemeral-storage': '11' }),
    expected: `${short} ephemeral-storage, requested: 11, used: 0, capacity: 10`,
  },
  {
    what: 'one pod too many on its node',
    allocatable: { pods: '1' },
    others: [{}],
    expected: `${short} pods, requested: 1, used: 1, capacity: 1`,
  },
  {
    what: 'a request for a device that is in use',
    allocatable: { 'example.com/gpu': '1' },
    pod: asking({ 'example.com/gpu': '1' }),
    others: [asking({ 'example.com/gpu': '1' })],
    expected: `${short} example.com/gpu, requested: 1, used: 1, capacity: 1`,
  },
  {
    what: 'a request for a device that the node does not have',
    allocatable: { cpu: '1' },
    pod: asking({ 'example.com/gpu': '1' }),
    expected: undefined,
  },
  {
    what: 'a request for huge pages that the node does not have',
    allocatable: { cpu: '1' },
    pod: asking({ 'hugepages-2Mi': '2Mi' }),
    expected: `${short} hugepages-2Mi, requested: 2097152, used: 0, capacity: 0`,
  },
  {
    what: 'a request for a resource that the node does not list',
    allocatable: { memory: '1Gi' },
    pod: asking({ cpu: '100' }),
    others: [{}, {}],
    expected: undefined,
  },
  { what: 'a request, on a node that lists no resources', pod: asking({ cpu: '100' }), expected: undefined },
];

test.each(cases)('a pod with $what', ({ pod = {}, node = {}, allocatable, others = [], expected }) => {
  const status = allocatable === undefined ? {} : { allocatable };
  const named: Node = { metadata: { name: 'n1', labels: { zone: 'a' } }, spec: node, status };
  const around: readonly Pod[] = others.map((spec) => ({ spec }));
  expect(admissionFailure({ spec: pod }, named, around)?.message).toBe(expected);
});

test('a pod that its node rejects fails, with the reason', async () => {
  await using fixture = await VirtualTimeCluster.start();
  await makeNode(fixture, 'n1');
  await makePod(fixture, 'web', { spec: { nodeSelector: { zone: 'elsewhere' } } });
  const foreign = { type: 'example.com/on', status: 'True' };
  const conditions = [{ type: 'PodScheduled', status: 'True' }, foreign];
  const patch = { type: 'merge', body: { status: { conditions } } } as const;
  await fixture.cluster.resource(pods).patch({ namespace, name: 'web' }, patch, { subresource: 'status' });
  fixture.run([nodeAgentController()]);
  await fixture.settle();
  const { status } = await getPod(fixture, 'web');
  expect(status).toMatchObject({
    phase: 'Failed',
    reason: 'NodeAffinity',
    message: `Pod was rejected: ${affinity}`,
    startTime: expect.any(String),
  });
  expect(status?.conditions).toMatchObject([foreign]);
  expect(await fixture.eventLines()).toEqual([`NodeAffinity web: ${affinity}`]);
  expect(fixture.errors).toEqual([]);
});

test('a running pod stays when its node would no longer admit it', async () => {
  await using fixture = await VirtualTimeCluster.start(nodeAgentController());
  await makeNode(fixture, 'n1');
  await makePod(fixture, 'web', { spec: { nodeSelector: { zone: 'n1' } } });
  await fixture.settle();
  const body = { metadata: { labels: { zone: 'elsewhere' } } };
  await fixture.cluster.resource(nodes).patch({ name: 'n1' }, { type: 'merge', body });
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['web Running']);
});

test('of two concurrent pods that need the same port, one fails', async () => {
  await using fixture = await VirtualTimeCluster.start();
  await makeNode(fixture, 'n1');
  const spec = {
    containers: [{ name: 'main', image: 'pause', ports: [{ containerPort: 80, hostPort: 80 }] }],
  };
  for (const name of ['a', 'b']) await makePod(fixture, name, { spec });
  fixture.run([nodeAgentController()]);
  await fixture.settle();
  expect((await phases(fixture)).map((line) => line.split(' ')[1]).sort()).toEqual(['Failed', 'Running']);
  const [failed] = (await phases(fixture)).filter((line) => line.endsWith(' Failed'));
  await makePod(fixture, 'c', { node: 'n2', spec });
  await makeNode(fixture, 'n2');
  await fixture.settle();
  expect(await phases(fixture)).toContain('c Running');
  expect((await fixture.eventLines()).join()).toContain(`NodePorts ${failed?.split(' ')[0]}: ${ports}`);
});

test('concurrent pods never get more than the node has; capacity of a finished pod is free again', async () => {
  await using fixture = await VirtualTimeCluster.start();
  await makeNode(fixture, 'n1');
  const body = { status: { allocatable: { cpu: '2', pods: '110' } } };
  const client = fixture.cluster.resource(nodes);
  await client.patch({ name: 'n1' }, { type: 'merge', body }, { subresource: 'status' });
  const containers = [{ name: 'main', image: 'pause', resources: { requests: { cpu: '500m' } } }];
  const names = Array.from({ length: 6 }, (_, index) => `p${index}`);
  for (const name of names) await makePod(fixture, name, { spec: { containers } });
  fixture.run([nodeAgentController()]);
  await fixture.settle();
  const ends = (await phases(fixture)).map((line) => line.split(' '));
  expect(ends.filter(([, phase]) => phase === 'Running')).toHaveLength(4);
  const [refused = ''] = ends.find(([, phase]) => phase === 'Failed') ?? [];
  expect((await getPod(fixture, refused)).status?.reason).toBe('OutOfcpu');
  const [running = ''] = ends.find(([, phase]) => phase === 'Running') ?? [];
  await fixture.cluster.resource(pods).delete({ namespace, name: running }, { gracePeriodSeconds: 0 });
  await makePod(fixture, 'next', { spec: { containers } });
  await fixture.settle();
  expect(await phases(fixture)).toContain('next Running');
});

/** The cluster, but the node changes just before it is read, without an event. */
function changedBeforeRead(cluster: Cluster, change: () => Promise<unknown>): Cluster {
  return new InterceptedCluster(cluster, {
    before: ({ verb, resource }) =>
      verb === 'get' && resource.plural === nodes.plural ? change() : undefined,
  });
}

test('a node that got its label a moment ago admits the pod: no pod fails because of a stale cache', async () => {
  await using fixture = await VirtualTimeCluster.start();
  await makeNode(fixture, 'n1');
  await makePod(fixture, 'web', { spec: { nodeSelector: { disk: 'fast' } } });
  const body = { metadata: { labels: { disk: 'fast' } } };
  const label = () => fixture.cluster.resource(nodes).patch({ name: 'n1' }, { type: 'merge', body });
  fixture.run([nodeAgentController()], changedBeforeRead(fixture.cluster, label));
  await fixture.settle();
  expect(await phases(fixture)).toEqual(['web Running']);
});

test('crashing after any write does not change which pods are admitted', async () => {
  const crashes = await crashControllersAtEveryWrite({
    controllers: [nodeAgentController()],
    prepare: async (fixture) => {
      await makeNode(fixture, 'n1');
      await makePod(fixture, 'good');
      await makePod(fixture, 'bad', { spec: { nodeSelector: { zone: 'elsewhere' } } });
      await fixture.cluster.resource(pods).delete({ namespace, name: 'good' }, { gracePeriodSeconds: 9 });
    },
    resources: [pods, nodes],
    settleMs: 20_000,
  });
  expect(crashes).toBeGreaterThanOrEqual(4);
});
