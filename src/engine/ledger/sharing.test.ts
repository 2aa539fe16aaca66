import { describe, expect, test } from 'vitest';
import type { Pod } from '../../kube/api/core.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { plan } from '../plan.ts';
import { type ClusterObjects, planOutcome } from '../testing/cluster.ts';
import { expectPlacement, expectReservation } from '../testing/expect-plan.ts';
import { ledgerFixture, scarceObjects } from '../testing/ledger-fixture.ts';
import { claim, claimRefTo, localVolume, node, pod, storageCapacity } from '../testing/objects.ts';
import type { Ledger, Reservation } from './ledger.ts';

/** A cluster with a second volume of class `local`, on n2. */
const cluster: ClusterObjects = {
  ...scarceObjects,
  PersistentVolume: [localVolume('v1', '5Gi', 'n1'), localVolume('v2', '9Gi', 'n2')],
};

function reserve(index: ClusterIndex, ledger: Ledger, pod: Pod): Reservation {
  return expectReservation(ledger, expectPlacement(index, pod));
}

function start() {
  return ledgerFixture(cluster);
}

describe('two pods that share a claim', () => {
  test('share its volume, which is free when the last of them is reverted', () => {
    const { index, ledger } = start();
    const first = reserve(index, ledger, pod('one', ['data']));
    const second = reserve(index, ledger, pod('two', ['data']));
    expect([first, second].map(({ placement }) => placement.bindings[0]!.volume)).toEqual(['v1', 'v1']);
    expect(ledger.revert(first)).toMatchObject({ volumes: [] });
    expect(planOutcome(index, pod('q', ['other']))).toMatchObject({ volumes: { other: 'v2' } });
    expect(ledger.revert(second)?.volumes.map(({ key }) => key)).toEqual(['v1']);
    expect(planOutcome(index, pod('q', ['other']))).toMatchObject({ volumes: { other: 'v1' } });
  });

  test('share its pool capacity, which is released when the last of them is reverted', () => {
    const { index, ledger } = start();
    const first = reserve(index, ledger, pod('one', ['new']));
    const second = reserve(index, ledger, pod('two', ['new']));
    expect(second.placement.node).toBe(first.placement.node);
    ledger.revert(first);
    expect(plan(pod('q', ['newer']), index, { nowMs: 0 }).kind).toBe('refusal');
    expect(ledger.revert(second)?.pools).toHaveLength(1);
    expect(plan(pod('q', ['newer']), index, { nowMs: 0 }).kind).toBe('placement');
  });

  test('are placed where the volume is that the first one has reserved', () => {
    const { index, ledger } = start();
    reserve(index, ledger, pod('one', ['data']));
    index.upsert('PersistentVolume', localVolume('v0', '5Gi', 'n2'));
    expect(expectPlacement(index, pod('two', ['data'])).node).toBe('n1');
  });
});

describe('the state of the cluster wins over reservations:', () => {
  test('a volume that was bound to another claim is not planned for a second pod of the claim', () => {
    const { index, ledger } = start();
    const first = reserve(index, ledger, pod('one', ['data']));
    index.upsert(
      'PersistentVolume',
      localVolume('v1', '5Gi', 'n1', {
        version: '2',
        phase: 'Bound',
        spec: claimRefTo('theirs', 'uid-theirs'),
      }),
    );
    expect(ledger.conflicts(first)).toMatchObject([{ object: 'PersistentVolume v1' }]);
    const answer = plan(pod('two', ['data']), index, { nowMs: 0 });
    expect(answer.kind === 'placement' ? answer.bindings.map((binding) => binding.volume) : []).not.toContain(
      'v1',
    );
  });

  test('a volume with another change stays reserved for its holder', () => {
    const { index, ledger } = start();
    const first = reserve(index, ledger, pod('one', ['data']));
    index.upsert('PersistentVolume', localVolume('v1', '6Gi', 'n1', { version: '2' }));
    expect(planOutcome(index, pod('q', ['other']))).toMatchObject({ volumes: { other: 'v2' } });
    expect(ledger.conflicts(first)).toEqual([
      { object: 'PersistentVolume v1', problem: 'is out of sync (stored: 2, planned: 1)' },
    ]);
  });

  test('late and repeated events change nothing', () => {
    const { index, ledger } = start();
    index.upsert('PersistentVolume', localVolume('v1', '5Gi', 'n1', { version: '10' }));
    const first = reserve(index, ledger, pod('one', ['data']));
    for (const version of ['10', '9', '2']) {
      expect(
        index.upsert('PersistentVolume', localVolume('v1', '5Gi', 'n1', { version })).change,
      ).toBeUndefined();
    }
    expect(ledger.conflicts(first)).toEqual([]);
    expect(planOutcome(index, pod('q', ['other']))).toMatchObject({ volumes: { other: 'v2' } });
  });

  test('a version that is not a number counts as newer, because it has no order', () => {
    const { index, ledger } = start();
    const placement = expectPlacement(index, pod('one', ['data']));
    index.upsert('PersistentVolume', localVolume('v1', '5Gi', 'n1', { version: 'abc' }));
    expect(ledger.reserve(placement)).toMatchObject({
      conflicts: [{ problem: 'is out of sync (stored: abc, planned: 1)' }],
    });
  });
});

describe('a savepoint', () => {
  test('rolls reservations back, and the ledger drops them', () => {
    const { index, ledger } = start();
    const savepoint = index.savepoint();
    reserve(index, ledger, pod('one', ['data', 'new']));
    index.rollback(savepoint);
    expect([...ledger.all()]).toEqual([]);
    expect(planOutcome(index, pod('q', ['other']))).toMatchObject({ volumes: { other: 'v1' } });
    expect(planOutcome(index, pod('q', ['newer']))).toMatchObject({ pools: { newer: 'storage/net' } });
  });

  test('rolls a revert back', () => {
    const { index, ledger } = start();
    const held = reserve(index, ledger, pod('one', ['data']));
    const savepoint = index.savepoint();
    ledger.revert(held);
    index.rollback(savepoint);
    expect(ledger.get('default/one')).toBe(held);
    expect(planOutcome(index, pod('q', ['other']))).toMatchObject({ volumes: { other: 'v2' } });
  });

  test('rolls back changes of objects, in any order', () => {
    const { index } = start();
    const before = planOutcome(index, pod('q', ['data', 'new']));
    const savepoint = index.savepoint();
    index.remove('Node', 'n1');
    index.remove('PersistentVolume', 'v1');
    index.upsert('Node', node('n0'));
    index.upsert('PersistentVolumeClaim', claim('data', '50Gi', { version: '2' }));
    index.upsert('CSIStorageCapacity', storageCapacity('net', 'made', { capacity: '1Gi', version: '2' }));
    index.remove('StorageClass', 'made');
    expect(planOutcome(index, pod('q', ['data', 'new']))).not.toEqual(before);
    index.rollback(savepoint);
    expect(planOutcome(index, pod('q', ['data', 'new']))).toEqual(before);
  });

  test('inside another can be rolled back alone, or kept', () => {
    const { index, ledger } = start();
    const outer = index.savepoint();
    reserve(index, ledger, pod('one', ['data']));
    const inner = index.savepoint();
    reserve(index, ledger, pod('two', ['other']));
    index.rollback(inner);
    expect([...ledger.all()].map(({ podKey }) => podKey)).toEqual(['default/one']);
    index.release(outer);
    expect(planOutcome(index, pod('q', ['other']))).toMatchObject({ volumes: { other: 'v2' } });
  });

  test('that is closed out of order throws', () => {
    const { index } = start();
    const outer = index.savepoint();
    index.remove('Node', 'n1');
    index.savepoint();
    expect(() => index.rollback(outer)).toThrow('reverse order');
  });
});
