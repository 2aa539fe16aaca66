import { describe, expect, test } from 'vitest';
import type { PersistentVolumeClaim, Pod } from '../../../kube/api/core.ts';
import type { Drive } from '../../../kube/stowage/drive.ts';
import { upstreamProfile } from '../../cluster-index/profile.ts';
import { type ClusterObjects, clusterOf } from '../../testing/cluster.ts';
import { expectPlacement, expectRefusal } from '../../testing/expect-plan.ts';
import { upserted } from '../../testing/index-events.ts';
import {
  claim,
  csiClass,
  csiDriver,
  type DriveBuilderOptions,
  drive,
  driveNode,
  gib,
  pod,
  storageCapacity,
  volume,
} from '../../testing/objects.ts';
import { expectWakeCases } from '../../testing/wake-cases.ts';
import { plan } from '../../testing/whole-engine.ts';

const driver = 'drives.stowage.dev';

function cluster(drives: readonly Drive[], claims: readonly PersistentVolumeClaim[]): ClusterObjects {
  return {
    StorageClass: [
      csiClass(driver, 'local'),
      csiClass(driver, 'hot', { parameters: { accessTier: 'hot', driveLabels: 'rack=r1' } }),
      csiClass(driver, 'wrong', { parameters: { accessTier: 'fast' } }),
    ],
    CSIDriver: [csiDriver(driver)],
    Node: [driveNode('n1'), driveNode('n2')],
    Drive: drives,
    PersistentVolumeClaim: claims,
  };
}

/** One pod with a claim of each size. */
function sized(sizes: readonly number[], className = 'local'): { claims: PersistentVolumeClaim[]; pod: Pod } {
  const claims = sizes.map((size, at) => claim(`c${at}`, `${size}Gi`, { className }));
  return {
    claims,
    pod: pod(
      'p',
      claims.map(({ metadata }) => metadata!.name!),
    ),
  };
}

function drivesOf(
  drives: readonly Drive[],
  sizes: readonly number[],
  className = 'local',
): string[] | string {
  const { claims, pod: asking } = sized(sizes, className);
  const answer = plan(asking, clusterOf(cluster(drives, claims)), { nowMs: 0 });
  if (answer.kind !== 'placement') return answer.message;
  return answer.provisions.map(({ pool }) => pool?.name ?? 'untracked').sort();
}

describe('drives as pools', () => {
  test('room is counted by the drive, not by the node', () => {
    const two = [drive('a', 10), drive('b', 10)];
    expect(drivesOf(two, [8, 8])).toEqual(['a', 'b']);
    expect(drivesOf(two, [8, 8, 4])).toContain('did not have enough free storage');
    expect(drivesOf([drive('a', 15), drive('b', 5)], [8, 8])).toContain('did not have enough free storage');
    expect(drivesOf([drive('a', 15), drive('b', 5)], [8, 7, 5])).toEqual(['a', 'a', 'b']);
  });

  test('a volume goes on the drive with the most free bytes', () => {
    const volumes = [{ name: 'v', sizeBytes: gib(5) }];
    expect(drivesOf([drive('a', 10, { spec: { volumes } }), drive('b', 6)], [1])).toEqual(['b']);
    // The first volume leaves less on b than a has.
    expect(drivesOf([drive('a', 5), drive('b', 6)], [2, 1])).toEqual(['a', 'b']);
  });

  test('each of equal drives is as likely: chi-square over the uids of claims', () => {
    const counts = new Map(['a', 'b', 'c', 'd'].map((name) => [name, 0]));
    const index = clusterOf(
      cluster(
        [...counts.keys()].map((name) => drive(name, 10)),
        [],
      ),
    );
    const claims = 2_000;
    for (let at = 0; at < claims; at += 1) {
      const data = claim('data', '1Gi', {});
      const uid = `0d4f2a30-7f5c-4a5b-9d6e-${String(at).padStart(12, '0')}`;
      const metadata = { ...data.metadata, uid, resourceVersion: String(at + 1) };
      index.upsert('PersistentVolumeClaim', { ...data, metadata });
      const name = expectPlacement(index, pod('p', ['data'])).provisions[0]!.pool!.name;
      counts.set(name, counts.get(name)! + 1);
    }
    const expected = claims / counts.size;
    const chiSquare = [...counts.values()].reduce(
      (sum, count) => sum + (count - expected) ** 2 / expected,
      0,
    );
    // 3 degrees of freedom: a fair choice is above 16.3 once in a thousand.
    expect(chiSquare).toBeLessThan(16.3);
  });

  test('many drives in one node are assigned exactly', () => {
    const many = Array.from({ length: 24 }, (_, at) => drive(`d${at}`, at < 3 ? 7 : 5));
    expect(drivesOf(many, [7, 7, 7])).toEqual(['d0', 'd1', 'd2']);
    expect(drivesOf(many, [6, 6, 6, 6])).toContain('did not have enough free storage');
  });

  test.each<[string, DriveBuilderOptions]>([
    ['cordoned', { spec: { unschedulable: true } }],
    ['lost', { state: 'Lost' }],
    ['in error', { state: 'Error' }],
    ['in another node', { node: 'n3' }],
  ])('a drive that is %s takes no volumes', (_, options) => {
    expect(drivesOf([drive('a', 10, options), drive('b', 1, { node: 'n2' })], [2])).toContain(
      'did not have enough free storage',
    );
  });

  test('the class says which drives it accepts', () => {
    const options = (rack: string, accessTier: string) => ({ labels: { rack }, spec: { accessTier } });
    const drives = [
      drive('a', 10, options('r1', 'Hot')),
      drive('b', 20, options('r2', 'Hot')),
      drive('c', 30, options('r1', 'Cold')),
    ];
    expect(drivesOf(drives, [2], 'hot')).toEqual(['a']);
    expect(drivesOf(drives, [12], 'hot')).toContain('did not have enough free storage');
    expect(drivesOf(drives, [2])).toEqual(['c']);
    expect(drivesOf(drives.slice(1), [2], 'hot')).toContain(
      '1 node(s) had no drive of the access tier or with the labels that the volume asks for',
    );
  });

  test('drives of another tier or with other labels are named with the difference', () => {
    const { claims, pod: asking } = sized([5], 'hot');
    const drives = [
      drive('a', 10, { labels: { rack: 'r1' } }),
      drive('b', 10, { labels: { rack: 'r2' }, spec: { accessTier: 'Hot' } }),
    ];
    const index = clusterOf(cluster(drives, claims));
    const refusal = expectRefusal(index, asking);
    const found = refusal.explain().nodes.find(({ node }) => node === 'n1')!.findings[0]!;
    expect(found.reason).toBe('NoDriveOfKind');
    expect(found.candidates.map(({ name, obstacles }) => [name, obstacles[0]?.detail])).toEqual([
      ['a', 'it has access tier Default, and Hot is asked'],
      ['b', 'it lacks the label rack=r1'],
    ]);
    const hot = drive('a', 10, { labels: { rack: 'r1' }, spec: { accessTier: 'Hot' } });
    const { change } = index.upsert('Drive', {
      ...hot,
      metadata: { ...hot.metadata, resourceVersion: '99' },
    });
    expect(refusal.wokenBy(change!)).toBe(true);
    expectPlacement(index, asking);
  });

  test.each([
    [{ accessTier: 'fast' }, 'parameter accessTier: "fast" must be one of Default, Hot, Warm, Cold'],
    [
      { 'csi.storage.k8s.io/fstype': 'ext4' },
      'parameter csi.storage.k8s.io/fstype: drives have the filesystem xfs, not "ext4"',
    ],
  ])('a class with %o refuses the pod, unless an existing volume fits', (parameters, problem) => {
    const { claims, pod: asking } = sized([5], 'wrong');
    const StorageClass = [csiClass(driver, 'wrong', { parameters })];
    const objects = { ...cluster([drive('a', 10)], claims), StorageClass };
    const index = clusterOf(objects);
    const refusal = expectRefusal(index, asking);
    expect(refusal.message).toContain(
      `storageclass "wrong" of persistentvolumeclaim "c0" is invalid: ${problem}`,
    );
    const corrected = csiClass(driver, 'wrong');
    const metadata = { ...corrected.metadata, uid: 'other', resourceVersion: '99' };
    const { change } = index.upsert('StorageClass', { ...corrected, metadata });
    expect(refusal.wokenBy(change!)).toBe(true);
    expectPlacement(index, asking);
    expectPlacement(
      clusterOf({ ...objects, PersistentVolume: [volume('pv', '5Gi', { className: 'wrong' })] }),
      asking,
    );
    expectPlacement(clusterOf({ ...objects, CSIDriver: [] }, upstreamProfile), asking);
  });

  test('a CSIStorageCapacity of the driver is not counted beside its drives', () => {
    const { claims, pod: asking } = sized([5]);
    const published = storageCapacity('net', 'local', { capacity: '100Gi' });
    const objects = { ...cluster([drive('a', 4)], claims), CSIStorageCapacity: [published] };
    expectRefusal(clusterOf(objects), asking);
    expectPlacement(clusterOf(objects, upstreamProfile), asking);
    expectPlacement(clusterOf({ ...objects, Drive: [] }), asking);
  });

  test.each([
    ['without a CSIDriver', { CSIDriver: [] }],
    ['with a CSIDriver that tracks capacity', {}],
  ])('before the first drive is added nothing fits, %s', (_, objects) => {
    const { claims, pod: asking } = sized([5]);
    const index = clusterOf({ ...cluster([], claims), ...objects });
    const refusal = expectRefusal(index, asking);
    expect([...refusal.reasons.keys()]).toEqual(['NoDriveAdded']);
    const { change } = index.upsert('Drive', drive('a', 10));
    expect(refusal.wokenBy(change!)).toBe(true);
    expectPlacement(index, asking);
  });

  test('kube-scheduler does not know drives: without a CSIDriver any size fits', () => {
    const { claims, pod: asking } = sized([5]);
    expectPlacement(clusterOf({ ...cluster([], claims), CSIDriver: [] }, upstreamProfile), asking);
  });

  test('the closest drives are named', () => {
    const { claims, pod: asking } = sized([50]);
    const drives = [drive('full', 40), drive('cordoned', 90, { spec: { unschedulable: true } })];
    const refusal = expectRefusal(clusterOf(cluster(drives, claims)), asking);
    const found = refusal.explain().nodes.find(({ node }) => node === 'n1')!.findings[0]!;
    expect(found.candidates.map(({ kind, name, obstacles }) => [kind, name, obstacles[0]?.detail])).toEqual([
      ['drive', 'full', undefined],
      ['drive', 'cordoned', 'it is cordoned'],
    ]);
  });
});

describe('a Drive', () => {
  const refused = sized([5]);
  const withDrive = (options: DriveBuilderOptions = {}) =>
    cluster([drive('small', 1, { node: 'n2' }), drive('a', 10, options)], refused.claims);
  const becomes = (sizeGib: number, options: DriveBuilderOptions = {}) =>
    upserted('Drive', drive('a', sizeGib, { version: '2', ...options }));
  const volumes = [{ name: 'v', sizeBytes: gib(9) }];
  expectWakeCases(
    [
      {
        name: 'that comes wakes the pod',
        cluster: cluster([drive('s', 1)], refused.claims),
        event: becomes(10),
        wakes: true,
      },
      {
        name: 'that comes and is too small does not',
        cluster: cluster([drive('s', 1)], refused.claims),
        event: becomes(4),
        wakes: false,
      },
      {
        name: 'that is uncordoned does',
        cluster: withDrive({ spec: { unschedulable: true } }),
        event: becomes(10),
        wakes: true,
      },
      {
        name: 'that gets free bytes does',
        cluster: withDrive({ spec: { volumes } }),
        event: becomes(10),
        wakes: true,
      },
      {
        name: 'that grows does',
        cluster: withDrive({ spec: { volumes } }),
        event: becomes(20, { spec: { volumes } }),
        wakes: true,
      },
      {
        name: 'whose status is only written again does not',
        cluster: withDrive({ spec: { volumes } }),
        event: becomes(10, { spec: { volumes } }),
        wakes: false,
      },
    ].map((one) => ({ ...one, pod: refused.pod })),
  );

  test('of another kind wakes a pod of a class when its labels change to those of the class', () => {
    const { claims, pod: asking } = sized([5], 'hot');
    const index = clusterOf(cluster([drive('a', 10, { spec: { accessTier: 'Hot' } })], claims));
    expectRefusal(index, asking);
    index.upsert(
      'Drive',
      drive('a', 10, { version: '2', spec: { accessTier: 'Hot' }, labels: { rack: 'r1' } }),
    );
    expectPlacement(index, asking);
  });
});
