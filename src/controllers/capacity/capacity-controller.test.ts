import { expect, test } from 'vitest';
import { csiStorageCapacities } from '../../kube/resources.ts';
import { gib, PublisherFixture, topologyKey } from './testing/publisher-fixture.ts';

test('one figure per class and segment, as external-provisioner writes it', async () => {
  await using fixture = await PublisherFixture.start({
    pools: { n1: 10n * gib, n2: 20n * gib },
    classes: ['fast', 'slow'],
  });
  expect(await fixture.published()).toEqual([
    'fast n1: 10Gi',
    'fast n2: 20Gi',
    'slow n1: 10Gi',
    'slow n2: 20Gi',
  ]);
  const { items } = await fixture.cluster.resource(csiStorageCapacities).list();
  const [object] = items.filter(({ storageClassName }) => storageClassName === 'fast');
  expect(object).toMatchObject({
    metadata: {
      namespace: 'kube-system',
      name: expect.stringMatching(/^csisc-[0-9a-f]+$/),
      labels: {
        'csi.storage.k8s.io/drivername': 'enforcing.example.com',
        'csi.storage.k8s.io/managed-by': 'stowage',
      },
      annotations: { 'stowage.dev/measured-at': '2025-01-01T00:00:00.000Z' },
    },
    nodeTopology: { matchLabels: { [topologyKey]: expect.stringMatching(/^n[12]$/) } },
  });
});

test('a new volume costs one call and one write', async () => {
  await using fixture = await PublisherFixture.start({ pools: { n1: 10n * gib, n2: 20n * gib } });
  await fixture.settle(5_000);
  expect(fixture.takeWork()).toBe('2 calls, create csistoragecapacities, create csistoragecapacities');
  await fixture.provision('a', 'n1', gib);
  await fixture.settle(10_000);
  expect(fixture.takeWork()).toBe('1 calls, patch csistoragecapacities');
  expect(await fixture.published()).toEqual(['fast n1: 9Gi', 'fast n2: 20Gi']);
  await fixture.unprovision('a');
  await fixture.settle(10_000);
  expect(fixture.takeWork()).toBe('1 calls, patch csistoragecapacities');
});
