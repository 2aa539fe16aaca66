import { expect, test } from 'vitest';
import {
  csiDriver,
  drive,
  driveNode,
  storageCapacity,
  storageClass,
  zone,
} from '../../engine/testing/objects.ts';
import { measureRoom } from '../../queries/headroom/measure.ts';
import { shop } from '../../queries/plan/testing/plan-views.ts';
import { nodeWith, viewOf } from '../../queries/testing/cluster-views.ts';
import type { ClusterView } from '../../queries/view/cluster-view.ts';
import { plainTerminal, type Terminal } from '../output/terminal.ts';
import { exitCodeOfHeadroom, renderedHeadroom } from './run.ts';

const golden = (name: string) => `./testing/golden/${name}`;
const narrow: Terminal = { width: 60, hasColour: false, isInteractive: true };
const size = { text: '10Gi', bytes: 10 * 2 ** 30 };
const options = { nowMs: Date.parse('2026-01-01T00:00:00Z'), profile: 'stowage', size } as const;

/** Local volumes, a pool for each of two zones, drives, a driver without published capacity, and a class without anything. */
function mixed(): ClusterView {
  const pooled = 'pools.example.com';
  return viewOf({
    Node: [
      nodeWith('n1', '4', { [zone]: 'a', 'stowage.dev/node': 'n1' }),
      nodeWith('n2', '4', { [zone]: 'b' }),
      { ...driveNode('n3'), status: { allocatable: { cpu: '4', memory: '16Gi', pods: '5' } } },
    ],
    StorageClass: [
      storageClass('drives', { provisioner: 'drives.stowage.dev' }),
      storageClass('empty'),
      storageClass('free', { provisioner: 'untracked.example.com' }),
      storageClass('pools', { provisioner: pooled }),
    ],
    CSIDriver: [csiDriver(pooled), csiDriver('drives.stowage.dev')],
    CSIStorageCapacity: [
      storageCapacity('pool-a', 'pools', {
        capacity: '95Gi',
        nodeTopology: { matchLabels: { [zone]: 'a' } },
      }),
      storageCapacity('pool-b', 'pools', {
        capacity: '42Gi',
        nodeTopology: { matchLabels: { [zone]: 'b' } },
      }),
    ],
    Drive: [
      drive('d1', 100, { node: 'n1' }),
      drive('d2', 25, { node: 'n3' }),
      drive('d3', 200, { node: 'n3' }),
    ],
  });
}

test('golden files: classes', async () => {
  const report = measureRoom(mixed(), options);
  await expect(renderedHeadroom(report, 'table', plainTerminal)).toMatchFileSnapshot(golden('classes.txt'));
  await expect(renderedHeadroom(report, 'table', narrow)).toMatchFileSnapshot(golden('classes-narrow.txt'));
  await expect(renderedHeadroom(report, 'json', plainTerminal)).toMatchFileSnapshot(
    golden('classes-json.txt'),
  );
  expect(renderedHeadroom(report, 'name', plainTerminal)).toBe(
    'storageclass/drives\nstorageclass/free\nstorageclass/pools\n',
  );
  expect(report.rows.map(({ of, count }) => [of, count])).toEqual([
    ['class drives', 15],
    ['class empty', 0],
    ['class free', 225],
    ['class pools', 13],
  ]);
});

test('golden files: the replicas of a StatefulSet', async () => {
  const like = { kind: 'StatefulSet', namespace: 'default', name: 'db' } as const;
  const report = measureRoom(shop(), { ...options, like });
  await expect(renderedHeadroom(report, 'table', plainTerminal)).toMatchFileSnapshot(golden('like.txt'));
  expect(report.rows[0]?.count).toBe(1);
});

test('golden files: an empty cluster', async () => {
  const report = measureRoom(viewOf({}), options);
  await expect(renderedHeadroom(report, 'table', plainTerminal)).toMatchFileSnapshot(golden('empty.txt'));
});

test('counting ends where it was asked to', () => {
  const [row] = measureRoom(mixed(), { ...options, storageClass: 'free', countMax: 7 }).rows;
  expect(row).toMatchObject({ count: 7, isCapped: true, runsOut: [] });
});

test('the exit status says whether anything more fits of what was named', () => {
  const none = measureRoom(mixed(), { ...options, storageClass: 'empty' });
  expect([exitCodeOfHeadroom(none, true), exitCodeOfHeadroom(none, false)]).toEqual([3, 0]);
  expect(exitCodeOfHeadroom(measureRoom(mixed(), { ...options, storageClass: 'pools' }), true)).toBe(0);
});

test('a class or a StatefulSet that does not exist is an error', () => {
  expect(() => measureRoom(mixed(), { ...options, storageClass: 'nope' })).toThrow(
    'there is no class nope; kubectl get storageclasses lists those there are',
  );
  const like = { kind: 'StatefulSet', namespace: 'default', name: 'nope' } as const;
  expect(() => measureRoom(mixed(), { ...options, like })).toThrow('there is no statefulset default/nope');
});
