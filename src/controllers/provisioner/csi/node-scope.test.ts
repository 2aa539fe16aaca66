import { expect, test } from 'vitest';
import { EnforcingDriver } from '../../../csi/testing/enforcing-driver.ts';
import { JoiningDrivers } from '../../../csi/testing/joining-drivers.ts';
import { nodes } from '../../../kube/resources.ts';
import { annotations, labels } from '../../../kube/well-known.ts';
import { provisionerController } from '../provisioner-controller.ts';
import { affinityLines } from '../testing/objects.ts';
import { CsiProvisionerFixture, driverName, gibibyte } from './testing/csi-provisioner-fixture.ts';

const immediate = { volumeBindingMode: 'Immediate' } as const;

/** A process for each of the nodes. */
function runOn(fixture: CsiProvisionerFixture, ...nodeNames: readonly string[]): void {
  for (const nodeName of nodeNames) {
    const csi = { addresses: [], timeoutMs: 10_000, nodeName };
    fixture.base.virtualTime.run([provisionerController({ csiDrivers: fixture.drivers, csi })]);
  }
}

test('a process acts only for claims with its node, and only for volumes that its node reaches', async () => {
  await using fixture = await CsiProvisionerFixture.start();
  runOn(fixture, 'a1');
  await fixture.makeClaim({ node: 'b1' });
  await fixture.base.virtualTime.settle(2_000);
  expect(fixture.driver.calls).toEqual([]);
  runOn(fixture, 'b1');
  const { metadata, spec } = await fixture.provisioned();
  expect(affinityLines(spec?.nodeAffinity)).toEqual(['host=b1']);
  await fixture.base.deleteClaim();
  await fixture.base.until(async () => {
    await fixture.base.finishOtherControllersWork();
    return (await fixture.base.volumes()).length === 0;
  });
  expect(fixture.driver.callsOf('DeleteVolume')).toMatchObject([{ volumeId: `id-${metadata?.name}` }]);
});

test('a volume of another node is left to its process', async () => {
  await using fixture = await CsiProvisionerFixture.start();
  const run = fixture.run();
  await fixture.makeClaim({ node: 'b1' });
  await fixture.provisioned();
  await run.close();
  runOn(fixture, 'a1');
  await fixture.base.deleteClaim();
  await fixture.base.finishOtherControllersWork();
  await fixture.base.virtualTime.settle(5_000);
  expect(fixture.driver.callsOf('DeleteVolume')).toEqual([]);
});

test('one of the nodes with capacity selects itself for a claim that binds immediately', async () => {
  await using fixture = await CsiProvisionerFixture.start({ storageClass: immediate });
  fixture.driver.pools.set('a1', 0n);
  fixture.driver.pools.set('a2', gibibyte / 2n);
  runOn(fixture, 'a1', 'a2', 'b1');
  await fixture.base.makeClaim({ provisioner: driverName });
  await fixture.base.settle();
  expect(fixture.driver.calls, 'each waits for a random time').toEqual([]);
  await fixture.base.virtualTime.settle(25_000);
  expect(affinityLines((await fixture.provisioned()).spec?.nodeAffinity)).toEqual(['host=b1']);
  expect((await fixture.base.claim())?.metadata?.annotations?.[annotations.selectedNode]).toBe('b1');
  expect(fixture.driver.callsOf('CreateVolume')).toHaveLength(1);
});

test('several nodes with capacity make one volume', async () => {
  await using fixture = await CsiProvisionerFixture.start({ storageClass: immediate });
  runOn(fixture, 'a1', 'a2', 'b1');
  await fixture.base.makeClaim({ provisioner: driverName });
  await fixture.base.virtualTime.settle(100_000);
  await fixture.provisioned();
  expect(fixture.driver.volumes.size).toBe(1);
});

test('a volume without topology is deleted by the driver that has it, or after its node', async () => {
  await using fixture = await CsiProvisionerFixture.start({ driver: { hasTopology: false } });
  const pools = { a2: 10n * gibibyte };
  const other = new EnforcingDriver({ topologyKey: labels.hostname, pools, hasTopology: false });
  const csi = { addresses: [], timeoutMs: 10_000, nodeName: 'a2' };
  const csiDrivers = await JoiningDrivers.of(other);
  fixture.base.virtualTime.run([provisionerController({ csiDrivers, csi })]);
  const ofA1 = fixture.base.virtualTime.run([
    provisionerController({ csiDrivers: fixture.drivers, csi: { ...csi, nodeName: 'a1' } }),
  ]);
  await fixture.makeClaim({ node: 'a1' });
  expect((await fixture.provisioned()).metadata?.annotations?.[annotations.creatorNode]).toBe('a1');
  await ofA1.close();
  await fixture.base.deleteClaim();
  await fixture.base.finishOtherControllersWork();
  await fixture.base.virtualTime.settle(60_000);
  expect(other.callsOf('DeleteVolume'), 'that driver would report an unknown volume as deleted').toEqual([]);
  expect(await fixture.base.volumes()).toHaveLength(1);
  await fixture.base.cluster.resource(nodes).delete({ name: 'a1' });
  await fixture.base.until(async () => {
    await fixture.base.finishOtherControllersWork();
    return (await fixture.base.volumes()).length === 0;
  });
});
