import { expect, test } from 'vitest';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { CsiStatusError } from '../../csi/csi-errors.ts';
import { failure } from '../../kube/api-error.ts';
import { csiStorageCapacities, leases, nodes } from '../../kube/resources.ts';
import { annotations } from '../../kube/well-known.ts';
import { capacityController } from './capacity-controller.ts';
import { gib, PublisherFixture } from './testing/publisher-fixture.ts';

const lease = 'kube-system/stowage-capacity';

/** The publisher in a process that renews the Lease. */
function run(fixture: PublisherFixture) {
  const controller = capacityController(fixture.controllerOptions);
  return fixture.environment.run([
    { ...controller, run: (context, signal) => controller.run({ ...context, lease }, signal) },
  ]);
}

async function marks({ cluster }: PublisherFixture): Promise<readonly (string | undefined)[]> {
  const [object] = (await cluster.resource(csiStorageCapacities).list()).items;
  const known = object?.metadata?.annotations;
  return [known?.[annotations.publisherLease], known?.[annotations.capacityProblem]];
}

test('a capacity report names the Lease of its publisher, and says while the driver does not answer', async () => {
  await using fixture = await PublisherFixture.prepare({ pools: { n1: 10n * gib } });
  run(fixture);
  await fixture.settle();
  expect(await marks(fixture)).toEqual([lease, undefined]);
  fixture.driver.beforeCall = () => {
    throw new CsiStatusError('Internal', 'the disks do not answer');
  };
  await fixture.settle(120_000);
  expect(await marks(fixture)).toEqual([
    lease,
    'the reports are not up to date: CSI driver enforcing.example.com: GetCapacity: Internal: the disks do not answer',
  ]);
  expect(await fixture.published()).toEqual(['fast n1: 10Gi']);
  fixture.driver.beforeCall = undefined;
  await fixture.settle(600_000);
  expect(await marks(fixture), 'the amount is the same').toEqual([lease, undefined]);
});

test('a publisher without a Lease takes the name of the former one away', async () => {
  await using fixture = await PublisherFixture.prepare({ pools: { n1: 10n * gib } });
  const former = run(fixture);
  await fixture.settle();
  await former.close();
  fixture.run();
  await fixture.settle();
  expect(await marks(fixture)).toEqual([undefined, undefined]);
});

test('the publisher of one node renews a Lease that belongs to the node, and its reports name it', async () => {
  await using fixture = await PublisherFixture.start({
    pools: { n1: 10n * gib },
    nodeName: 'n1',
    driver: { nodeId: 'n1' },
  });
  const name = 'stowage-capacity-heartbeat-n1';
  expect(await marks(fixture)).toEqual([`kube-system/${name}`, undefined]);
  const read = async () => await fixture.cluster.resource(leases).get({ namespace: 'kube-system', name });
  const first = await read();
  const node = await fixture.cluster.resource(nodes).get({ name: 'n1' });
  expect(first.metadata?.labels).toEqual({ 'stowage.dev/component': 'capacity' });
  expect(first.metadata?.ownerReferences).toMatchObject([{ kind: 'Node', uid: node.metadata?.uid }]);
  await fixture.settle(300_000);
  const renewedMs = (lease: typeof first) => Date.parse(lease.spec?.renewTime ?? '');
  expect(renewedMs(await read())).toBeGreaterThan(renewedMs(first));
  await fixture.stop();
  const last = await read();
  await fixture.settle(600_000);
  expect((await read()).spec?.renewTime).toBe(last.spec?.renewTime);
});

test('without the permission to write Leases, the publisher of a node names none, and publishes', async () => {
  await using fixture = await PublisherFixture.prepare({
    pools: { n1: 10n * gib },
    nodeName: 'n1',
    driver: { nodeId: 'n1' },
  });
  const before = (call: { readonly resource: { readonly plural: string } }) => {
    if (call.resource.plural === 'leases') throw failure(403, 'Forbidden', 'no right');
  };
  fixture.run(new InterceptedCluster(fixture.cluster, { before }));
  await fixture.settle();
  expect(await fixture.published()).toEqual(['fast n1: 10Gi']);
  expect(await marks(fixture)).toEqual([undefined, undefined]);
});
