import { describe, expect, test } from 'vitest';
import type { Pod } from '../../../kube/api/core.ts';
import { type InFlightPolicy, stowageProfile } from '../../cluster-index/profile.ts';
import { type ClusterObjects, clusterOf, planOutcome } from '../../testing/cluster.ts';
import { expectPlacement } from '../../testing/expect-plan.ts';
import { claim, driverCapacity, pod, pool } from '../../testing/objects.ts';
import {
  classPools,
  clusterWith,
  expectPoolCases,
  noFreeStorage,
  placedWithPools,
  poolDriver,
} from '../../testing/pool-cases.ts';
import { Ledger, plan } from '../../testing/whole-engine.ts';

const data = pod('p', ['data']);

describe('several pools of one node', () => {
  const claims = {
    PersistentVolumeClaim: ['a', 'b', 'c'].map((name) => claim(name, '5Gi', { className: 'fast' })),
  };
  expectPoolCases([
    {
      name: 'serve a claim each if one pool cannot hold all',
      storage: [classPools('fast', pool('one', '6Gi'), pool('two', '6Gi'))],
      pod: pod('p', ['a', 'b']),
      more: claims,
      expected: placedWithPools({ a: 'one', b: 'two' }),
    },
    {
      name: 'are filled in the order of their names',
      storage: [classPools('fast', pool('two', '10Gi'), pool('one', '10Gi'))],
      pod: pod('p', ['a', 'b']),
      more: claims,
      expected: placedWithPools({ a: 'one', b: 'one' }),
    },
    {
      name: 'are not added up: a volume comes from one pool',
      storage: [classPools('fast', pool('one', '4Gi'), pool('two', '4Gi'))],
      pod: pod('p', ['a']),
      more: claims,
      expected: noFreeStorage,
    },
    {
      name: 'refuse one claim too many',
      storage: [classPools('fast', pool('one', '6Gi'), pool('two', '6Gi'))],
      pod: pod('p', ['a', 'b', 'c']),
      more: claims,
      expected: noFreeStorage,
    },
    {
      name: 'are packed exactly if first-fit fails',
      storage: [classPools('fast', pool('one', '10Gi'), pool('two', '9Gi'))],
      pod: pod('p', ['s6', 's5', 's4', 's4b']),
      more: {
        PersistentVolumeClaim: [
          claim('s6', '6Gi', { className: 'fast' }),
          claim('s5', '5Gi', { className: 'fast' }),
          claim('s4', '4Gi', { className: 'fast' }),
          claim('s4b', '4Gi', { className: 'fast' }),
        ],
      },
      expected: placedWithPools({ s6: 'one', s5: 'two', s4: 'one', s4b: 'two' }),
    },
  ]);
});

describe('classes that share a pool at different cost', () => {
  const storage = [classPools('fast', pool('vg', '256Gi')), classPools('slow', pool('vg', '128Gi'))];
  const asking = (fast: string, slow: string): ClusterObjects => ({
    PersistentVolumeClaim: [
      claim('striped', fast, { className: 'fast' }),
      claim('mirrored', slow, { className: 'slow' }),
    ],
  });
  const both = pod('p', ['striped', 'mirrored']);
  expectPoolCases([
    {
      name: 'a mirrored byte costs two striped ones, and both fit',
      storage,
      pod: both,
      more: asking('56Gi', '100Gi'),
      expected: placedWithPools({ striped: 'vg', mirrored: 'vg' }),
    },
    {
      name: 'a mirrored byte costs two striped ones, and a byte is missing',
      storage,
      pod: both,
      more: asking('60129542145', '100Gi'),
      expected: noFreeStorage,
    },
    {
      name: 'pools of different names do not share',
      storage: [classPools('fast', pool('vg1', '256Gi')), classPools('slow', pool('vg2', '128Gi'))],
      pod: both,
      more: asking('256Gi', '128Gi'),
      expected: placedWithPools({ striped: 'vg1', mirrored: 'vg2' }),
    },
  ]);

  test('count the promises of each other', () => {
    const index = clusterOf(clusterWith(storage, asking('200Gi', '29Gi')));
    new Ledger(index).reserve(expectPlacement(index, pod('first', ['striped'])));
    expect(planOutcome(index, pod('second', ['mirrored']))).toEqual(noFreeStorage);
  });
});

describe('by policy of the driver', () => {
  const storage = [classPools('fast', pool('one', '10Gi'))];
  const claims = {
    PersistentVolumeClaim: ['a', 'b'].map((name) => claim(name, '4Gi', { className: 'fast' })),
  };
  const under = (policy: InFlightPolicy, size = '10Gi') => {
    const index = clusterOf(clusterWith([classPools('fast', pool('one', size))], claims), {
      ...stowageProfile,
      inFlightOf: { [poolDriver]: policy },
    });
    return { index, ledger: new Ledger(index) };
  };
  const reserveFor = ({ index, ledger }: ReturnType<typeof under>, asking: Pod) => {
    const placement = plan(asking, index, { nowMs: 0 });
    return placement.kind === 'placement' ? ledger.reserve(placement).kind : placement.message;
  };

  test('linear: promised capacity is used, and the rest is available', () => {
    const here = under('linear');
    expect(reserveFor(here, pod('first', ['a']))).toBe('reserved');
    expect(reserveFor(here, pod('second', ['b']))).toBe('reserved');
    const tight = under('linear', '7Gi');
    expect(reserveFor(tight, pod('first', ['a']))).toBe('reserved');
    expect(planOutcome(tight.index, pod('second', ['b']))).toEqual(noFreeStorage);
  });

  test('one at a time: a pool with a promise counts as full', () => {
    const here = under('one-at-a-time');
    expect(reserveFor(here, pod('first', ['a']))).toBe('reserved');
    expect(planOutcome(here.index, pod('second', ['b']))).toEqual(noFreeStorage);
  });

  test('one at a time: the claims of one pod go together, if their sum fits', () => {
    expect(reserveFor(under('one-at-a-time'), pod('p', ['a', 'b']))).toBe('reserved');
    expect(planOutcome(under('one-at-a-time', '7Gi').index, pod('p', ['a', 'b']))).toEqual(noFreeStorage);
  });

  test('off: promises and other claims of the pod do not count', () => {
    const here = under('off', '4Gi');
    expect(reserveFor(here, pod('first', ['a']))).toBe('reserved');
    expect(reserveFor(here, pod('second', ['a', 'b']))).toBe('reserved');
  });

  test('the policy of one driver does not affect others', () => {
    const index = clusterOf(clusterWith(storage, claims), {
      ...stowageProfile,
      inFlightOf: { 'other.csi': 'off' },
    });
    expect(planOutcome(index, pod('p', ['a', 'b']))).toEqual(placedWithPools({ a: 'one', b: 'one' }));
    index.upsert('DriverCapacity', driverCapacity(poolDriver, [classPools('fast', pool('one', '7Gi'))], '2'));
    expect(planOutcome(index, pod('p', ['a', 'b']))).toEqual(noFreeStorage);
  });
});

describe('what a driver publishes', () => {
  test('takes effect as entries and pools come and go', () => {
    const index = clusterOf(clusterWith([classPools('fast', pool('one', '6Gi', { nodeList: ['n0'] }))]));
    expect(planOutcome(index, data)).toEqual(noFreeStorage);
    index.upsert('DriverCapacity', driverCapacity(poolDriver, [], '2'));
    expect(planOutcome(index, data)).toEqual(noFreeStorage);
    index.upsert('DriverCapacity', driverCapacity(poolDriver, [classPools('fast', pool('two', '6Gi'))], '3'));
    expect(planOutcome(index, data)).toEqual(placedWithPools({ data: 'two' }));
    index.remove('DriverCapacity', poolDriver);
    expect(planOutcome(index, data)).toEqual(placedWithPools({ data: 'new' }));
  });
});
