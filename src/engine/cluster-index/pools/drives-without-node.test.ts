import { expect, test } from 'vitest';
import { clusterOf } from '../../testing/cluster.ts';
import { drive, driveNode, gib } from '../../testing/objects.ts';

const drives = [drive('a', 10), drive('b', 10, { node: 'n2' })];

test('a drive whose Node is deleted takes no volumes and has no free bytes until the Node is created again', () => {
  const index = clusterOf({ Node: [driveNode('n1'), driveNode('n2')], Drive: drives });
  const { pools } = index;
  const row = pools.row('Drive b')!;
  expect(pools.exclusion(row)).toBeUndefined();
  index.remove('Node', 'n2');
  expect(pools.exclusion(row)).toBe('NodeGone');
  expect(pools.limit(row)).toBeUndefined();
  expect(pools.available(row).bytes).toBe(0);
  expect(pools.limitBytes[row]).toBe(-1);
  expect(pools.exclusion(pools.row('Drive a')!)).toBeUndefined();
  index.upsert('Node', driveNode('n2'));
  expect(pools.exclusion(row)).toBeUndefined();
  expect(pools.available(row).bytes).toBe(gib(10));
});

test('the order in which Node and Drive are read does not matter', () => {
  const index = clusterOf({ Drive: drives });
  const row = index.pools.row('Drive a')!;
  expect(index.pools.exclusion(row)).toBe('NodeGone');
  index.upsert('Node', driveNode('n1'));
  expect(index.pools.limit(row)?.bytes).toBe(gib(10));
});

test('if Nodes could not be read, the Node of a drive counts as existing', () => {
  const index = clusterOf({});
  index.pools.knowsNodes = false;
  index.upsert('Drive', drives[0]!);
  expect(index.pools.exclusion(index.pools.row('Drive a')!)).toBeUndefined();
});
