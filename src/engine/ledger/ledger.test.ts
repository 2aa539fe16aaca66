import { describe, expect, test } from 'vitest';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { stowageProfile } from '../cluster-index/profile.ts';
import type { Placement } from '../plan.ts';
import { clusterOf, planOutcome } from '../testing/cluster.ts';
import { expectPlacement, expectReservation } from '../testing/expect-plan.ts';
import { removed, upserted } from '../testing/index-events.ts';
import { ledgerFixture, scarceObjects } from '../testing/ledger-fixture.ts';
import {
  boundClaim,
  claim,
  claimRefTo,
  localVolume,
  pod,
  storageCapacity,
  volume,
} from '../testing/objects.ts';
import { Ledger } from './ledger.ts';

function problems(ledger: Ledger, placement: Placement): string[] {
  const result = ledger.reserve(placement);
  if (result.kind === 'reserved') return expect.fail('reserved');
  return result.conflicts.map(({ object, problem }) => `${object} ${problem}`);
}

const both = pod('p', ['data', 'new']);
const noVolume = {
  message: "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind.",
};
const noCapacity = { message: '0/2 nodes are available: 2 node(s) did not have enough free storage.' };

function expectReserved(index: ClusterIndex): void {
  expect(planOutcome(index, pod('q', ['other']))).toEqual(noVolume);
  expect(planOutcome(index, pod('q', ['newer']))).toEqual(noCapacity);
}

function expectFree(index: ClusterIndex): void {
  expect(planOutcome(index, pod('q', ['other']))).toEqual({
    node: 'n1',
    volumes: { other: 'v1' },
    pools: {},
  });
  expect(planOutcome(index, pod('q', ['newer']))).toMatchObject({ pools: { newer: 'storage/net' } });
}

describe('reserve', () => {
  test('reserves volumes and pool capacity together', () => {
    const { index, ledger } = ledgerFixture();
    const reservation = expectReservation(ledger, expectPlacement(index, both));
    expect(reservation.podKey).toBe('default/p');
    expect(ledger.get('default/p')).toBe(reservation);
    expect([...ledger.all()]).toEqual([reservation]);
    expectReserved(index);
  });

  test('reserves both volumes of a pod with two claims', () => {
    const { index, ledger } = ledgerFixture({
      ...scarceObjects,
      PersistentVolume: [localVolume('v1', '5Gi', 'n1'), localVolume('v2', '6Gi', 'n1')],
    });
    expectReservation(ledger, expectPlacement(index, pod('p', ['data', 'other'])));
    expect(['v1', 'v2'].map((name) => index.volumes.holderOf(name))).toEqual([
      'default/data',
      'default/other',
    ]);
  });

  test('of the same placement twice is one reservation', () => {
    const { index, ledger } = ledgerFixture();
    const placement = expectPlacement(index, both);
    expect(expectReservation(ledger, placement)).toBe(expectReservation(ledger, placement));
    ledger.revert(expectReservation(ledger, placement));
    expectFree(index);
  });

  test('of a pod whose claims are all bound reserves no storage', () => {
    const { index, ledger } = ledgerFixture({
      ...scarceObjects,
      PersistentVolume: [...scarceObjects.PersistentVolume!, volume('v2', '1Gi', { phase: 'Bound' })],
      PersistentVolumeClaim: [...scarceObjects.PersistentVolumeClaim!, boundClaim('old', '1Gi', 'v2')],
    });
    const placement = expectPlacement(index, pod('p', ['old']));
    expect(placement).toMatchObject({ bindings: [], provisions: [], inlineVolumes: [] });
    expectReservation(ledger, placement);
    expectFree(index);
  });

  test('of a volume that is already bound to the claim succeeds', () => {
    const { index, ledger } = ledgerFixture({
      ...scarceObjects,
      PersistentVolume: [
        localVolume('v1', '5Gi', 'n1', { phase: 'Bound', spec: claimRefTo('data', 'uid-data') }),
      ],
    });
    expect(
      expectReservation(ledger, expectPlacement(index, pod('p', ['data']))).placement.bindings,
    ).toMatchObject([{ volume: 'v1' }]);
  });

  test('of a second placement of a pod is refused', () => {
    const { index, ledger } = ledgerFixture();
    expectReservation(ledger, expectPlacement(index, both));
    expect(problems(ledger, expectPlacement(index, both))).toEqual([
      'Pod default/p has a reservation already; revert it first',
    ]);
  });
});

describe('a placement is refused as a whole when the state has changed since the plan:', () => {
  const refusals: readonly (readonly [string, (index: ClusterIndex, ledger: Ledger) => void, string[]])[] = [
    [
      'a newer volume',
      upserted('PersistentVolume', localVolume('v1', '5Gi', 'n1', { version: '2' })),
      ['PersistentVolume v1 is out of sync (stored: 2, planned: 1)'],
    ],
    ['a deleted volume', removed('PersistentVolume', 'v1'), ['PersistentVolume v1 is gone']],
    [
      'a newer claim',
      upserted('PersistentVolumeClaim', claim('new', '6Gi', { className: 'made', version: '3' })),
      ['PersistentVolumeClaim default/new is out of sync (stored: 3, planned: 1)'],
    ],
    [
      'a deleted claim',
      removed('PersistentVolumeClaim', 'default/data'),
      ['PersistentVolumeClaim default/data is gone'],
    ],
    [
      'another claim of the same name',
      (index) => {
        const metadata = { namespace: 'default', name: 'data', uid: 'uid-2', resourceVersion: '9' };
        index.upsert('PersistentVolumeClaim', claim('data', '5Gi', { metadata }));
      },
      ['PersistentVolumeClaim default/data is another object of the same name'],
    ],
    ['a deleted node', removed('Node', 'n1'), ['Node n1 is gone']],
    [
      'a volume that another pod has reserved',
      (index, ledger) => expectReservation(ledger, expectPlacement(index, pod('q', ['other']))),
      ['PersistentVolume v1 is used by default/other'],
    ],
    [
      'pool capacity that another pod has reserved',
      (index, ledger) => expectReservation(ledger, expectPlacement(index, pod('q', ['newer']))),
      ['pool storage/net has less free capacity than when the plan was made'],
    ],
    [
      'a pool that publishes less capacity',
      upserted('CSIStorageCapacity', storageCapacity('net', 'made', { capacity: '5Gi', version: '2' })),
      ['pool storage/net has less free capacity than when the plan was made'],
    ],
    ['a deleted pool', removed('CSIStorageCapacity', 'storage/net'), ['pool storage/net is gone']],
    [
      'several changes, which are all reported',
      (index) => {
        index.remove('Node', 'n1');
        index.remove('PersistentVolumeClaim', 'default/data');
        index.upsert('PersistentVolume', localVolume('v1', '5Gi', 'n1', { version: '2' }));
      },
      [
        'Node n1 is gone',
        'PersistentVolumeClaim default/data is gone',
        'PersistentVolume v1 is out of sync (stored: 2, planned: 1)',
      ],
    ],
  ];

  test.each(refusals)('%s', (_, event, expected) => {
    const { index, ledger } = ledgerFixture();
    const placement = expectPlacement(index, both);
    event(index, ledger);
    expect(problems(ledger, placement)).toEqual(expected);
    expect(ledger.get('default/p')).toBeUndefined();
    expect(index.volumes.heldFor('default/data')).toBeUndefined();
    expect(index.promises.get('default/new')).toBeUndefined();
    expect(index.pods.assumed('default/p')).toBeUndefined();
  });

  test('a pool with policy one-at-a-time that another pod uses', () => {
    const index = clusterOf(scarceObjects, { ...stowageProfile, inFlight: 'one-at-a-time' });
    const ledger = new Ledger(index);
    const [first, second] = [
      expectPlacement(index, pod('p', ['new'])),
      expectPlacement(index, pod('q', ['newer'])),
    ];
    expectReservation(ledger, first);
    expect(problems(ledger, second)).toEqual([
      'pool storage/net has a volume in flight; its driver allows one pod at a time',
    ]);
  });

  test('but not when the same version is upserted again', () => {
    const { index, ledger } = ledgerFixture();
    const placement = expectPlacement(index, both);
    index.upsert('PersistentVolume', localVolume('v1', '5Gi', 'n1'));
    expect(ledger.reserve(placement).kind).toBe('reserved');
  });
});

describe('revert', () => {
  test('releases everything, and returns what it released', () => {
    const { index, ledger } = ledgerFixture();
    const change = ledger.revert(expectReservation(ledger, expectPlacement(index, both)));
    expect(change?.volumes.map(({ key }) => key)).toEqual(['v1']);
    expect(change?.pools.map(({ name }) => name)).toEqual(['storage/net']);
    expect(change?.nodeName).toBe('n1');
    expectFree(index);
  });

  test('of the same reservation again changes nothing', () => {
    const { index, ledger } = ledgerFixture();
    const reservation = expectReservation(ledger, expectPlacement(index, both));
    ledger.revert(reservation);
    const second = expectReservation(ledger, expectPlacement(index, both));
    expect(ledger.revert(reservation)).toBeUndefined();
    expect(ledger.get('default/p')).toBe(second);
    expectReserved(index);
  });

  test('after the volume was deleted releases the rest', () => {
    const { index, ledger } = ledgerFixture();
    const reservation = expectReservation(ledger, expectPlacement(index, both));
    index.remove('PersistentVolume', 'v1');
    expect(ledger.revert(reservation)).toMatchObject({ volumes: [], pools: [{ name: 'storage/net' }] });
  });

  test('does not free a volume that was bound to another claim meanwhile', () => {
    const { index, ledger } = ledgerFixture();
    const reservation = expectReservation(ledger, expectPlacement(index, both));
    index.upsert(
      'PersistentVolume',
      localVolume('v1', '5Gi', 'n1', { version: '2', spec: claimRefTo('theirs', 'u') }),
    );
    ledger.revert(reservation);
    expect(planOutcome(index, pod('q', ['other']))).toEqual(noVolume);
  });
});

describe('confirm', () => {
  const assigned = pod('p', ['data', 'new'], { nodeName: 'n1', version: '2' });
  const writeVolume = (index: ClusterIndex) => {
    index.upsert(
      'PersistentVolume',
      localVolume('v1', '5Gi', 'n1', { version: '2', spec: claimRefTo('data', 'uid-data') }),
    );
    index.upsert('PersistentVolumeClaim', claim('data', '5Gi', { version: '2', spec: { volumeName: 'v1' } }));
  };
  const writeClaim = (index: ClusterIndex) =>
    index.upsert(
      'PersistentVolumeClaim',
      claim('new', '6Gi', { className: 'made', version: '2', selectedNode: 'n1' }),
    );
  const writeAll = (index: ClusterIndex) => {
    writeVolume(index);
    writeClaim(index);
    index.upsert('Pod', assigned);
  };

  test('is pending until the cluster shows everything, and names what is missing', () => {
    const { index, ledger } = ledgerFixture();
    const reservation = expectReservation(ledger, expectPlacement(index, both));
    expect(ledger.confirm(reservation)).toEqual({
      kind: 'pending',
      missing: [
        'PersistentVolume v1: spec.claimRef does not name default/data',
        'PersistentVolumeClaim default/data: spec.volumeName is not v1',
        'PersistentVolumeClaim default/new: has neither a volume nor node n1 selected',
        'Pod default/p: is not assigned to n1',
      ],
    });
    writeVolume(index);
    writeClaim(index);
    expect(ledger.confirm(reservation)).toEqual({
      kind: 'pending',
      missing: ['Pod default/p: is not assigned to n1'],
    });
    index.upsert('Pod', assigned);
    expect(ledger.confirm(reservation)).toEqual({ kind: 'confirmed' });
    expect(ledger.get('default/p')).toBeUndefined();
  });

  test('keeps the resources in use, because the objects themselves hold them now', () => {
    const { index, ledger } = ledgerFixture();
    const reservation = expectReservation(ledger, expectPlacement(index, both));
    writeAll(index);
    ledger.confirm(reservation);
    expectReserved(index);
  });

  test('of the same reservation again is unknown, and a later revert releases nothing', () => {
    const { index, ledger } = ledgerFixture();
    const reservation = expectReservation(ledger, expectPlacement(index, both));
    writeAll(index);
    ledger.confirm(reservation);
    expect(ledger.confirm(reservation)).toEqual({ kind: 'unknown' });
    expect(ledger.revert(reservation)).toBeUndefined();
    expectReserved(index);
  });

  test('does not accept a claim of the same name with another uid', () => {
    const { index, ledger } = ledgerFixture();
    const reservation = expectReservation(ledger, expectPlacement(index, pod('p', ['data'])));
    index.upsert(
      'PersistentVolume',
      localVolume('v1', '5Gi', 'n1', { version: '2', spec: claimRefTo('data', 'uid-9') }),
    );
    index.upsert('Pod', pod('p', ['data'], { nodeName: 'n1', version: '2' }));
    expect(ledger.confirm(reservation)).toMatchObject({
      kind: 'pending',
      missing: [expect.stringContaining('claimRef'), expect.stringContaining('volumeName')],
    });
  });
});
