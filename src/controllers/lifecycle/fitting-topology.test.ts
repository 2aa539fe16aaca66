import { expect, test } from 'vitest';
import type { CreateVolumeRequest } from '../../csi/generated/csi.ts';
import { nodes, persistentVolumeClaims } from '../../kube/resources.ts';
import { annotations } from '../../kube/well-known.ts';
import { namespace, StorageFixture, topologyKey } from './testing/storage-fixture.ts';

/** Without published capacity, the scheduler does not know which segments are full. */
const untracked = { driverSpec: { storageCapacity: false } };

async function cordon({ cluster }: StorageFixture, name: string): Promise<void> {
  await cluster.resource(nodes).patch({ name }, { type: 'merge', body: { spec: { unschedulable: true } } });
}

function requisites({ driver }: StorageFixture): readonly string[] {
  return driver.callsOf('CreateVolume').map((request) => {
    const { accessibilityRequirements } = request as CreateVolumeRequest;
    return (accessibilityRequirements?.requisite ?? [])
      .map(({ segments }) => segments[topologyKey])
      .join(' ');
  });
}

test('a driver may only choose among segments whose nodes fit the pod', async () => {
  const segments = { n1: 'a', n2: 'b', n3: 'c' };
  await using fixture = await StorageFixture.central({
    pools: { a: 0, b: 0, c: 10 },
    segments,
    ...untracked,
  });
  await cordon(fixture, 'n3');
  await fixture.podWithClaim('web');
  await fixture.settle();
  expect(requisites(fixture)[0]).toBe('a b');
  expect(requisites(fixture).join(' ')).not.toContain('c');
  expect(fixture.driver.volumes.size, 'the pod could never run in c').toBe(0);
  // The pod is not lost: it waits until a segment where it fits has capacity.
  fixture.driver.pools.set('b', 10n * 2n ** 30n);
  await fixture.settle(120_000);
  expect(await fixture.podLines()).toEqual(['web Running n2']);
});

test('each of several volumes is created where the selected node is', async () => {
  await using fixture = await StorageFixture.central({ pools: { n1: 10, n2: 10, n3: 10 }, ...untracked });
  await fixture.claim('one');
  await fixture.claim('two');
  const volumes = ['one', 'two'].map((claimName) => ({
    name: claimName,
    persistentVolumeClaim: { claimName },
  }));
  await fixture.pod('web', volumes);
  await fixture.settle();
  const [first, second, ...more] = requisites(fixture);
  expect([first, more]).toEqual([second, []]);
  expect(first).toMatch(/^n\d$/);
});

test('a node that another scheduler selected gets the segments of the whole cluster, as from external-provisioner', async () => {
  await using fixture = await StorageFixture.central({ pools: { n1: 10, n2: 10 }, ...untracked });
  await cordon(fixture, 'n2');
  await fixture.claim('data');
  const stale = { node: 'n2', segments: [{ [topologyKey]: 'n2' }] };
  const marks = { [annotations.selectedNode]: 'n1', [annotations.fittingTopology]: JSON.stringify(stale) };
  const body = { metadata: { annotations: marks } };
  await fixture.cluster
    .resource(persistentVolumeClaims)
    .patch({ namespace, name: 'data' }, { type: 'merge', body });
  await fixture.settle();
  expect(requisites(fixture)).toEqual(['n1 n2']);
});

test('a volume that is created elsewhere is named on claim and pod, and stays', async () => {
  await using fixture = await StorageFixture.central({ pools: { n1: 10, n2: 10 }, ...untracked });
  await cordon(fixture, 'n2');
  fixture.driver.changeReply = (method, reply) => {
    const { volume } = reply as { volume?: object };
    if (method !== 'CreateVolume' || volume === undefined) return reply;
    return { volume: { ...volume, accessibleTopology: [{ segments: { [topologyKey]: 'n2' } }] } };
  };
  await fixture.podWithClaim('web');
  await fixture.settle(60_000);
  expect(await fixture.podLines()).toEqual(['web Pending']);
  const events = (await fixture.environment.eventLines()).join('\n');
  expect(events).toMatch(
    /VolumeCreatedElsewhere web: node "n1" was selected, and the driver created volume pvc-\S+ where that node cannot reach it/,
  );
  expect(events).toMatch(
    /VolumesPinPod web: node n1 was selected for claim default\/web, but the driver created its volume pvc-\S+ where only n2 can reach it/,
  );
  expect(fixture.callsOf('DeleteVolume')).toEqual([]);
});
