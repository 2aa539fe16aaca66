/** The requirements of the storage-capacity proposal for inline volumes: each test is named after a sentence of it. */
import { describe, expect, test } from 'vitest';
import type { GetCapacityRequest } from '../../csi/generated/csi.ts';
import { driverCapacities } from '../../kube/resources.ts';
import { driverName, StorageFixture } from './testing/storage-fixture.ts';

const inlineOnly = {
  storageCapacity: true,
  podInfoOnMount: true,
  volumeLifecycleModes: ['Ephemeral'] as const,
};
const forInline = { forEphemeral: true, form: 'DriverCapacity' } as const;

describe('a publisher on each node, for drivers that only handle inline volumes', () => {
  const options = { driverSpec: inlineOnly, capacity: forInline, classes: [] };

  test('calls GetCapacity with an empty GetCapacityRequest', async () => {
    await using fixture = await StorageFixture.perNode({ pools: { n1: 1, n2: 2 }, ...options });
    const asked = fixture.callsOf('GetCapacity') as GetCapacityRequest[];
    expect(asked.length).toBeGreaterThan(1);
    for (const { parameters, volumeCapabilities, accessibleTopology } of asked)
      expect([parameters, volumeCapabilities, accessibleTopology]).toEqual([{}, [], undefined]);
  });

  test('is responsible for one pool, with a node list that picks its node; others are not touched', async () => {
    await using fixture = await StorageFixture.perNode({ pools: { n1: 1, n2: 2, n3: 3 }, ...options });
    expect(await fixture.inlinePools()).toEqual([
      '<ephemeral> n1 1Gi',
      '<ephemeral> n2 2Gi',
      '<ephemeral> n3 3Gi',
    ]);
    const versionOf = async (node: string) =>
      (await fixture.cluster.resource(driverCapacities).list()).items.find(({ status }) =>
        JSON.stringify(status).includes(`"${node}"`),
      )?.metadata?.resourceVersion;
    const before = await versionOf('n3');
    await fixture.podWithInlineVolume('redis', { fsSize: '2Gi', volumeAttributes: {} });
    await fixture.settle();
    expect(await fixture.podLines()).toEqual([expect.stringMatching(/^redis Running n[23]$/)]);
    if ((await fixture.podLines())[0] === 'redis Running n2') expect(await versionOf('n3')).toBe(before);
  });

  test('the number of pools grows linearly with the number of nodes where the driver runs', async () => {
    const pools = Object.fromEntries(
      Array.from({ length: 20 }, (_, at) => `n${at}`).map((name) => [name, 1]),
    );
    await using fixture = await StorageFixture.perNode({ pools, ...options });
    expect(await fixture.inlinePools()).toHaveLength(20);
  });

  test('its figures are removed with the CSIDriver', async () => {
    await using fixture = await StorageFixture.perNode({ pools: { n1: 1 }, ...options });
    const { items } = await fixture.cluster.resource(driverCapacities).list();
    expect(
      items.map(({ metadata }) => metadata?.ownerReferences?.map(({ kind, name }) => `${kind} ${name}`)),
    ).toEqual([[`CSIDriver ${driverName}`]]);
  });
});

describe('the size of inline volumes', () => {
  const options = { pools: { n1: 2 }, capacity: forInline, classes: [] };

  test('is optional: a volume without a size runs anywhere, and the driver gets an empty string', async () => {
    await using fixture = await StorageFixture.perNode({ ...options, driverSpec: inlineOnly });
    await fixture.podWithInlineVolume('any', { volumeAttributes: { 'pmem-size': '1Gi' } });
    await fixture.settle();
    expect(await fixture.podLines()).toEqual(['any Running n1']);
    expect(fixture.callsOf('NodePublishVolume')).toMatchObject([
      {
        volumeContext: { 'pmem-size': '1Gi' },
        publishContext: { 'csi.storage.k8s.io/size': '' },
      },
    ]);
  });

  test.each([
    { podInfoOnMount: true, publishContext: { 'csi.storage.k8s.io/size': '1Gi' } },
    { podInfoOnMount: false, publishContext: {} },
  ])(
    'is passed in publish_context if (and only if) the driver enables pod info on mount: $podInfoOnMount',
    async ({ podInfoOnMount, publishContext }) => {
      const driverSpec = { ...inlineOnly, podInfoOnMount };
      await using fixture = await StorageFixture.perNode({ ...options, driverSpec });
      await fixture.podWithInlineVolume('any', { fsSize: '1Gi' });
      await fixture.settle();
      const [call] = fixture.callsOf('NodePublishVolume') as readonly { publishContext: object }[];
      expect(call?.publishContext).toEqual(publishContext);
    },
  );

  test('distinguishes between no size and zero size selected', async () => {
    await using fixture = await StorageFixture.perNode({ ...options, driverSpec: inlineOnly });
    await fixture.podWithInlineVolume('none');
    await fixture.podWithInlineVolume('zero', { fsSize: '0' });
    await fixture.settle();
    const calls = fixture.callsOf('NodePublishVolume') as readonly { publishContext: object }[];
    const sizes = calls.flatMap(({ publishContext }) => Object.values(publishContext)).sort();
    expect(sizes).toEqual(['', '0']);
  });

  test('set for a driver which ignores it is not an error', async () => {
    const driverSpec = { ...inlineOnly, podInfoOnMount: false };
    await using fixture = await StorageFixture.perNode({ ...options, driverSpec });
    await fixture.podWithInlineVolume('any', { fsSize: '1Gi' });
    await fixture.settle();
    expect(await fixture.podLines()).toEqual(['any Running n1']);
    expect(fixture.callsOf('NodePublishVolume')).toMatchObject([{ publishContext: {} }]);
  });
});
