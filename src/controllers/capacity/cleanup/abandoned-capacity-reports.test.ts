import { expect, test } from 'vitest';
import { InterceptedCluster } from '../../../cluster/intercepted-cluster.ts';
import { isObjectWrite } from '../../../cluster/testing/fault-hooks.ts';
import type { CSIStorageCapacity } from '../../../kube/api/storage.ts';
import { csiDrivers, csiStorageCapacities, leases } from '../../../kube/resources.ts';
import { gib, PublisherFixture } from '../testing/publisher-fixture.ts';

const hour = 3_600_000;
const gone = 'kube-system/stowage-capacity-gone';
const alive = 'kube-system/stowage-capacity-alive';

function report(
  name: string,
  { managedBy = 'stowage', driver = 'removed.example.com', lease = gone } = {},
): CSIStorageCapacity {
  return {
    metadata: {
      namespace: 'kube-system',
      name,
      labels: { 'csi.storage.k8s.io/drivername': driver, 'csi.storage.k8s.io/managed-by': managedBy },
      ...(lease !== '' && { annotations: { 'stowage.dev/publisher-lease': lease } }),
    },
    storageClassName: 'removed',
    nodeTopology: {},
    capacity: '1Gi',
  };
}

/** A publisher of another driver runs; `installed.example.com` has a CSIDriver. */
async function fixtureWith(reports: readonly CSIStorageCapacity[]): Promise<PublisherFixture> {
  const fixture = await PublisherFixture.prepare({ pools: { n1: gib } });
  const { cluster, environment } = fixture;
  await cluster.resource(csiDrivers).create({ metadata: { name: 'installed.example.com' }, spec: {} });
  for (const [name, lifeMs] of [
    ['stowage-capacity-gone', 0],
    ['stowage-capacity-alive', 100 * hour],
  ] as const) {
    const renewTime = new Date(environment.clock.nowMs() + lifeMs).toISOString().replace('Z', '000Z');
    await cluster.resource(leases).create({
      metadata: { namespace: 'kube-system', name, labels: { 'stowage.dev/component': 'capacity' } },
      spec: { holderIdentity: 'them', leaseDurationSeconds: 15, renewTime },
    });
  }
  for (const one of reports) await cluster.resource(csiStorageCapacities).create(one);
  return fixture;
}

async function left({ cluster }: PublisherFixture): Promise<readonly string[]> {
  const { items } = await cluster.resource(csiStorageCapacities).list();
  return items.flatMap(({ metadata, storageClassName }) =>
    storageClassName === 'removed' ? [metadata?.name ?? ''] : [],
  );
}

test('capacity reports of ours go when their CSIDriver and their publisher are both gone, and no others', async () => {
  await using fixture = await fixtureWith([
    report('central'),
    report('of-a-node', { managedBy: 'stowage-n7' }),
    report('lease-deleted', { lease: 'kube-system/stowage-capacity-deleted' }),
    report('stays-publisher-runs', { lease: alive }),
    report('stays-driver-installed', { driver: 'installed.example.com' }),
    report('stays-publisher-unknown', { lease: '' }),
    report('stays-foreign', { managedBy: 'external-provisioner' }),
  ]);
  fixture.run();
  await fixture.settle(60_000);
  expect(await left(fixture), 'an upgrade may be under way').toHaveLength(7);
  await fixture.settle(hour);
  expect((await left(fixture)).toSorted()).toEqual([
    'stays-driver-installed',
    'stays-foreign',
    'stays-publisher-runs',
    'stays-publisher-unknown',
  ]);
});

test('a report that its publisher writes at the same moment stays, and is judged again', async () => {
  await using fixture = await fixtureWith([report('contested')]);
  const client = fixture.cluster.resource(csiStorageCapacities);
  let conflicts = 0;
  fixture.run(
    new InterceptedCluster(fixture.cluster, {
      before: async (call) => {
        if (!isObjectWrite(call) || call.verb !== 'delete' || conflicts > 0) return;
        conflicts += 1;
        const body = { capacity: '2Gi', metadata: { annotations: { 'stowage.dev/publisher-lease': alive } } };
        await client.patch({ namespace: 'kube-system', name: 'contested' }, { type: 'merge', body });
      },
    }),
  );
  await fixture.settle(2 * hour);
  expect(conflicts).toBe(1);
  expect(await left(fixture)).toEqual(['contested']);
});
