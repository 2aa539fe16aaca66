import { expect, test } from 'vitest';
import { CsiStatusError } from '../../csi/csi-errors.ts';
import { csiStorageCapacities } from '../../kube/resources.ts';
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

test('a figure names the Lease of its publisher, and says while the driver does not answer', async () => {
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
    'the figures are not up to date: CSI driver enforcing.example.com: GetCapacity: Internal: the disks do not answer',
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
