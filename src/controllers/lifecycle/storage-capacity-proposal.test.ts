/** The storage-capacity proposal on a whole cluster: each test is named after what the proposal asks for. */
import { describe, expect, test } from 'vitest';
import { stowageProfile } from '../../engine/cluster-index/profile.ts';
import {
  csiStorageCapacities,
  driverCapacities,
  persistentVolumeClaims,
  pods,
} from '../../kube/resources.ts';
import { driverName, gib, namespace, StorageFixture, topologyKey } from './testing/storage-fixture.ts';

const inlineOnly = {
  storageCapacity: true,
  podInfoOnMount: true,
  volumeLifecycleModes: ['Ephemeral'] as const,
};
const forInline = { forEphemeral: true, form: 'DriverCapacity' } as const;

async function published(fixture: StorageFixture): Promise<readonly string[]> {
  const { items } = await fixture.cluster.resource(csiStorageCapacities).list();
  return items
    .map(({ storageClassName, nodeTopology, capacity }) => {
      const segment = Object.values(nodeTopology?.matchLabels ?? {}).join('+');
      return `${storageClassName} ${segment} ${capacity}`;
    })
    .sort();
}

function linesOf(count: number, line: (at: number) => string): readonly string[] {
  return Array.from({ length: count }, (_, at) => line(at)).sort();
}

describe('the goal: choose a node for which volume creation will succeed', () => {
  test('for persistent volumes with delayed binding: pods that fill every node cause no failed CreateVolume', async () => {
    const pools = { n1: 10, n2: 10, n3: 10, n4: 10, n5: 10 };
    await using fixture = await StorageFixture.central({ pools });
    for (let at = 0; at < 50; at++) await fixture.podWithClaim(`pod-${at}`);
    await fixture.settle(30_000);
    const lines = await fixture.podLines();
    expect(lines.filter((line) => line.includes('Running'))).toHaveLength(50);
    // Every volume was created by one call: none was refused, and none was repeated.
    expect(fixture.callsOf('CreateVolume')).toHaveLength(50);
    expect(Object.keys(pools).map((name) => fixture.driver.freeIn(name))).toEqual([0n, 0n, 0n, 0n, 0n]);

    await fixture.podWithClaim('one-too-many');
    await fixture.settle();
    expect(await fixture.podLines()).toContain('one-too-many Pending');
    expect(fixture.callsOf('CreateVolume')).toHaveLength(50);
  });

  test('for ephemeral inline volumes: pods that fill every node cause no failed NodePublishVolume', async () => {
    const driverSpec = inlineOnly;
    await using fixture = await StorageFixture.perNode({
      pools: { n1: 3, n2: 2 },
      driverSpec,
      capacity: forInline,
    });
    for (let at = 0; at < 6; at++) await fixture.podWithInlineVolume(`pod-${at}`, { fsSize: '1Gi' });
    await fixture.settle(30_000);
    const lines = await fixture.podLines();
    expect(lines.map((line) => line.replace(/pod-\d /, '')).sort()).toEqual([
      'Pending',
      'Running n1',
      'Running n1',
      'Running n1',
      'Running n2',
      'Running n2',
    ]);
    expect(fixture.callsOf('NodePublishVolume')).toHaveLength(5);
  });

  test('it may also be storage with limits for other topology segments: the racks of nodes', async () => {
    const segments = { n1: 'r1', n2: 'r1', n3: 'r2' };
    await using fixture = await StorageFixture.central({ pools: { r1: 1, r2: 5 }, segments });
    expect(await published(fixture)).toEqual(['fast r1 1Gi', 'fast r2 5Gi']);
    await fixture.podWithClaim('web', '3Gi');
    await fixture.settle();
    expect(await fixture.podLines()).toEqual(['web Running n3']);
  });

  test('for persistent volumes, capacity is tracked per storage class: a class whose volumes are mirrored has half', async () => {
    const classes = [
      { metadata: { name: 'striped' } },
      { metadata: { name: 'mirrored' }, parameters: { copies: '2' } },
    ];
    await using fixture = await StorageFixture.central({ pools: { n1: 8 }, classes });
    expect(await published(fixture)).toEqual(['mirrored n1 4Gi', 'striped n1 8Gi']);
    await fixture.podWithClaim('one', '5Gi', 'mirrored');
    await fixture.settle();
    expect(await fixture.podLines()).toEqual(['one Pending']);
    await fixture.podWithClaim('two', '5Gi', 'striped');
    await fixture.settle();
    expect(await fixture.podLines()).toEqual(['one Pending', 'two Running n1']);
  });

  test('for ephemeral volumes there is no storage class, so tracking is only done per node and driver', async () => {
    const driverSpec = inlineOnly;
    const classes: [] = [];
    await using fixture = await StorageFixture.perNode({
      pools: { n1: 3, n2: 2 },
      driverSpec,
      classes,
      capacity: forInline,
    });
    expect(await fixture.inlinePools()).toEqual(['<ephemeral> n1 3Gi', '<ephemeral> n2 2Gi']);
    expect(await published(fixture)).toEqual([]);
  });

  test('for persistent volumes that are created independently of a pod nothing changes', async () => {
    const classes = [{ metadata: { name: 'now' }, volumeBindingMode: 'Immediate' as const }];
    await using fixture = await StorageFixture.central({ pools: { n1: 1, n2: 4 }, classes });
    await fixture.claim('data', '2Gi', 'now');
    await fixture.settle();
    const { status } = await fixture.cluster
      .resource(persistentVolumeClaims)
      .get({ namespace, name: 'data' });
    expect(status?.phase).toBe('Bound');
    // The driver decided how to create it, and its topology says where pods must run.
    await fixture.pod('web', [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }]);
    await fixture.settle();
    expect(await fixture.podLines()).toEqual(['web Running n2']);
    expect(await published(fixture)).toEqual([]);
  });
});

describe('volume operations that fail', () => {
  test('the pod is re-scheduled to some other node which has enough storage capacity', async () => {
    await using fixture = await StorageFixture.central({ pools: { n1: 9, n2: 5 } });
    // An operation outside of Kubernetes takes bytes, and the driver's report does not show it yet.
    fixture.driver.addVolume('foreign', 'n1', 9n * gib);
    await fixture.podWithClaim('web', '4Gi');
    await fixture.settle(30_000);
    expect(await fixture.podLines()).toEqual(['web Running n2']);
  });
});

describe('the check', () => {
  test('is only necessary for claims that have not been bound yet: a bound volume is used in a full pool', async () => {
    await using fixture = await StorageFixture.central({ pools: { n1: 1 } });
    await fixture.podWithClaim('first');
    await fixture.settle();
    expect(await fixture.podLines()).toEqual(['first Running n1']);
    await fixture.deletePod('first');
    await fixture.settle();
    expect(await published(fixture)).toEqual(['fast n1 0']);
    await fixture.pod('second', [{ name: 'data', persistentVolumeClaim: { claimName: 'first' } }]);
    await fixture.settle();
    expect(await fixture.podLines()).toEqual(['second Running n1']);
  });

  test('finds the driver, then the entry for the storage class or ephemeral volumes, then all pools that are accessible and have sufficient capacity', async () => {
    const driverSpec = { ...inlineOnly, volumeLifecycleModes: ['Persistent', 'Ephemeral'] as const };
    await using fixture = await StorageFixture.central({ pools: { n1: 1, n2: 1 }, driverSpec, classes: [] });
    await fixture.cluster.resource(driverCapacities).create({
      metadata: { name: driverName },
      spec: { capacityTracking: true },
    });
    const body = {
      status: {
        storage: [
          { storageClassName: 'fast', pools: [{ name: 'all', capacity: '100Gi' }] },
          {
            storageClassName: '<ephemeral>',
            pools: [
              { name: 'a', nodeList: ['n1'], capacity: '4Gi' },
              { name: 'b', nodeList: ['n2'], capacity: '8Gi' },
            ],
          },
        ],
      },
    };
    const key = { name: driverName };
    const client = fixture.cluster.resource(driverCapacities);
    await client.patch(key, { type: 'merge', body }, { subresource: 'status' });
    await fixture.settle();
    await fixture.podWithInlineVolume('large', { fsSize: '6Gi' });
    await fixture.podWithInlineVolume('larger', { fsSize: '16Gi' });
    await fixture.settle();
    expect(await fixture.podLines()).toEqual(['large Running n2', 'larger Pending']);
  });
});

describe('the user story: PMEM for Redis', () => {
  test('the scheduler knows whether enough PMEM is available on a node before it assigns a pod to it', async () => {
    const driverSpec = inlineOnly;
    await using fixture = await StorageFixture.perNode({
      pools: { n1: 4, n2: 16 },
      driverSpec,
      capacity: forInline,
    });
    for (const name of ['redis-a', 'redis-b'])
      await fixture.podWithInlineVolume(name, { fsSize: '8Gi', fsType: 'xfs' });
    await fixture.podWithInlineVolume('redis-c', { fsSize: '4Gi' });
    await fixture.settle();
    expect(await fixture.podLines()).toEqual([
      'redis-a Running n2',
      'redis-b Running n2',
      'redis-c Running n1',
    ]);
    expect(await fixture.inlinePools()).toEqual(['<ephemeral> n1 0', '<ephemeral> n2 0']);

    await fixture.podWithInlineVolume('redis-d', { fsSize: '8Gi' });
    await fixture.settle();
    const { status } = await fixture.cluster.resource(pods).get({ namespace, name: 'redis-d' });
    expect(status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message).toMatch(
      /^0\/2 nodes are available: 2 node\(s\) did not have enough free storage/,
    );
    // All old data is discarded when Redis ends, and its PMEM is free for the pod that waits.
    await fixture.deletePod('redis-a');
    await fixture.settle(120_000);
    expect(await fixture.podLines()).toContain('redis-d Running n2');
  });
});

describe('capacity information in the API server', () => {
  test('a driver that does not indicate that it supports capacity reporting is scheduled as before', async () => {
    const driverSpec = { storageCapacity: false };
    await using fixture = await StorageFixture.central({ pools: { n1: 1, n2: 1 }, driverSpec });
    await fixture.podWithClaim('web', '1Gi');
    await fixture.podWithClaim('large', '2Gi');
    await fixture.settle();
    // The scheduler sent it to a node without looking, and the driver refused.
    expect(await fixture.podLines()).toEqual(['large Pending', expect.stringMatching(/^web Running/)]);
    expect(fixture.callsOf('CreateVolume').length).toBeGreaterThan(1);
  });

  test('is updated when nodes change', async () => {
    await using fixture = await StorageFixture.central({ pools: { n1: 1, n2: 2 }, segments: { n1: 'n1' } });
    expect(await published(fixture)).toEqual(['fast n1 1Gi']);
    await fixture.node('n2', 'n2');
    await fixture.csiNode('n2', 'n2');
    await fixture.settle();
    expect(await published(fixture)).toEqual(['fast n1 1Gi', 'fast n2 2Gi']);
  });

  test('is updated when volumes were created or deleted', async () => {
    await using fixture = await StorageFixture.central({ pools: { n1: 5 } });
    await fixture.podWithClaim('web', '2Gi');
    await fixture.settle();
    expect(await published(fixture)).toEqual(['fast n1 3Gi']);
    await fixture.deletePod('web');
    await fixture.cluster.resource(persistentVolumeClaims).delete({ namespace, name: 'web' });
    await fixture.settle();
    expect(fixture.driver.volumes.size).toBe(0);
    expect(await published(fixture)).toEqual(['fast n1 5Gi']);
  });

  test('is updated periodically, to detect changes in the underlying backing store', async () => {
    await using fixture = await StorageFixture.central({ pools: { n1: 5 } });
    fixture.driver.addVolume('behind-our-back', 'n1', 2n * gib);
    await fixture.settle(1000);
    expect(await published(fixture)).toEqual(['fast n1 5Gi']);
    // A minute, and the jitter of a poll.
    await fixture.settle(70_000);
    expect(await published(fixture)).toEqual(['fast n1 3Gi']);
  });

  test('of all nodes with the same labels is one: duplicates are removed', async () => {
    const segments = Object.fromEntries(linesOf(9, (at) => `n${at}`).map((name) => [name, 'rack']));
    await using fixture = await StorageFixture.central({ pools: { rack: 7 }, segments });
    expect(await published(fixture)).toEqual(['fast rack 7Gi']);
    expect(fixture.callsOf('GetCapacity')).toMatchObject([
      { accessibleTopology: { segments: { [topologyKey]: 'rack' } } },
    ]);
  });

  test('for each storage class and each topology segment comes from GetCapacity, with the parameters of the class', async () => {
    const classes = [
      { metadata: { name: 'a' }, parameters: { type: 'ssd' } },
      { metadata: { name: 'b' }, parameters: { type: 'hdd' } },
    ];
    await using fixture = await StorageFixture.central({ pools: { n1: 1, n2: 2 }, classes });
    const asked = (
      fixture.callsOf('GetCapacity') as { parameters: object; accessibleTopology: { segments: object } }[]
    )
      .map(({ parameters, accessibleTopology }) => JSON.stringify([parameters, accessibleTopology.segments]))
      .sort();
    expect(asked).toEqual([
      `[{"type":"hdd"},{"${topologyKey}":"n1"}]`,
      `[{"type":"hdd"},{"${topologyKey}":"n2"}]`,
      `[{"type":"ssd"},{"${topologyKey}":"n1"}]`,
      `[{"type":"ssd"},{"${topologyKey}":"n2"}]`,
    ]);
  });

  test('for ephemeral volumes is optional, and comes from GetCapacity without parameters for the same segments', async () => {
    await using off = await StorageFixture.central({ pools: { n1: 1 } });
    expect(await off.cluster.resource(driverCapacities).list()).toMatchObject({ items: [] });
    await using on = await StorageFixture.central({ pools: { n1: 1 }, capacity: { forEphemeral: true } });
    const { items } = await on.cluster.resource(driverCapacities).list();
    expect(items.flatMap(({ status }) => status?.storage ?? [])).toMatchObject([
      { storageClassName: '<ephemeral>', pools: [{ capacity: '1Gi' }] },
    ]);
    expect(on.callsOf('GetCapacity')).toMatchObject([
      { parameters: {}, accessibleTopology: { segments: { [topologyKey]: 'n1' } } },
      { parameters: {}, accessibleTopology: { segments: { [topologyKey]: 'n1' } } },
    ]);
  });
});

describe('the API', () => {
  test('an update of a pool is a PATCH: writers need not read the object, and do not conflict with each other', async () => {
    await using fixture = await StorageFixture.central({ pools: { n1: 1 } });
    const client = fixture.cluster.resource(driverCapacities);
    await client.create({ metadata: { name: 'shared' }, spec: { driver: 'csi.example.com' } });
    const apply = (node: string, capacity: string) =>
      client.patch(
        { name: 'shared' },
        {
          type: 'apply',
          body: {
            apiVersion: 'stowage.dev/v1alpha1',
            kind: 'DriverCapacity',
            metadata: { name: 'shared' },
            status: {
              storage: [{ storageClassName: 'fast', pools: [{ name: node, nodeList: [node], capacity }] }],
            },
          },
        },
        { fieldManager: node, subresource: 'status' },
      );
    const names = ['n1', 'n2', 'n3'];
    await Promise.all(names.map((name) => apply(name, '1Gi')));
    await Promise.all(names.map((name, at) => apply(name, `${at + 2}Gi`)));
    const { status } = await client.get({ name: 'shared' });
    const [{ pools = [] } = {}] = status?.storage ?? [];
    expect(pools.map(({ name, capacity }) => `${name} ${capacity}`).sort()).toEqual([
      'n1 2Gi',
      'n2 3Gi',
      'n3 4Gi',
    ]);
  });

  test('the entries must have names that are unique inside their list', async () => {
    await using fixture = await StorageFixture.central({ pools: { n1: 1 } });
    const client = fixture.cluster.resource(driverCapacities);
    await client.create({ metadata: { name: 'own' }, spec: { driver: driverName } });
    const pools = [
      { name: 'a', capacity: '1Gi' },
      { name: 'a', capacity: '2Gi' },
    ];
    const body = { status: { storage: [{ storageClassName: 'fast', pools }] } };
    const patch = client.patch({ name: 'own' }, { type: 'merge', body }, { subresource: 'status' });
    await expect(patch).rejects.toThrow(/Duplicate value/);
  });

  test('is under the CSIStorageCapacity feature gate: without it, published capacity is not read', async () => {
    const profile = { ...stowageProfile, poolForms: [] };
    await using fixture = await StorageFixture.central({ pools: { n1: 1 }, profile });
    await fixture.podWithClaim('large', '2Gi');
    await fixture.settle();
    // The scheduler sent it to a node without looking, and the driver refused.
    expect(fixture.callsOf('CreateVolume').length).toBeGreaterThan(0);
  });
});
