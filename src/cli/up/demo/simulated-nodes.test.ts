import { expect, test } from 'vitest';
import { EmbeddedFixture } from '../../../cluster/testing/embedded-fixture.ts';
import { nodes } from '../../../kube/resources.ts';
import { labels } from '../../../kube/well-known.ts';
import { VirtualClock } from '../../../runtime/virtual-clock.ts';
import { CliError } from '../../errors/cli-error.ts';
import { createSimulatedNodes, simulatedNodesOf } from './simulated-nodes.ts';

test.each([
  { flags: {}, parsed: undefined },
  { flags: { nodes: '3' }, parsed: { count: 3, zones: 1 } },
  { flags: { nodes: '6', zones: '3' }, parsed: { count: 6, zones: 3 } },
])('the flags $flags are accepted', ({ flags, parsed }) => {
  expect(simulatedNodesOf(flags)).toEqual(parsed);
});

test.each([
  { flags: { zones: '2' }, problem: '--zones: spreads the nodes of --nodes' },
  { flags: { nodes: '0' }, problem: '--nodes: "0" must be a number from 1 to 10000' },
  { flags: { nodes: '10001' }, problem: '--nodes: "10001" must be a number from 1 to 10000' },
  { flags: { nodes: 'many' }, problem: '--nodes: "many" must be a number' },
  { flags: { nodes: '2', zones: '-1' }, problem: '--zones: "-1" must be a number' },
  { flags: { nodes: '2', zones: '3' }, problem: '--zones: 3 zones need at least as many nodes' },
])('the flags $flags are refused', ({ flags, problem }) => {
  expect(() => simulatedNodesOf(flags)).toThrow(CliError);
  expect(() => simulatedNodesOf(flags)).toThrow(problem);
});

test('missing nodes are created in turn over the zones, and existing ones stay as they are', async () => {
  const { cluster } = await EmbeddedFixture.start(new VirtualClock());
  const client = cluster.resource(nodes);
  await client.create({ metadata: { name: 'node-2', labels: { [labels.zone]: 'elsewhere' } } });
  const { signal } = new AbortController();
  const wanted = { count: 205, zones: 2 };
  expect(await createSimulatedNodes(cluster, wanted, signal)).toBe(204);
  expect(await createSimulatedNodes(cluster, wanted, signal)).toBe(0);
  const { items } = await client.list();
  expect(items).toHaveLength(205);
  const zoneOf = (name: string) =>
    items.find(({ metadata }) => metadata?.name === name)?.metadata?.labels?.[labels.zone];
  expect(['node-1', 'node-2', 'node-3', 'node-204'].map(zoneOf)).toEqual([
    'zone-1',
    'elsewhere',
    'zone-1',
    'zone-2',
  ]);
  expect(items.at(0)?.status?.allocatable).toMatchObject({ cpu: '8', pods: '110' });
});
