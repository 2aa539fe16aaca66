import { describe, expect, test } from 'vitest';
import {
  ephemeralStorageClassName as ephemeral,
  fallbackStorageClassName as fallback,
  type StoragePool,
} from '../../../kube/stowage.ts';
import { clusterOf } from '../../testing/cluster.ts';
import {
  driverCapacity,
  hostname,
  inlineVolume,
  node,
  onlyAt,
  pod,
  pool,
  zone,
} from '../../testing/objects.ts';
import { driver, entry, expectPools, from, noRoom } from '../../testing/pool-cases.ts';

const inline = pod('p', [], { volumes: [inlineVolume('scratch', driver, '5Gi')] });

describe('pools are looked up by driver, then by class, then under <fallback>:', () => {
  const own = entry('fast', pool('own', '10Gi'));
  const spare = entry(fallback, pool('spare', '10Gi'));
  const used = (name: string) => entry(name, pool('used-up', '1Gi'));
  expectPools([
    { name: 'the entry of the class serves it', storage: [own], expected: from({ data: 'own' }) },
    { name: 'it goes before <fallback>', storage: [spare, own], expected: from({ data: 'own' }) },
    {
      name: '<fallback> serves a class without an entry',
      storage: [spare],
      expected: from({ data: 'spare' }),
    },
    {
      name: 'an entry counts by being there, also when it is used up',
      storage: [used('fast'), spare],
      expected: noRoom,
    },
    {
      name: 'an entry counts by being there, also without pools',
      storage: [entry('fast'), spare],
      expected: noRoom,
    },
    {
      name: 'an entry counts by being there, also when its pools have expired',
      storage: [entry('fast', pool('old', '10Gi', { expiryTime: '2026-01-01T00:00:00Z' })), spare],
      nowMs: Date.parse('2026-06-01T00:00:00Z'),
      expected: noRoom,
    },
    {
      name: 'the entry of another class serves nobody else',
      storage: [entry('slow', pool('other', '10Gi'))],
      expected: noRoom,
    },
    {
      name: '<ephemeral> serves no claims',
      storage: [entry(ephemeral, pool('ram', '10Gi'))],
      expected: noRoom,
    },
    { name: 'a driver that tracks and publishes nothing has no room', storage: [], expected: noRoom },
    {
      name: 'a driver that does not track is not asked',
      storage: [],
      more: { DriverCapacity: [{ metadata: { name: driver }, spec: { capacityTracking: false } }] },
      expected: from({ data: 'new' }),
    },
    {
      name: 'what another driver publishes does not matter',
      storage: [],
      more: { DriverCapacity: [driverCapacity('other.csi', [used('fast')])] },
      expected: from({ data: 'new' }),
    },
  ]);
});

describe('inline volumes with a size', () => {
  const ram = entry(ephemeral, pool('ram', '10Gi'));
  const spare = entry(fallback, pool('spare', '10Gi'));
  const attribute = {
    name: 'scratch',
    csi: { driver, volumeAttributes: { 'csi.storage.k8s.io/size': '5Gi' } },
  };
  expectPools([
    {
      name: 'take room under <ephemeral>',
      storage: [ram, spare],
      pod: inline,
      expected: from({ 'p:scratch': 'ram' }),
    },
    {
      name: 'take room under <fallback> where there is no <ephemeral>',
      storage: [spare],
      pod: inline,
      expected: from({ 'p:scratch': 'spare' }),
    },
    {
      name: 'are refused where <ephemeral> is used up, whatever <fallback> has',
      storage: [entry(ephemeral, pool('ram', '1Gi')), spare],
      pod: inline,
      expected: noRoom,
    },
    {
      name: 'are refused where only classes have room',
      storage: [entry('fast', pool('own', '10Gi'))],
      pod: inline,
      expected: noRoom,
    },
    {
      name: 'may say their size in the attributes for the driver',
      storage: [ram],
      pod: pod('p', [], { volumes: [attribute] }),
      expected: from({ 'p:scratch': 'ram' }),
    },
    {
      name: 'take none if they say no size',
      storage: [entry(ephemeral)],
      pod: pod('p', [], { volumes: [inlineVolume('scratch', driver)] }),
      expected: from({}),
    },
    {
      name: 'take none of a pool if their size is zero, but there must be one',
      storage: [entry(ephemeral, pool('ram', '0'))],
      pod: pod('p', [], { volumes: [inlineVolume('scratch', driver, '0')] }),
      expected: from({ 'p:scratch': 'ram' }),
    },
    {
      name: 'of a driver that does not track go anywhere',
      storage: [],
      pod: pod('p', [], { volumes: [inlineVolume('scratch', 'other.csi', '5Gi')] }),
      expected: from({}),
    },
    {
      name: 'share a pool with the claims of the pod',
      storage: [entry(fallback, pool('one', '9Gi'))],
      pod: pod('p', ['data'], { volumes: [inlineVolume('scratch', driver, '5Gi')] }),
      expected: noRoom,
    },
    {
      name: 'share a pool with each other',
      storage: [entry(ephemeral, pool('ram', '9Gi'))],
      pod: pod('p', [], {
        volumes: [inlineVolume('one', driver, '5Gi'), inlineVolume('two', driver, '5Gi')],
      }),
      expected: noRoom,
    },
  ]);
});

describe('a pool is reached', () => {
  const fast = (rest: Partial<StoragePool>) => [entry('fast', pool('one', '10Gi', rest))];
  const found = from({ data: 'one' });
  const inZone = (value: string) => ({ nodeSelectorTerms: [onlyAt(zone, value)] });
  expectPools([
    { name: 'from everywhere without node fields', storage: fast({}), expected: found },
    { name: 'from the nodes of its list', storage: fast({ nodeList: ['n0', 'n1'] }), expected: found },
    { name: 'not from nodes outside of its list', storage: fast({ nodeList: ['n2'] }), expected: noRoom },
    { name: 'from nobody by an empty list', storage: fast({ nodeList: [] }), expected: noRoom },
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
      expected: noRoom,
    },
    { name: 'by its topology', storage: fast({ nodeTopology: inZone('a') }), expected: found },
    {
      name: 'not from outside of its topology',
      storage: fast({ nodeTopology: inZone('b') }),
      expected: noRoom,
    },
    {
      name: 'by any term of its topology',
      storage: fast({ nodeTopology: { nodeSelectorTerms: [onlyAt(zone, 'b'), onlyAt(hostname, 'n1')] } }),
      expected: found,
    },
    {
      name: 'by node name in the fields of its topology',
      storage: fast({
        nodeTopology: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n2'] }] }],
        },
      }),
      expected: noRoom,
    },
    {
      name: 'from nobody by a topology without terms',
      storage: fast({ nodeTopology: { nodeSelectorTerms: [] } }),
      expected: noRoom,
    },
    {
      name: 'from nobody while it has both a list and a topology',
      storage: fast({ nodeList: ['n1'], nodeTopology: inZone('a') }),
      expected: noRoom,
    },
  ]);

  test('and the mistake of giving both is told, with pool and remedy', () => {
    const storage = [entry('fast', pool('one', '10Gi', { nodeList: ['n1'], nodeTopology: inZone('a') }))];
    const { notices } = clusterOf({}).upsert('DriverCapacity', driverCapacity(driver, storage));
    expect(notices).toEqual([
      {
        kind: 'DriverCapacity',
        key: driver,
        problem: expect.stringMatching(
          /^status\.storage\[fast\]\.pools\[one\]: .*nodeTopology and nodeList; remove/,
        ),
      },
    ]);
  });
});

describe('a figure is believed', () => {
  const until = '2026-05-01T12:00:00Z';
  const untilMs = Date.parse(until);
  const storage = [entry('fast', pool('one', '10Gi', { expiryTime: until }))];
  expectPools([
    { name: 'before it expires', storage, nowMs: untilMs - 1, expected: from({ data: 'one' }) },
    { name: 'no more at the moment it expires', storage, nowMs: untilMs, expected: noRoom },
    { name: 'no more afterwards', storage, nowMs: untilMs + 1, expected: noRoom },
    {
      name: 'for ever without an expiry time',
      storage: [entry('fast', pool('one', '10Gi'))],
      nowMs: Number.MAX_SAFE_INTEGER,
      expected: from({ data: 'one' }),
    },
    {
      name: 'never if its expiry time cannot be read',
      storage: [entry('fast', pool('one', '10Gi', { expiryTime: 'tomorrow' }))],
      expected: noRoom,
    },
    {
      name: 'of another pool instead, if that is still fresh',
      storage: [entry('fast', pool('fresh', '6Gi'), pool('dead', '9Gi', { expiryTime: until }))],
      nowMs: untilMs,
      expected: from({ data: 'fresh' }),
    },
    {
      name: 'only if it says how much',
      storage: [entry('fast', { name: 'silent' })],
      expected: noRoom,
    },
  ]);
});
