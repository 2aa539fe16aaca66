import { expect, test } from 'vitest';
import { CsiStatusError } from '../../csi/csi-errors.ts';
import type { EnforcingDriver } from '../../csi/testing/enforcing-driver.ts';
import { JoiningDrivers } from '../../csi/testing/joining-drivers.ts';
import {
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  volumeAttachments,
} from '../../kube/resources.ts';
import { crashControllersAtEveryWrite } from '../testing/crash-at-every-write.ts';
import { VirtualTimeCluster } from '../testing/virtual-time-cluster.ts';
import { nodeAgentController } from '../workloads/node-agent/node-agent.ts';
import { makeNode, makePod } from '../workloads/node-agent/testing/agent-fixture.ts';
import { attacherController } from './attacher.ts';
import { attachingDriver, driverName, makeCsiNode } from './testing/attacher-fixture.ts';

const namespace = 'default';

async function controllersFor(driver: EnforcingDriver) {
  const csiDrivers = await JoiningDrivers.of(driver);
  return [attacherController({ csiDrivers }), nodeAgentController({ csiDrivers })];
}

/** A pod on n1 with a bound claim of the driver. */
async function makeUser(fixture: VirtualTimeCluster): Promise<void> {
  const { cluster } = fixture;
  const claims = cluster.resource(persistentVolumeClaims);
  const accessModes = ['ReadWriteOnce'] as const;
  const resources = { requests: { storage: '1Gi' } };
  const key = { namespace, name: 'data' };
  const claim = await claims.create({ metadata: key, spec: { accessModes, resources, volumeName: 'v' } });
  const claimRef = { namespace, name: 'data', uid: claim.metadata?.uid ?? '' };
  const csi = { driver: driverName, volumeHandle: 'handle' };
  const spec = { capacity: { storage: '1Gi' }, accessModes, claimRef, csi };
  await cluster.resource(persistentVolumes).create({ metadata: { name: 'v' }, spec });
  const status = { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes };
  await claims.patch(key, { type: 'merge', body: { status } }, { subresource: 'status' });
  await makeNode(fixture, 'n1');
  await makeCsiNode(fixture);
  await makePod(fixture, 'web', { claims: ['data'] });
}

async function phaseOf({ cluster }: VirtualTimeCluster): Promise<string | undefined> {
  return (await cluster.resource(pods).get({ namespace, name: 'web' })).status?.phase;
}

test('a pod starts when the driver has attached its volume, which is detached after the pod', async () => {
  const driver = attachingDriver();
  driver.beforeCall = () => {
    throw new CsiStatusError('Internal', 'not now');
  };
  await using fixture = await VirtualTimeCluster.start(...(await controllersFor(driver)));
  await makeUser(fixture);
  await fixture.settle();
  expect(await phaseOf(fixture)).toBe('Pending');
  const failure = `CSI driver ${driverName}: ControllerPublishVolume: Internal: not now`;
  expect(await fixture.eventLines()).toContain(
    `FailedAttachVolume web: AttachVolume.Attach failed for volume "v" : ${failure}`,
  );
  driver.beforeCall = undefined;
  await fixture.settle(10_000);
  expect(await phaseOf(fixture)).toBe('Running');
  expect([...driver.published]).toEqual(['handle id-of-n1']);
  expect(await fixture.eventLines()).toContain(
    'SuccessfulAttachVolume web: AttachVolume.Attach succeeded for volume "v" ',
  );
  await fixture.cluster.resource(pods).delete({ namespace, name: 'web' });
  await fixture.settle(60_000);
  expect([...driver.published]).toEqual([]);
  expect((await fixture.cluster.resource(volumeAttachments).list()).items).toEqual([]);
});

test('while a driver has not answered, the agent attaches nothing that may be its volume', async () => {
  const driver = attachingDriver();
  const csiDrivers = await JoiningDrivers.of();
  csiDrivers.isIncomplete = true;
  const controllers = [attacherController({ csiDrivers }), nodeAgentController({ csiDrivers })];
  await using fixture = await VirtualTimeCluster.start(...controllers);
  await makeUser(fixture);
  await fixture.settle();
  expect(await phaseOf(fixture)).toBe('Pending');
  csiDrivers.isIncomplete = false;
  await csiDrivers.join(driver);
  await fixture.settle();
  expect(await phaseOf(fixture)).toBe('Running');
  expect([...driver.published]).toEqual(['handle id-of-n1']);
});

test('a volume that no served driver has is attached by the agent once all drivers have answered', async () => {
  const csiDrivers = await JoiningDrivers.of();
  csiDrivers.isIncomplete = true;
  await using fixture = await VirtualTimeCluster.start(nodeAgentController({ csiDrivers }));
  await makeUser(fixture);
  await fixture.settle();
  expect(await phaseOf(fixture)).toBe('Pending');
  csiDrivers.isIncomplete = false;
  await csiDrivers.join(attachingDriver({ name: 'other.example.com' }));
  await fixture.settle();
  expect(await phaseOf(fixture)).toBe('Running');
});

test('crashing after any write of agent and attacher does not change the final state', async () => {
  const places = await crashControllersAtEveryWrite({
    controllers: await controllersFor(attachingDriver()),
    prepare: makeUser,
    resources: [persistentVolumes, volumeAttachments, persistentVolumeClaims, pods, nodes],
  });
  expect(places).toBeGreaterThanOrEqual(7);
});
