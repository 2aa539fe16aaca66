import { describe, expect, test } from 'vitest';
import { annotations } from '../../../kube/well-known.ts';
import { stowageProfile } from '../../cluster-index/profile.ts';
import { type ClusterObjects, clusterOf } from '../../testing/cluster.ts';
import { expectPlacement, expectRefusal, expectReservation } from '../../testing/expect-plan.ts';
import { upserted } from '../../testing/index-events.ts';
import { atVersion, claim, csiClass, csiDriver, drive, driveNode, pod } from '../../testing/objects.ts';
import { expectWakeCases } from '../../testing/wake-cases.ts';
import { closestMiss, Ledger, plan } from '../../testing/whole-engine.ts';

const driver = 'drives.stowage.dev';

function classWith(reserve: string | undefined) {
  const made = csiClass(driver, 'drives');
  if (reserve === undefined) return made;
  return { ...made, metadata: { ...made.metadata, annotations: { [annotations.growthReserve]: reserve } } };
}

function claimWith(name: string, size: string, reserve?: string) {
  const made = claim(name, size, { className: 'drives' });
  if (reserve === undefined) return made;
  return { ...made, metadata: { ...made.metadata, annotations: { [annotations.growthReserve]: reserve } } };
}

function cluster(reserve: string | undefined, claims: ReturnType<typeof claim>[]): ClusterObjects {
  return {
    StorageClass: [classWith(reserve)],
    CSIDriver: [csiDriver(driver)],
    Node: [driveNode('n1')],
    Drive: [drive('d1', 100)],
    PersistentVolumeClaim: claims,
  };
}

function outcome(objects: ClusterObjects, claims: readonly string[]): string {
  const answer = plan(pod('p', claims), clusterOf(objects), { nowMs: 0 });
  return answer.kind === 'placement' ? 'fits' : answer.message;
}

const noRoom = '0/1 nodes are available: 1 node(s) did not have enough free storage';

describe('a class that keeps 20 % of a drive for expansions', () => {
  test('places a volume that leaves as much free, and none that leaves a byte less', () => {
    expect(outcome(cluster('20%', [claimWith('a', '80Gi')]), ['a'])).toBe('fits');
    expect(outcome(cluster('20%', [claimWith('a', '85899345921')]), ['a'])).toContain(noRoom);
    expect(outcome(cluster(undefined, [claimWith('a', '85899345921')]), ['a'])).toBe('fits');
  });

  test('keeps it once for all volumes of a pod', () => {
    expect(outcome(cluster('20%', [claimWith('a', '40Gi'), claimWith('b', '40Gi')]), ['a', 'b'])).toBe(
      'fits',
    );
    expect(outcome(cluster('20%', [claimWith('a', '40Gi'), claimWith('b', '41Gi')]), ['a', 'b'])).toContain(
      noRoom,
    );
  });

  test('keeps it beside what is promised to other pods', () => {
    const index = clusterOf(
      cluster('20%', [claimWith('a', '50Gi'), claimWith('b', '31Gi'), claimWith('c', '30Gi')]),
    );
    const ledger = new Ledger(index);
    expectReservation(ledger, expectPlacement(index, pod('first', ['a'])));
    expectRefusal(index, pod('second', ['b']));
    expectPlacement(index, pod('third', ['c']));
  });
});

describe('a growth reserve of a claim', () => {
  test('can be larger than that of its class, and not smaller', () => {
    expect(outcome(cluster('20%', [claimWith('a', '80Gi', '30%')]), ['a'])).toContain(noRoom);
    expect(outcome(cluster('20%', [claimWith('a', '70Gi', '30%')]), ['a'])).toBe('fits');
    expect(outcome(cluster('20%', [claimWith('a', '81Gi', '0%')]), ['a'])).toContain(noRoom);
  });

  test('refuses the pod if it can not be read, unless the profile ignores policies', () => {
    const objects = cluster(undefined, [claimWith('a', '1Gi', '20')]);
    expect(outcome(objects, ['a'])).toContain(
      'metadata.annotations[stowage.dev/growth-reserve]: "20" must be a whole percentage from 0% to 99%, such as 20%',
    );
    expectPlacement(clusterOf(objects, { ...stowageProfile, honoursVolumePolicies: false }), pod('p', ['a']));
  });
});

test('the closest drive is named with what it keeps', () => {
  const index = clusterOf(cluster('20%', [claimWith('a', '90Gi')]));
  expect(closestMiss(expectRefusal(index, pod('p', ['a'])))).toBe(
    'Closest is node n1: claim default/a, drive d1: it keeps 20Gi (20 %) free for expansions (needs 90Gi, has 80Gi).',
  );
});

describe('a pod that lacks the reserve', () => {
  const refused = { cluster: cluster('20%', [claimWith('data', '90Gi')]) };
  const smaller = { ...cluster('20%', [claimWith('data', '90Gi')]), Drive: [drive('d1', 100)] };
  expectWakeCases([
    {
      ...refused,
      name: 'is woken when the class keeps less',
      event: upserted('StorageClass', atVersion('2', classWith('10%'))),
      wakes: true,
    },
    {
      ...refused,
      name: 'is woken when the drive is larger',
      event: upserted('Drive', atVersion('2', drive('d1', 120))),
      wakes: true,
    },
    {
      cluster: smaller,
      name: 'is not woken by an update without another capacity report',
      event: upserted('Drive', atVersion('2', drive('d1', 100))),
      wakes: false,
    },
  ]);
});
