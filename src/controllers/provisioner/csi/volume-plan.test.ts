import { expect, test } from 'vitest';
import type { ServedCsiDriver } from '../../../csi/served-driver.ts';
import type { PersistentVolumeClaim } from '../../../kube/api/core.ts';
import { drivesDriver } from '../../../kube/stowage/drive.ts';
import { annotations } from '../../../kube/well-known.ts';
import { assetFor } from '../provisioner.ts';
import { ProvisionerFixture } from '../testing/provisioner-fixture.ts';
import { topologyRecord } from './topology-requirement.ts';
import { planCsiVolume } from './volume-plan.ts';

interface Asked {
  readonly record?: string | undefined;
  readonly ofClaim?: Readonly<Record<string, string>>;
  readonly ofClass?: Readonly<Record<string, string>>;
}

/** The parameters of CreateVolume for a claim and a class with these annotations. */
async function parametersOf({ record, ofClaim = {}, ofClass = {} }: Asked): Promise<Record<string, string>> {
  await using fixture = await ProvisionerFixture.start([]);
  const driver = {
    name: drivesDriver,
    hasControllerCapability: () => true,
    hasPluginCapability: () => true,
  } as Partial<ServedCsiDriver> as ServedCsiDriver;
  const claim: PersistentVolumeClaim = {
    metadata: { name: 'data', namespace: 'default', uid: 'u1', annotations: ofClaim },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  const request = {
    asset: assetFor(claim, record),
    claim,
    storageClass: { metadata: { annotations: ofClass }, provisioner: drivesDriver },
    nodes: [],
    spread: { hash: 0, ordinal: 0 },
  };
  const options = { driver, cluster: fixture.cluster, defaultFsType: '', extraCreateMetadata: true };
  const planned = await planCsiVolume(request, options, new AbortController().signal);
  if (planned.kind === 'refused') return expect.fail(planned.message);
  return planned.plan.request.parameters;
}

test('a repeated CreateVolume names the drive of the first call, and not what the claim says by now', async () => {
  const segment = [{ 'stowage.dev/node': 'n1' }];
  const driveOf = async (record?: string) =>
    (await parametersOf({ record, ofClaim: { [annotations.drive]: 'now' } }))['stowage.dev/drive'];
  expect(await driveOf()).toBe('now');
  expect(await driveOf(topologyRecord(segment, 'then'))).toBe('then');
  expect(await driveOf(topologyRecord(segment))).toBeUndefined();
});

test('the driver gets the policy of class and claim: the larger reserve, and drives that are kept apart', async () => {
  const ofClass = { [annotations.growthReserve]: '20%', [annotations.volumeAntiAffinity]: 'drives, zones' };
  const plain = await parametersOf({});
  expect(Object.keys(plain).filter((key) => key.startsWith('stowage.dev/'))).toEqual([]);
  expect(await parametersOf({ ofClass, ofClaim: { [annotations.growthReserve]: '30%' } })).toMatchObject({
    'stowage.dev/growth-reserve': '30%',
    'stowage.dev/volume-anti-affinity': 'drives',
  });
});
