import { describe, expect, test } from 'vitest';
import {
  ephemeralStorageClassName as ephemeral,
  fallbackStorageClassName as fallback,
  type StoragePool,
} from '../../../kube/stowage/driver-capacity.ts';
import { clusterOf } from '../../testing/cluster.ts';
import {
  csiDriver,
  driverCapacity,
  hostname,
  inlineVolume,
  labelIn,
  node,
  pod,
  pool,
  storageCapacity,
  zone,
} from '../../testing/objects.ts';
import {
  classPools,
  expectPoolCases,
  noFreeStorage,
  placedWithPools,
  poolDriver,
} from '../../testing/pool-cases.ts';

const inline = pod('p', [], { volumes: [inlineVolume('scratch', poolDriver, '5Gi')] });

describe('pools are looked up by driver, then by class, then under <fallback>:', () => {
  const own = classPools('fast', pool('own', '10Gi'));
  const spare = classPools(fallback, pool('spare', '10Gi'));
  const used = (name: string) => classPools(name, pool('used-up', '1Gi'));
  expectPoolCases([
    { name: 'the entry of the class serves it', storage: [own], expected: placedWithPools({ data: 'own' }) },
    { name: 'it comes before <fallback>', storage: [spare, own], expected: placedWithPools({ data: 'own' }) },
    {
      name: '<fallback> serves a class without an entry',
      storage: [spare],
      expected: placedWithPools({ data: 'spare' }),
    },
    {
      name: 'an entry counts even if it has no capacity left',
      storage: [used('fast'), spare],
      expected: noFreeStorage,
    },
    {
      name: 'an entry counts even without pools',
      storage: [classPools('fast'), spare],
      expected: noFreeStorage,
    },
    {
      name: 'an entry counts even if its pools have expired',
      storage: [classPools('fast', pool('old', '10Gi', { expiryTime: '2026-01-01T00:00:00Z' })), spare],
      nowMs: Date.parse('2026-06-01T00:00:00Z'),
      expected: noFreeStorage,
    },
    {
      name: 'the entry of another class does not serve the claim',
      storage: [classPools('slow', pool('other', '10Gi'))],
      expected: noFreeStorage,
    },
    {
      name: '<ephemeral> serves no claims',
      storage: [classPools(ephemeral, pool('ram', '10Gi'))],
      expected: noFreeStorage,
    },
    {
      name: '<ephemeral> alone leaves classes to CSIStorageCapacity, if the driver tracks that',
      storage: [classPools(ephemeral, pool('ram', '1Gi'))],
      more: {
        CSIDriver: [csiDriver(poolDriver)],
        CSIStorageCapacity: [storageCapacity('fast-a', 'fast', { capacity: '10Gi' })],
      },
      expected: placedWithPools({ data: 'storage/fast-a' }),
    },
    {
      name: 'with an entry for a class, the form is DriverCapacity for all classes',
      storage: [classPools(ephemeral, pool('ram', '1Gi')), classPools('slow', pool('own', '10Gi'))],
      more: {
        CSIDriver: [csiDriver(poolDriver)],
        CSIStorageCapacity: [storageCapacity('fast-a', 'fast', { capacity: '10Gi' })],
      },
      expected: noFreeStorage,
    },
    {
      name: 'a driver that tracks capacity and publishes nothing has none',
      storage: [],
      expected: noFreeStorage,
    },
    {
      name: 'the pools of a driver that does not track capacity are not checked',
      storage: [],
      more: { DriverCapacity: [{ metadata: { name: poolDriver }, spec: { capacityTracking: false } }] },
      expected: placedWithPools({ data: 'new' }),
    },
    {
      name: 'what another driver publishes does not matter',
      storage: [],
      more: { DriverCapacity: [driverCapacity('other.csi', [used('fast')])] },
      expected: placedWithPools({ data: 'new' }),
    },
  ]);
});

describe('inline volumes with a size', () => {
  const ram = classPools(ephemeral, pool('ram', '10Gi'));
  const spare = classPools(fallback, pool('spare', '10Gi'));
  const attribute = {
    name: 'scratch',
    csi: { driver: poolDriver, volumeAttributes: { 'csi.storage.k8s.io/size': '5Gi' } },
  };
  expectPoolCases([
    {
      name: 'use capacity of <ephemeral>',
      storage: [ram, spare],
      pod: inline,
      expected: placedWithPools({ 'p:scratch': 'ram' }),
    },
    {
      name: 'use capacity of <fallback> if there is no <ephemeral>',
      storage: [spare],
      pod: inline,
      expected: placedWithPools({ 'p:scratch': 'spare' }),
    },
    {
      name: 'are refused if <ephemeral> is full, whatever <fallback> has',
      storage: [classPools(ephemeral, pool('ram', '1Gi')), spare],
      pod: inline,
      expected: noFreeStorage,
    },
    {
      name: 'are refused if only classes have capacity',
      storage: [classPools('fast', pool('own', '10Gi'))],
      pod: inline,
      expected: noFreeStorage,
    },
    {
      name: 'may state their size in the volume attributes',
      storage: [ram],
      pod: pod('p', [], { volumes: [attribute] }),
      expected: placedWithPools({ 'p:scratch': 'ram' }),
    },
    {
      name: 'use no capacity if they state no size',
      storage: [classPools(ephemeral)],
      pod: pod('p', [], { volumes: [inlineVolume('scratch', poolDriver)] }),
      expected: placedWithPools({}),
    },
    {
      name: 'use no capacity if their size is zero, but there must be a pool',
      storage: [classPools(ephemeral, pool('ram', '0'))],
      pod: pod('p', [], { volumes: [inlineVolume('scratch', poolDriver, '0')] }),
      expected: placedWithPools({ 'p:scratch': 'ram' }),
    },
    {
      name: 'of a driver that does not track capacity fit any node',
      storage: [],
      pod: pod('p', [], { volumes: [inlineVolume('scratch', 'other.csi', '5Gi')] }),
      expected: placedWithPools({}),
    },
    {
      name: 'share a pool with the claims of the pod',
      storage: [classPools(fallback, pool('one', '9Gi'))],
      pod: pod('p', ['data'], { volumes: [inlineVolume('scratch', poolDriver, '5Gi')] }),
      expected: noFreeStorage,
    },
    {
      name: 'share a pool with each other',
      storage: [classPools(ephemeral, pool('ram', '9Gi'))],
      pod: pod('p', [], {
        volumes: [inlineVolume('one', poolDriver, '5Gi'), inlineVolume('two', poolDriver, '5Gi')],
      }),
      expected: noFreeStorage,
    },
  ]);
});

describe('a pool is reached', () => {
  const fast = (rest: Partial<StoragePool>) => [classPools('fast', pool('one', '10Gi', rest))];
  const found = placedWithPools({ data: 'one' });
  const inZone = (value: string) => ({ nodeSelectorTerms: [labelIn(zone, value)] });
  expectPoolCases([
    { name: 'from everywhere without node fields', storage: fast({}), expected: found },
    { name: 'from the nodes of its list', storage: fast({ nodeList: ['n0', 'n1'] }), expected: found },
    {
      name: 'not from nodes outside of its list',
      storage: fast({ nodeList: ['n2'] }),
      expected: noFreeStorage,
    },
    { name: 'from no node by an empty list', storage: fast({ nodeList: [] }), expected: noFreeStorage },
    {
      name: 'by node name, not by hostname label',
      storage: fast({ nodeList: ['n1'] }),
      more: { Node: [node('n1', { [hostname]: 'host-a' })] },
      expected: found,
    },
    {
      name: 'not by a hostname label that equals a listed name',
      storage: fast({ nodeList: ['host-a'] }),
      more: { Node: [node('n1', { [hostname]: 'host-a' })] },
      expected: noFreeStorage,
    },
    { name: 'by its topology', storage: fast({ nodeTopology: inZone('a') }), expected: found },
    {
      name: 'not from outside of its topology',
      storage: fast({ nodeTopology: inZone('b') }),
      expected: noFreeStorage,
    },
    {
      name: 'by any term of its topology',
      storage: fast({ nodeTopology: { nodeSelectorTerms: [labelIn(zone, 'b'), labelIn(hostname, 'n1')] } }),
      expected: found,
    },
    {
      name: 'by node name in the fields of its topology',
      storage: fast({
        nodeTopology: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n2'] }] }],
        },
      }),
      expected: noFreeStorage,
    },
    {
      name: 'from no node by a topology without terms',
      storage: fast({ nodeTopology: { nodeSelectorTerms: [] } }),
      expected: noFreeStorage,
    },
    {
      name: 'from no node while it has both a list and a topology',
      storage: fast({ nodeList: ['n1'], nodeTopology: inZone('a') }),
      expected: noFreeStorage,
    },
  ]);

  test('and a warning with pool and remedy reports if both are set', () => {
    const storage = [
      classPools('fast', pool('one', '10Gi', { nodeList: ['n1'], nodeTopology: inZone('a') })),
    ];
    const { warnings } = clusterOf({}).upsert('DriverCapacity', driverCapacity(poolDriver, storage));
    expect(warnings).toEqual([
      {
        kind: 'DriverCapacity',
        key: poolDriver,
        problem: expect.stringMatching(
          /^status\.storage\[fast\]\.pools\[one\]: .*nodeTopology and nodeList; remove/,
        ),
      },
    ]);
  });
});

describe('a capacity report is used', () => {
  const until = '2026-05-01T12:00:00Z';
  const untilMs = Date.parse(until);
  const storage = [classPools('fast', pool('one', '10Gi', { expiryTime: until }))];
  expectPoolCases([
    { name: 'before it expires', storage, nowMs: untilMs - 1, expected: placedWithPools({ data: 'one' }) },
    { name: 'not at the moment it expires', storage, nowMs: untilMs, expected: noFreeStorage },
    { name: 'not after it has expired', storage, nowMs: untilMs + 1, expected: noFreeStorage },
    {
      name: 'always without an expiry time',
      storage: [classPools('fast', pool('one', '10Gi'))],
      nowMs: Number.MAX_SAFE_INTEGER,
      expected: placedWithPools({ data: 'one' }),
    },
    {
      name: 'never if its expiry time is malformed',
      storage: [classPools('fast', pool('one', '10Gi', { expiryTime: 'tomorrow' }))],
      expected: noFreeStorage,
    },
    {
      name: 'of another pool instead, if that has not expired',
      storage: [classPools('fast', pool('fresh', '6Gi'), pool('dead', '9Gi', { expiryTime: until }))],
      nowMs: untilMs,
      expected: placedWithPools({ data: 'fresh' }),
    },
    {
      name: 'only if it has a size',
      storage: [classPools('fast', { name: 'no-size' })],
      expected: noFreeStorage,
    },
  ]);
});
