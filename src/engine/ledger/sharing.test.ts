import { describe, expect, test } from 'vitest';
import type { Pod } from '../../kube/api/core.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { plan } from '../plan.ts';
import { type ClusterObjects, planOutcome } from '../testing/cluster.ts';
import { expectPlacement, expectReservation } from '../testing/expect-plan.ts';
import { scarceObjects, startLedger } from '../testing/ledger-fixture.ts';
import { capacity, claim, localVolume, node, pod, reservedFor } from '../testing/objects.ts';
import type { Ledger, Reservation } from './ledger.ts';

/** With a second volume of class `local`, on n2. */
const cluster: ClusterObjects = {
  ...scarceObjects,
  PersistentVolume: [localVolume('v1', '5Gi', 'n1'), localVolume('v2', '9Gi', 'n2')],
};

function reserve(index: ClusterIndex, ledger: Ledger, asking: Pod): Reservation {
  return expectReservation(ledger, expectPlacement(index, asking));
}

function start() {
  return startLedger(cluster);
}

describe('two pods that share a claim', () => {
  test('share its volume, and it is free when the last of them lets go', () => {
    const { index, ledger } = start();
    const first = reserve(index, ledger, pod('one', ['data']));
    const second = reserve(index, ledger, pod('two', ['data']));
    expect([first, second].map(({ placement }) => placement.bindings[0]!.volume)).toEqual(['v1', 'v1']);
    expect(ledger.revert(first)).toMatchObject({ volumes: [] });
    expect(planOutcome(index, pod('q', ['other']))).toMatchObject({ volumes: { other: 'v2' } });
    expect(ledger.revert(second)?.volumes.map(({ key }) => key)).toEqual(['v1']);
    expect(planOutcome(index, pod('q', ['other']))).toMatchObject({ volumes: { other: 'v1' } });
  });

  test('share its room, which is given back when the last of them lets go', () => {
    const { index, ledger } = start();
    const first = reserve(index, ledger, pod('one', ['new']));
    const second = reserve(index, ledger, pod('two', ['new']));
    expect(second.placement.node).toBe(first.placement.node);
    ledger.revert(first);
    expect(plan(pod('q', ['newer']), index, { nowMs: 0 }).kind).toBe('refusal');
    expect(ledger.revert(second)?.pools).toHaveLength(1);
    expect(plan(pod('q', ['newer']), index, { nowMs: 0 }).kind).toBe('placement');
  });

  test('go where the volume that the first has reserved is', () => {
    const { index, ledger } = start();
    reserve(index, ledger, pod('one', ['data']));
    index.upsert('PersistentVolume', localVolume('v0', '5Gi', 'n2'));
    expect(expectPlacement(index, pod('two', ['data'])).node).toBe('n1');
  });
});

describe('what the cluster says wins over what was reserved:', () => {
  test('a volume that another claim got is not planned for a second pod of the claim', () => {
    const { index, ledger } = start();
    const first = reserve(index, ledger, pod('one', ['data']));
    index.upsert(
      'PersistentVolume',
      localVolume('v1', '5Gi', 'n1', {
        version: '2',
        phase: 'Bound',
        spec: reservedFor('theirs', 'uid-theirs'),
      }),
    );
    expect(ledger.conflicts(first)).toMatchObject([{ object: 'PersistentVolume v1' }]);
    const answer = plan(pod('two', ['data']), index, { nowMs: 0 });
    expect(answer.kind === 'placement' ? answer.bindings.map((binding) => binding.volume) : []).not.toContain(
      'v1',
    );
  });

  test('a volume that changes otherwise stays with its holder: nobody else is offered it', () => {
    const { index, ledger } = start();
    const first = reserve(index, ledger, pod('one', ['data']));
    index.upsert('PersistentVolume', localVolume('v1', '6Gi', 'n1', { version: '2' }));
    expect(planOutcome(index, pod('q', ['other']))).toMatchObject({ volumes: { other: 'v2' } });
    expect(ledger.conflicts(first)).toEqual([
      { object: 'PersistentVolume v1', problem: 'is out of sync (stored: 2, planned: 1)' },
    ]);
  });

  test('events that arrive late, or again, change nothing', () => {
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

  test('a version that is no number is news, since nobody can tell its age', () => {
    const { index, ledger } = start();
    const placement = expectPlacement(index, pod('one', ['data']));
    index.upsert('PersistentVolume', localVolume('v1', '5Gi', 'n1', { version: 'abc' }));
    expect(ledger.reserve(placement)).toMatchObject({
      conflicts: [{ problem: 'is out of sync (stored: abc, planned: 1)' }],
    });
  });
});

describe('a savepoint', () => {
  test('takes reservations back, and the ledger forgets them', () => {
    const { index, ledger } = start();
    const savepoint = index.savepoint();
    reserve(index, ledger, pod('one', ['data', 'new']));
    index.rollback(savepoint);
    expect([...ledger.all()]).toEqual([]);
    expect(planOutcome(index, pod('q', ['other']))).toMatchObject({ volumes: { other: 'v1' } });
    expect(planOutcome(index, pod('q', ['newer']))).toMatchObject({ pools: { newer: 'storage/net' } });
  });

  test('takes a revert back', () => {
    const { index, ledger } = start();
    const held = reserve(index, ledger, pod('one', ['data']));
    const savepoint = index.savepoint();
    ledger.revert(held);
    index.rollback(savepoint);
    expect(ledger.get('default/one')).toBe(held);
    expect(planOutcome(index, pod('q', ['other']))).toMatchObject({ volumes: { other: 'v2' } });
  });

  test('takes back what the cluster said, in whatever order it was said', () => {
    const { index } = start();
    const before = planOutcome(index, pod('q', ['data', 'new']));
    const savepoint = index.savepoint();
    index.remove('Node', 'n1');
    index.remove('PersistentVolume', 'v1');
    index.upsert('Node', node('n0'));
    index.upsert('PersistentVolumeClaim', claim('data', '50Gi', { version: '2' }));
    index.upsert('CSIStorageCapacity', capacity('net', 'made', { capacity: '1Gi', version: '2' }));
    index.remove('StorageClass', 'made');
    expect(planOutcome(index, pod('q', ['data', 'new']))).not.toEqual(before);
    index.rollback(savepoint);
    expect(planOutcome(index, pod('q', ['data', 'new']))).toEqual(before);
  });

  test('inside another is taken back alone, or kept', () => {
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

  test('closed out of order is a mistake of the caller', () => {
    const { index } = start();
    const outer = index.savepoint();
    index.remove('Node', 'n1');
    index.savepoint();
    expect(() => index.rollback(outer)).toThrow('reverse order');
  });
});
