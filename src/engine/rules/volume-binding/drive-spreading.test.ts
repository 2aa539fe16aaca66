import { describe, expect, test } from 'vitest';
import type { StatefulSet } from '../../../kube/api/apps.ts';
import type { PersistentVolumeClaim } from '../../../kube/api/core.ts';
import type { Drive } from '../../../kube/stowage/drive.ts';
import { annotations } from '../../../kube/well-known.ts';
import { type ClusterObjects, clusterOf } from '../../testing/cluster.ts';
import { expectPlacement, expectRefusal, expectReservation } from '../../testing/expect-plan.ts';
import { removed, upserted } from '../../testing/index-events.ts';
import {
  claim,
  csiClass,
  csiDriver,
  type DriveBuilderOptions,
  drive,
  driveNode,
  gib,
  ownedBy,
  pod,
} from '../../testing/objects.ts';
import { expectWakeCases } from '../../testing/wake-cases.ts';
import { closestMiss, Ledger, plan } from '../../testing/whole-engine.ts';

const driver = 'drives.stowage.dev';

function cluster(drives: readonly Drive[], claims: readonly PersistentVolumeClaim[]): ClusterObjects {
  return {
    StorageClass: [
      csiClass(driver, 'spread', { parameters: { spreadBy: 'claim-owner' } }),
      csiClass(driver, 'plain'),
    ],
    CSIDriver: [csiDriver(driver)],
    Node: [driveNode('n1')],
    Drive: drives,
    PersistentVolumeClaim: claims,
    StatefulSet: [statefulSet('db', ['data'])],
  };
}

function statefulSet(name: string, templates: readonly string[], version = '1'): StatefulSet {
  return {
    metadata: { namespace: 'default', name, uid: `uid-${name}`, resourceVersion: version },
    spec: { volumeClaimTemplates: templates.map((template) => ({ metadata: { name: template } })) },
  } as unknown as StatefulSet;
}

const spread = (name: string, size = '5Gi') => claim(name, size, { className: 'spread' });

/** A drive with a volume of the StatefulSet db. */
function used(name: string, sizeGib: number, options: DriveBuilderOptions = {}): Drive {
  const volumes = [{ name: 'pvc-0', sizeBytes: gib(1), spreadGroup: 'default/db' }];
  return drive(name, sizeGib, { ...options, spec: { ...options.spec, volumes } });
}

const noDrive = '1 node(s) had too few drives without a volume of the same owner';

function outcome(objects: ClusterObjects, claims: readonly string[]): string {
  const answer = plan(pod('p', claims), clusterOf(objects), { nowMs: 0 });
  if (answer.kind === 'refusal') return answer.message;
  return answer.provisions
    .map(({ pool }) => pool!.name)
    .sort()
    .join(' ');
}

describe('a class with spreadBy: claim-owner', () => {
  test('keeps a volume away from a drive that has one of the same owner', () => {
    const both = [used('roomy', 90), drive('other', 10)];
    expect(outcome(cluster(both, [spread('data-db-1')]), ['data-db-1'])).toBe('other');
    expect(outcome(cluster([used('roomy', 90)], [spread('data-db-1')]), ['data-db-1'])).toContain(noDrive);
  });

  test('says that bytes are missing, if they are missing on every drive', () => {
    const full = cluster([used('roomy', 90), drive('other', 10)], [spread('data-db-1', '95Gi')]);
    expect(outcome(full, ['data-db-1'])).toContain('did not have enough free storage');
  });

  test('applies to its own claims, which have an owner', () => {
    const drives = [used('roomy', 90)];
    const plain = claim('data-db-1', '5Gi', { className: 'plain' });
    expect(outcome(cluster(drives, [plain]), ['data-db-1'])).toBe('roomy');
    expect(outcome(cluster(drives, [spread('data-web-1')]), ['data-web-1'])).toBe('roomy');
    expect(outcome(cluster(drives, [spread('logs-db-1')]), ['logs-db-1'])).toBe('roomy');
    expect(outcome(cluster(drives, [spread('data-db-x')]), ['data-db-x'])).toBe('roomy');
    const owned = { ...spread('mine'), metadata: { ...ownedBy('db', 'mine') } };
    expect(outcome(cluster(drives, [owned]), ['mine'])).toContain(noDrive);
  });

  test('puts the claims of one pod on different drives', () => {
    const claims = [spread('data-db-0'), spread('data-db-1')];
    const names = ['data-db-0', 'data-db-1'];
    expect(outcome(cluster([drive('a', 90), drive('b', 5)], claims), names)).toBe('a b');
    expect(outcome(cluster([drive('a', 90), drive('b', 4)], claims), names)).toContain(noDrive);
    expect(outcome(cluster([drive('a', 90)], claims), names)).toContain(noDrive);
    expect(outcome(cluster([drive('a', 9)], claims), names)).toContain('did not have enough free storage');
  });

  test('counts a volume of the owner from its reservation on, also after a restart', () => {
    const claims = [spread('data-db-0'), spread('data-db-1')];
    const index = clusterOf(cluster([drive('a', 90)], claims));
    const ledger = new Ledger(index);
    const [first, second] = ['data-db-0', 'data-db-1'].map((name) =>
      expectPlacement(index, pod(`p-${name}`, [name])),
    );
    const reservation = expectReservation(ledger, first!);
    expectRefusal(index, pod('p', ['data-db-1']));
    expect(ledger.reserve(second!)).toMatchObject({
      kind: 'refused',
      conflicts: [{ object: 'pool a', problem: 'has a volume of default/db since the plan was made' }],
    });
    ledger.revert(reservation);
    expectPlacement(index, pod('p', ['data-db-1']));

    const marks = { [annotations.selectedNode]: 'n1', [annotations.drive]: 'a' };
    const selected = { ...claims[0]!, metadata: { ...claims[0]!.metadata, annotations: marks } };
    const restarted = clusterOf({ ...cluster([drive('a', 90)], [selected, claims[1]!]), StatefulSet: [] });
    // The set comes after the claim whose owner it is.
    expectPlacement(restarted, pod('p', ['data-db-1']));
    restarted.upsert('StatefulSet', statefulSet('db', ['data']));
    expectRefusal(restarted, pod('p', ['data-db-1']));
  });

  test('names the drive and the owner, and a remedy', () => {
    const drives = [used('n1-b7f6', 90), drive('n1-c', 2)];
    const refusal = expectRefusal(clusterOf(cluster(drives, [spread('data-db-1')])), pod('p', ['data-db-1']));
    const found = refusal.explain().nodes[0]!.findings[0]!;
    expect(found.reason).toBe('TooFewDrivesToSpread');
    expect(found.candidates.map(({ name, obstacles }) => [name, obstacles[0]?.code])).toEqual([
      ['n1-b7f6', 'SameOwner'],
      ['n1-c', 'VolumeTooLarge'],
    ]);
    const only = expectRefusal(
      clusterOf(cluster([used('n1-b7f6', 90)], [spread('data-db-1')])),
      pod('p', ['data-db-1']),
    );
    expect(closestMiss(only)).toContain('drive n1-b7f6: it already has a volume of default/db');
  });
});

describe('a pod that its owner keeps away from a drive', () => {
  const refused = { cluster: cluster([used('a', 90)], [spread('data-db-1')]), pod: pod('p', ['data-db-1']) };
  const becomes = (volumes: NonNullable<Drive['spec']>['volumes'] & object) =>
    upserted('Drive', drive('a', 90, { version: '2', spec: { volumes } }));
  expectWakeCases([
    { ...refused, name: 'is woken when the volume goes', event: becomes([]), wakes: true },
    {
      ...refused,
      name: 'is woken when a larger volume of another owner takes its place',
      event: becomes([{ name: 'pvc-1', sizeBytes: gib(9), spreadGroup: 'default/web' }]),
      wakes: true,
    },
    {
      ...refused,
      name: 'is not woken when a volume comes',
      event: becomes([
        { name: 'pvc-0', sizeBytes: gib(1), spreadGroup: 'default/db' },
        { name: 'pvc-1', sizeBytes: gib(9) },
      ]),
      wakes: false,
    },
    {
      ...refused,
      name: 'is woken when its set goes: then its claim has no owner',
      event: removed('StatefulSet', 'default/db'),
      wakes: true,
    },
    {
      ...refused,
      name: 'is not woken when the status of its set changes',
      event: upserted('StatefulSet', statefulSet('db', ['data'], '2')),
      wakes: false,
    },
    {
      ...refused,
      name: 'is woken when another drive comes',
      event: upserted('Drive', drive('b', 9)),
      wakes: true,
    },
  ]);
});
