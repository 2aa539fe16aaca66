import { expect, test } from 'vitest';
import type { CSINode } from '../../kube/api/storage.ts';
import { type ClusterObjects, clusterOf } from '../testing/cluster.ts';
import { expectPlacement } from '../testing/expect-plan.ts';
import { claim, csiClass, csiNode, node, pod, zone } from '../testing/objects.ts';

function registered(name: string, ...topologyKeys: readonly string[]): CSINode {
  const { spec, ...rest } = csiNode(name, { 'disk.csi': undefined });
  return { ...rest, spec: { drivers: spec!.drivers!.map((driver) => ({ ...driver, topologyKeys })) } };
}

const rack = 'example.com/rack';
const cordoned = { unschedulable: true };

/** The segments for the claim `data`, as `zone` or `zone/rack`, the chosen node's first. */
function segments(
  objects: ClusterObjects,
  claims: readonly string[] = ['data'],
): readonly string[] | undefined {
  const index = clusterOf({
    StorageClass: [csiClass('disk.csi', 'local')],
    PersistentVolumeClaim: claims.map((name) => claim(name, '1Gi')),
    ...objects,
  });
  const { provisions } = expectPlacement(index, pod('p', claims));
  return provisions[0]!.fittingSegments?.map((one) => Object.values(one).join('/'));
}

test('are those of nodes that fit the pod, each once', () => {
  const zones = [
    node('n1', { [zone]: 'a' }),
    node('n2', { [zone]: 'b' }),
    node('n3', { [zone]: 'b' }),
    { ...node('n4', { [zone]: 'c' }), spec: cordoned },
    node('n5', { [zone]: 'd' }),
  ];
  const drivers = ['n1', 'n3', 'n4'].map((name) => registered(name, zone));
  // The driver is registered neither on n2, whose zone has another node, nor on n5.
  expect(segments({ Node: zones, CSINode: drivers })).toEqual(['a', 'b']);
});

test('have a value for each key of the driver', () => {
  const nodes = [
    node('n1', { [zone]: 'a', [rack]: '1' }),
    node('n2', { [zone]: 'a', [rack]: '2' }),
    node('n3', { [zone]: 'a', [rack]: '2' }),
    node('n4', { [zone]: 'b' }),
  ];
  const drivers = nodes.map(({ metadata }) => registered(metadata!.name!, zone, rack));
  expect(segments({ Node: nodes, CSINode: drivers })).toEqual(['1/a', '2/a']);
});

test('are only that of the chosen node if the pod gets several volumes', () => {
  const nodes = [node('n1', { [zone]: 'a' }), node('n2', { [zone]: 'b' })];
  const drivers = ['n1', 'n2'].map((name) => registered(name, zone));
  expect(segments({ Node: nodes, CSINode: drivers }, ['data', 'log'])).toEqual(['a']);
});

test('are limited in number, and unknown for a driver without topology', () => {
  const nodes = Array.from({ length: 40 }, (_, at) => node(`n${at}`, { [zone]: `z${at}` }));
  const names = nodes.map(({ metadata }) => metadata!.name!);
  expect(segments({ Node: nodes, CSINode: names.map((name) => registered(name, zone)) })).toHaveLength(16);
  expect(segments({ Node: nodes, CSINode: names.map((name) => registered(name)) })).toBeUndefined();
  expect(segments({ Node: nodes })).toBeUndefined();
});
