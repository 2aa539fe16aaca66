import { describe, expect, test } from 'vitest';
import type { Pod } from '../../../kube/core.ts';
import type { ClassCapacity, StoragePool } from '../../../kube/stowage.ts';
import { type InFlightPolicy, stowageProfile } from '../../index/profile.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { plan } from '../../plan.ts';
import { type ClusterObjects, clusterOf, type Outcome, outcomeOf } from '../../testing/cluster.ts';
import { byName, claim, driverCapacity, madeBy, node, pod, pool, zone } from '../../testing/objects.ts';

const driver = 'disk.csi';
const refused: Outcome = { message: '0/1 nodes are available: 1 node(s) did not have enough free storage.' };
const data = pod('p', ['data']);

function entry(storageClassName: string, ...pools: readonly StoragePool[]): ClassCapacity {
  return { storageClassName, pools };
}

/** One node `n1` in zone a; classes `fast` and `slow` of one driver; a claim `data` of 5Gi and class fast. */
function clusterWith(storage: readonly ClassCapacity[], more: ClusterObjects = {}): ClusterObjects {
  return {
    Node: [node('n1', { [zone]: 'a' })],
    StorageClass: [madeBy(driver, 'fast'), madeBy(driver, 'slow')],
    DriverCapacity: [driverCapacity(driver, storage)],
    PersistentVolumeClaim: [claim('data', '5Gi', { className: 'fast' })],
    ...more,
  };
}

function from(pools: Record<string, string>): Outcome {
  return { node: 'n1', volumes: {}, pools };
}

interface Case {
  readonly name: string;
  readonly storage: readonly ClassCapacity[];
  readonly pod?: Pod;
  readonly more?: ClusterObjects;
  readonly nowMs?: number;
  readonly expected: Outcome;
}

function expectCases(cases: readonly Case[]): void {
  test.each(byName(cases))('%s', (_, { storage, pod: asking = data, more, nowMs = 0, expected }) => {
    expect(outcomeOf(clusterOf(clusterWith(storage, more)), asking, nowMs)).toEqual(expected);
  });
}

describe('several pools of one node', () => {
  const claims = {
    PersistentVolumeClaim: ['a', 'b', 'c'].map((name) => claim(name, '5Gi', { className: 'fast' })),
  };
  expectCases([
    {
      name: 'serve a claim each where one pool cannot take all',
      storage: [entry('fast', pool('one', '6Gi'), pool('two', '6Gi'))],
      pod: pod('p', ['a', 'b']),
      more: claims,
      expected: from({ a: 'one', b: 'two' }),
    },
    {
      name: 'are filled in the order of their names',
      storage: [entry('fast', pool('two', '10Gi'), pool('one', '10Gi'))],
      pod: pod('p', ['a', 'b']),
      more: claims,
      expected: from({ a: 'one', b: 'one' }),
    },
    {
      name: 'are not added up: a volume comes from one pool',
      storage: [entry('fast', pool('one', '4Gi'), pool('two', '4Gi'))],
      pod: pod('p', ['a']),
      more: claims,
      expected: refused,
    },
    {
      name: 'refuse the claim too many',
      storage: [entry('fast', pool('one', '6Gi'), pool('two', '6Gi'))],
      pod: pod('p', ['a', 'b', 'c']),
      more: claims,
      expected: refused,
    },
    {
      name: 'are packed exactly where first-fit would fail',
      storage: [entry('fast', pool('one', '10Gi'), pool('two', '9Gi'))],
      pod: pod('p', ['s6', 's5', 's4', 's4b']),
      more: {
        PersistentVolumeClaim: [
          claim('s6', '6Gi', { className: 'fast' }),
          claim('s5', '5Gi', { className: 'fast' }),
          claim('s4', '4Gi', { className: 'fast' }),
          claim('s4b', '4Gi', { className: 'fast' }),
        ],
      },
      expected: from({ s6: 'one', s5: 'two', s4: 'one', s4b: 'two' }),
    },
  ]);
});

describe('classes that share a pool at different cost', () => {
  const storage = [entry('fast', pool('vg', '256Gi')), entry('slow', pool('vg', '128Gi'))];
  const asking = (fast: string, slow: string): ClusterObjects => ({
    PersistentVolumeClaim: [
      claim('striped', fast, { className: 'fast' }),
      claim('mirrored', slow, { className: 'slow' }),
    ],
  });
  const both = pod('p', ['striped', 'mirrored']);
  expectCases([
    {
      name: 'a mirrored byte costs two striped ones, and both fit',
      storage,
      pod: both,
      more: asking('56Gi', '100Gi'),
      expected: from({ striped: 'vg', mirrored: 'vg' }),
    },
    {
      name: 'a mirrored byte costs two striped ones, and a byte is missing',
      storage,
      pod: both,
      more: asking('60129542145', '100Gi'),
      expected: refused,
    },
    {
      name: 'pools of different names do not share',
      storage: [entry('fast', pool('vg1', '256Gi')), entry('slow', pool('vg2', '128Gi'))],
      pod: both,
      more: asking('256Gi', '128Gi'),
      expected: from({ striped: 'vg1', mirrored: 'vg2' }),
    },
  ]);

  test('see what has been promised to each other', () => {
    const index = clusterOf(clusterWith(storage, asking('200Gi', '29Gi')));
    const first = plan(pod('first', ['striped']), index, { nowMs: 0 });
    if (first.kind !== 'placement') return expect.fail(first.message);
    new Ledger(index).reserve(first);
    expect(outcomeOf(index, pod('second', ['mirrored']))).toEqual(refused);
  });
});

describe('by policy of the driver', () => {
  const storage = [entry('fast', pool('one', '10Gi'))];
  const claims = {
    PersistentVolumeClaim: ['a', 'b'].map((name) => claim(name, '4Gi', { className: 'fast' })),
  };
  const under = (policy: InFlightPolicy, size = '10Gi') => {
    const index = clusterOf(clusterWith([entry('fast', pool('one', size))], claims), {
      ...stowageProfile,
      inFlightOf: { [driver]: policy },
    });
    return { index, ledger: new Ledger(index) };
  };
  const reserveFor = ({ index, ledger }: ReturnType<typeof under>, asking: Pod) => {
    const placement = plan(asking, index, { nowMs: 0 });
    return placement.kind === 'placement' ? ledger.reserve(placement).kind : placement.message;
  };

  test('linear: what is promised is gone, and the rest may be had', () => {
    const here = under('linear');
    expect(reserveFor(here, pod('first', ['a']))).toBe('reserved');
    expect(reserveFor(here, pod('second', ['b']))).toBe('reserved');
    const tight = under('linear', '7Gi');
    expect(reserveFor(tight, pod('first', ['a']))).toBe('reserved');
    expect(outcomeOf(tight.index, pod('second', ['b']))).toEqual(refused);
  });

  test('one at a time: a pool with a promise counts as full', () => {
    const here = under('one-at-a-time');
    expect(reserveFor(here, pod('first', ['a']))).toBe('reserved');
    expect(outcomeOf(here.index, pod('second', ['b']))).toEqual(refused);
  });

  test('one at a time: the claims of one pod go together, if their sum fits', () => {
    expect(reserveFor(under('one-at-a-time'), pod('p', ['a', 'b']))).toBe('reserved');
    expect(outcomeOf(under('one-at-a-time', '7Gi').index, pod('p', ['a', 'b']))).toEqual(refused);
  });

  test('off: promises and siblings are not looked at', () => {
    const here = under('off', '4Gi');
    expect(reserveFor(here, pod('first', ['a']))).toBe('reserved');
    expect(reserveFor(here, pod('second', ['a', 'b']))).toBe('reserved');
  });

  test('the policy of one driver leaves others theirs', () => {
    const index = clusterOf(clusterWith(storage, claims), {
      ...stowageProfile,
      inFlightOf: { 'other.csi': 'off' },
    });
    expect(outcomeOf(index, pod('p', ['a', 'b']))).toEqual(from({ a: 'one', b: 'one' }));
    index.upsert('DriverCapacity', driverCapacity(driver, [entry('fast', pool('one', '7Gi'))], '2'));
    expect(outcomeOf(index, pod('p', ['a', 'b']))).toEqual(refused);
  });
});

describe('what a driver publishes', () => {
  test('is followed as entries and pools come and go', () => {
    const index = clusterOf(clusterWith([entry('fast', pool('one', '6Gi', { nodeList: ['n0'] }))]));
    expect(outcomeOf(index, data)).toEqual(refused);
    index.upsert('DriverCapacity', driverCapacity(driver, [], '2'));
    expect(outcomeOf(index, data)).toEqual(refused);
    index.upsert('DriverCapacity', driverCapacity(driver, [entry('fast', pool('two', '6Gi'))], '3'));
    expect(outcomeOf(index, data)).toEqual(from({ data: 'two' }));
    index.remove('DriverCapacity', driver);
    expect(outcomeOf(index, data)).toEqual(from({ data: 'new' }));
  });
});
