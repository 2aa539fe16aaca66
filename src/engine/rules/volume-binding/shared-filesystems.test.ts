import { expect, test } from 'vitest';
import type { Drive } from '../../../kube/stowage/drive.ts';
import { type ClusterObjects, clusterOf } from '../../testing/cluster.ts';
import { removed } from '../../testing/index-events.ts';
import { claim, csiClass, csiDriver, drive, driveNode, pod } from '../../testing/objects.ts';
import { expectWakeCases } from '../../testing/wake-cases.ts';
import { plan } from '../../testing/whole-engine.ts';

const driver = 'drives.stowage.dev';
const uuid = 'b7f6c1de-4a2e-4c6f-9d0b-5d8f3a1c2e77';

/** A Drive with a filesystem; the first argument after the name is the second in which it was created. */
function onFilesystem(name: string, second: number, filesystemUUID: string, node = 'n1'): Drive {
  const made = drive(name, 10, { node, spec: { nodeName: node, filesystemUUID } });
  const creationTimestamp = `2026-01-01T00:00:0${second}Z`;
  return { ...made, metadata: { ...made.metadata, creationTimestamp } };
}

function cluster(drives: readonly Drive[]): ClusterObjects {
  return {
    StorageClass: [csiClass(driver, 'local')],
    CSIDriver: [csiDriver(driver)],
    Node: [driveNode('n1')],
    Drive: drives,
    PersistentVolumeClaim: ['x', 'y'].map((name) => claim(name, '8Gi', { className: 'local' })),
  };
}

function placesOf(drives: readonly Drive[], claims: readonly string[]): readonly string[] | string {
  const answer = plan(pod('p', claims), clusterOf(cluster(drives)), { nowMs: 0 });
  if (answer.kind === 'refusal') return 'refused';
  return answer.provisions.map(({ pool }) => pool!.name).sort();
}

test.each([
  ['the first', ['a', 'b']],
  ['the second', ['b', 'a']],
] as const)(
  'the bytes of a filesystem count once, with the older Drive, if it is %s that is read',
  (_, order) => {
    const made = {
      a: onFilesystem('a', 2, uuid),
      b: onFilesystem('b', 1, uuid.toUpperCase()),
    };
    const drives = order.map((name) => made[name]);
    expect(placesOf(drives, ['x'])).toEqual(['b']);
    expect(placesOf(drives, ['x', 'y'])).toBe('refused');
    const { pools } = clusterOf(cluster(drives));
    expect(['a', 'b'].map((name) => pools.exclusion(pools.row(`Drive ${name}`)!))).toEqual([
      'Duplicate',
      undefined,
    ]);
  },
);

test('Drives of one second are ordered by their uid; other filesystems and other nodes do not count', () => {
  expect(placesOf([onFilesystem('b', 1, uuid), onFilesystem('a', 1, uuid)], ['x'])).toEqual(['a']);
  const other = uuid.replace('b7', 'c8');
  expect(placesOf([onFilesystem('b', 1, uuid), onFilesystem('a', 1, other)], ['x', 'y'])).toEqual(['a', 'b']);
  const elsewhere = onFilesystem('a', 0, uuid, 'n2');
  expect(placesOf([elsewhere, onFilesystem('b', 1, uuid)], ['x'])).toEqual(['b']);
});

test('a rollback brings the order of the Drives back', () => {
  const index = clusterOf(cluster([onFilesystem('a', 2, uuid)]));
  const row = index.pools.row('Drive a')!;
  const savepoint = index.savepoint();
  index.upsert('Drive', onFilesystem('b', 1, uuid));
  expect(index.pools.limit(row)).toBeUndefined();
  expect(index.pools.available(row).bytes).toBe(0);
  index.rollback(savepoint);
  expect(index.pools.available(row).bytes).toBe(10 * 2 ** 30);
  expect(index.pools.limitBytes[row]).toBe(10 * 2 ** 30);
});

const two = [onFilesystem('a', 1, uuid), onFilesystem('b', 2, uuid)];
const full = two.map((one) => ({
  ...one,
  spec: { ...one.spec, unschedulable: one.metadata?.name === 'a' },
}));

expectWakeCases([
  {
    name: 'a pod is woken when the Drive is removed that its filesystem belonged to',
    cluster: cluster(full),
    pod: pod('p', ['x']),
    event: removed('Drive', 'a'),
    wakes: true,
  },
  {
    name: 'a pod is not woken when the other Drive of the filesystem is removed',
    cluster: cluster(full),
    pod: pod('p', ['x']),
    event: removed('Drive', 'b'),
    wakes: false,
  },
]);
