import { describe, expect, test } from 'vitest';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { stowageProfile } from '../cluster-index/profile.ts';
import type { Placement } from '../plan.ts';
import { clusterOf, planOutcome } from '../testing/cluster.ts';
import { expectPlacement, expectReservation } from '../testing/expect-plan.ts';
import { removed, upserted } from '../testing/index-events.ts';
import { scarceObjects, startLedger } from '../testing/ledger-fixture.ts';
import { boundClaim, capacity, claim, localVolume, pod, reservedFor, volume } from '../testing/objects.ts';
import { Ledger } from './ledger.ts';

function problems(ledger: Ledger, placement: Placement): string[] {
  const result = ledger.reserve(placement);
  if (result.kind === 'reserved') return expect.fail('reserved');
  return result.conflicts.map(({ object, problem }) => `${object} ${problem}`);
}

const both = pod('p', ['data', 'new']);
const takenVolume = {
  message: "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind.",
};
const takenRoom = { message: '0/2 nodes are available: 2 node(s) did not have enough free storage.' };

function expectTaken(index: ClusterIndex): void {
  expect(planOutcome(index, pod('q', ['other']))).toEqual(takenVolume);
  expect(planOutcome(index, pod('q', ['newer']))).toEqual(takenRoom);
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
  test('takes volumes and room at once', () => {
    const { index, ledger } = startLedger();
    const reservation = expectReservation(ledger, expectPlacement(index, both));
    expect(reservation.podKey).toBe('default/p');
    expect(ledger.get('default/p')).toBe(reservation);
    expect([...ledger.all()]).toEqual([reservation]);
    expectTaken(index);
  });

  test('takes both volumes of a pod with two claims', () => {
    const { index, ledger } = startLedger({
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
    const { index, ledger } = startLedger();
    const placement = expectPlacement(index, both);
    expect(expectReservation(ledger, placement)).toBe(expectReservation(ledger, placement));
    ledger.revert(expectReservation(ledger, placement));
    expectFree(index);
  });

  test('of a pod whose claims are all bound holds nothing but its place', () => {
    const { index, ledger } = startLedger({
      ...scarceObjects,
      PersistentVolume: [...scarceObjects.PersistentVolume!, volume('v2', '1Gi', { phase: 'Bound' })],
      PersistentVolumeClaim: [...scarceObjects.PersistentVolumeClaim!, boundClaim('old', '1Gi', 'v2')],
    });
    const placement = expectPlacement(index, pod('p', ['old']));
    expect(placement).toMatchObject({ bindings: [], provisions: [], inlineVolumes: [] });
    expectReservation(ledger, placement);
    expectFree(index);
  });

  test("of a volume that is the claim's own already is fine", () => {
    const { index, ledger } = startLedger({
      ...scarceObjects,
      PersistentVolume: [
        localVolume('v1', '5Gi', 'n1', { phase: 'Bound', spec: reservedFor('data', 'uid-data') }),
      ],
    });
    expect(
      expectReservation(ledger, expectPlacement(index, pod('p', ['data']))).placement.bindings,
    ).toMatchObject([{ volume: 'v1' }]);
  });

  test('of a second placement of a pod is refused', () => {
    const { index, ledger } = startLedger();
    expectReservation(ledger, expectPlacement(index, both));
    expect(problems(ledger, expectPlacement(index, both))).toEqual([
      'Pod default/p has a reservation already; revert it first',
    ]);
  });
});

describe('a placement is refused, whole, when what it was made on has changed:', () => {
  const refusals: readonly (readonly [string, (index: ClusterIndex, ledger: Ledger) => void, string[]])[] = [
    [
      'a newer volume',
      upserted('PersistentVolume', localVolume('v1', '5Gi', 'n1', { version: '2' })),
      ['PersistentVolume v1 is out of sync (stored: 2, planned: 1)'],
    ],
    ['no volume any more', removed('PersistentVolume', 'v1'), ['PersistentVolume v1 is gone']],
    [
      'a newer claim',
      upserted('PersistentVolumeClaim', claim('new', '6Gi', { className: 'made', version: '3' })),
      ['PersistentVolumeClaim default/new is out of sync (stored: 3, planned: 1)'],
    ],
    [
      'no claim any more',
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
    ['no node any more', removed('Node', 'n1'), ['Node n1 is gone']],
    [
      'a volume that another pod has reserved',
      (index, ledger) => expectReservation(ledger, expectPlacement(index, pod('q', ['other']))),
      ['PersistentVolume v1 is taken by default/other'],
    ],
    [
      'room that another pod has reserved',
      (index, ledger) => expectReservation(ledger, expectPlacement(index, pod('q', ['newer']))),
      ['pool storage/net has less room than when the plan was made'],
    ],
    [
      'less room than there was',
      upserted('CSIStorageCapacity', capacity('net', 'made', { capacity: '5Gi', version: '2' })),
      ['pool storage/net has less room than when the plan was made'],
    ],
    ['no pool any more', removed('CSIStorageCapacity', 'storage/net'), ['pool storage/net is gone']],
    [
      'several things, of which all are named',
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

  test.each(refusals)('%s', (_, happens, expected) => {
    const { index, ledger } = startLedger();
    const placement = expectPlacement(index, both);
    happens(index, ledger);
    expect(problems(ledger, placement)).toEqual(expected);
    expect(ledger.get('default/p')).toBeUndefined();
    expect(index.volumes.heldFor('default/data')).toBeUndefined();
    expect(index.promises.get('default/new')).toBeUndefined();
    expect(index.pods.assumed('default/p')).toBeUndefined();
  });

  test('a pool of one at a time that another pod uses now', () => {
    const index = clusterOf(scarceObjects, { ...stowageProfile, inFlight: 'one-at-a-time' });
    const ledger = new Ledger(index);
    const [first, second] = [
      expectPlacement(index, pod('p', ['new'])),
      expectPlacement(index, pod('q', ['newer'])),
    ];
    expectReservation(ledger, first);
    expect(problems(ledger, second)).toEqual([
      'pool storage/net has a volume in flight; its driver takes one pod at a time',
    ]);
  });

  test('but not when the same version is handed over again', () => {
    const { index, ledger } = startLedger();
    const placement = expectPlacement(index, both);
    index.upsert('PersistentVolume', localVolume('v1', '5Gi', 'n1'));
    expect(ledger.reserve(placement).kind).toBe('reserved');
  });
});

describe('revert', () => {
  test('gives everything back, and says what', () => {
    const { index, ledger } = startLedger();
    const change = ledger.revert(expectReservation(ledger, expectPlacement(index, both)));
    expect(change?.volumes.map(({ key }) => key)).toEqual(['v1']);
    expect(change?.pools.map(({ name }) => name)).toEqual(['storage/net']);
    expect(change?.nodeName).toBe('n1');
    expectFree(index);
  });

  test('a second time changes nothing', () => {
    const { index, ledger } = startLedger();
    const reservation = expectReservation(ledger, expectPlacement(index, both));
    ledger.revert(reservation);
    const winner = expectReservation(ledger, expectPlacement(index, both));
    expect(ledger.revert(reservation)).toBeUndefined();
    expect(ledger.get('default/p')).toBe(winner);
    expectTaken(index);
  });

  test('of a volume that has gone meanwhile gives back the rest', () => {
    const { index, ledger } = startLedger();
    const reservation = expectReservation(ledger, expectPlacement(index, both));
    index.remove('PersistentVolume', 'v1');
    expect(ledger.revert(reservation)).toMatchObject({ volumes: [], pools: [{ name: 'storage/net' }] });
  });

  test('of a volume that somebody else got meanwhile does not offer it again', () => {
    const { index, ledger } = startLedger();
    const reservation = expectReservation(ledger, expectPlacement(index, both));
    index.upsert(
      'PersistentVolume',
      localVolume('v1', '5Gi', 'n1', { version: '2', spec: reservedFor('theirs', 'u') }),
    );
    ledger.revert(reservation);
    expect(planOutcome(index, pod('q', ['other']))).toEqual(takenVolume);
  });
});

describe('confirm', () => {
  const assigned = pod('p', ['data', 'new'], { nodeName: 'n1', version: '2' });
  const writeVolume = (index: ClusterIndex) => {
    index.upsert(
      'PersistentVolume',
      localVolume('v1', '5Gi', 'n1', { version: '2', spec: reservedFor('data', 'uid-data') }),
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

  test('waits until the cluster shows everything, and names what it does not show', () => {
    const { index, ledger } = startLedger();
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

  test('leaves things taken: by now the objects themselves say so', () => {
    const { index, ledger } = startLedger();
    const reservation = expectReservation(ledger, expectPlacement(index, both));
    writeAll(index);
    ledger.confirm(reservation);
    expectTaken(index);
  });

  test('a second time finds nothing to confirm, and a revert afterwards gives nothing back', () => {
    const { index, ledger } = startLedger();
    const reservation = expectReservation(ledger, expectPlacement(index, both));
    writeAll(index);
    ledger.confirm(reservation);
    expect(ledger.confirm(reservation)).toEqual({ kind: 'unknown' });
    expect(ledger.revert(reservation)).toBeUndefined();
    expectTaken(index);
  });

  test('is not fooled by a claim of the same name with another uid', () => {
    const { index, ledger } = startLedger();
    const reservation = expectReservation(ledger, expectPlacement(index, pod('p', ['data'])));
    index.upsert(
      'PersistentVolume',
      localVolume('v1', '5Gi', 'n1', { version: '2', spec: reservedFor('data', 'uid-9') }),
    );
    index.upsert('Pod', pod('p', ['data'], { nodeName: 'n1', version: '2' }));
    expect(ledger.confirm(reservation)).toMatchObject({
      kind: 'pending',
      missing: [expect.stringContaining('claimRef'), expect.stringContaining('volumeName')],
    });
  });
});
