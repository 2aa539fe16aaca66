import { expect, test } from 'vitest';
import type { ServedCsiDriver } from '../../../csi/served-driver.ts';
import type { PersistentVolumeClaim } from '../../../kube/api/core.ts';
import { drivesDriver } from '../../../kube/drive.ts';
import { annotations } from '../../../kube/well-known.ts';
import { assetFor } from '../provisioner.ts';
import { ProvisionerFixture } from '../testing/provisioner-fixture.ts';
import { topologyRecord } from './topology-requirement.ts';
import { planCsiVolume } from './volume-plan.ts';

/** The drive in the parameters of CreateVolume, for a claim on which the scheduler has written another one since. */
async function driveOf(record: string | undefined): Promise<string | undefined> {
  await using fixture = await ProvisionerFixture.start([]);
  const driver = {
    name: drivesDriver,
    hasControllerCapability: () => true,
    hasPluginCapability: () => true,
  } as Partial<ServedCsiDriver> as ServedCsiDriver;
  const claim: PersistentVolumeClaim = {
    metadata: { name: 'data', namespace: 'default', uid: 'u1', annotations: { [annotations.drive]: 'now' } },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
  const request = {
    asset: assetFor(claim, record),
    claim,
    storageClass: { provisioner: drivesDriver },
    nodes: [],
    spread: { hash: 0, ordinal: 0 },
  };
  const options = { driver, cluster: fixture.cluster, defaultFsType: '', extraCreateMetadata: true };
  const planned = await planCsiVolume(request, options, new AbortController().signal);
  if (planned.kind === 'refused') return expect.fail(planned.message);
  return planned.plan.request.parameters['stowage.dev/drive'];
}

test('a repeated CreateVolume names the drive of the first call, and not what the claim says by now', async () => {
  const segment = [{ 'stowage.dev/node': 'n1' }];
  expect(await driveOf(undefined)).toBe('now');
  expect(await driveOf(topologyRecord(segment, 'then'))).toBe('then');
  expect(await driveOf(topologyRecord(segment))).toBeUndefined();
});
