import { expect, test } from 'vitest';
import { CsiStatusError } from '../../../csi/csi-errors.ts';
import type { CsiRequest } from '../../../csi/csi-methods.ts';
import { VolumeCapability_AccessMode_Mode as Mode } from '../../../csi/generated/csi.ts';
import { csiNodes, secrets, volumeAttachments, volumeAttributesClasses } from '../../../kube/resources.ts';
import { annotations, labels } from '../../../kube/well-known.ts';
import { affinityLines } from '../testing/objects.ts';
import { CsiProvisionerFixture, driverName, gibibyte } from './testing/csi-provisioner-fixture.ts';

const createOf = ({ driver }: CsiProvisionerFixture) =>
  driver.callsOf('CreateVolume').at(-1) as CsiRequest<'CreateVolume'>;

test('CreateVolume and the PersistentVolume follow from claim, class and reply', async () => {
  await using fixture = await CsiProvisionerFixture.start({
    storageClass: {
      parameters: { tier: 'fast', 'csi.storage.k8s.io/fstype': 'xfs' },
      mountOptions: ['noatime'],
      reclaimPolicy: 'Delete',
    },
    settings: { extraCreateMetadata: true },
  });
  fixture.run();
  const claim = await fixture.makeClaim({ spec: { accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] } });
  const volume = await fixture.provisioned();
  const name = `pvc-${claim.metadata?.uid}`;
  const mount = { case: 'mount', value: expect.objectContaining({ fsType: 'xfs', mountFlags: ['noatime'] }) };
  const host = (node: string) => expect.objectContaining({ segments: { [labels.hostname]: node } });
  expect(createOf(fixture)).toMatchObject({
    name,
    capacityRange: { requiredBytes: gibibyte, limitBytes: 0n },
    parameters: {
      tier: 'fast',
      'csi.storage.k8s.io/pvc/name': 'data',
      'csi.storage.k8s.io/pvc/namespace': 'default',
      'csi.storage.k8s.io/pv/name': name,
    },
    volumeCapabilities: [
      { accessMode: { mode: Mode.SINGLE_NODE_WRITER }, accessType: mount },
      { accessMode: { mode: Mode.MULTI_NODE_READER_ONLY }, accessType: mount },
    ],
    accessibilityRequirements: {
      requisite: [host('a1'), host('a2'), host('b1')],
      preferred: [host('a1'), host('a2'), host('b1')],
    },
  });
  expect(volume.metadata).toMatchObject({
    name,
    annotations: {
      [annotations.provisionedBy]: driverName,
      [annotations.volumeCreatedAt]: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      'volume.kubernetes.io/provisioner-deletion-secret-name': '',
    },
  });
  expect(volume.metadata?.finalizers).toContain('external-provisioner.volume.kubernetes.io/finalizer');
  expect(volume.spec).toMatchObject({
    capacity: { storage: '1Gi' },
    mountOptions: ['noatime'],
    persistentVolumeReclaimPolicy: 'Delete',
    csi: {
      driver: driverName,
      volumeHandle: `id-${name}`,
      fsType: 'xfs',
      volumeAttributes: {
        pool: 'a1',
        'storage.kubernetes.io/csiProvisionerIdentity': expect.stringMatching(new RegExp(driverName)),
      },
    },
  });
  expect(affinityLines(volume.spec?.nodeAffinity)).toEqual(['host=a1']);
});

test("the driver's size is the volume's capacity; 0 means the requested one", async () => {
  await using fixture = await CsiProvisionerFixture.start();
  const sizes = [2n * gibibyte, 0n];
  fixture.driver.changeReply = (method, reply) =>
    method === 'CreateVolume'
      ? { volume: { ...(reply as { volume: object }).volume, capacityBytes: sizes.shift() } }
      : reply;
  fixture.run();
  await fixture.makeClaim();
  expect((await fixture.provisioned()).spec?.capacity?.storage).toBe('2Gi');
  await fixture.makeClaim({ name: 'other' });
  expect((await fixture.provisioned('other')).spec?.capacity?.storage).toBe('1Gi');
});

test('a driver without topology gets none, and its volumes are reachable from every node', async () => {
  await using fixture = await CsiProvisionerFixture.start({ driver: { hasTopology: false } });
  await fixture.base.cluster.resource(csiNodes).delete({ name: 'a1' });
  fixture.run();
  await fixture.makeClaim();
  expect((await fixture.provisioned()).spec?.nodeAffinity).toBeUndefined();
  expect(createOf(fixture).accessibilityRequirements).toBeUndefined();
});

test('block volumes have no file system', async () => {
  await using fixture = await CsiProvisionerFixture.start({ settings: { defaultFsType: 'ext4' } });
  fixture.run();
  await fixture.makeClaim({ spec: { volumeMode: 'Block' } });
  expect((await fixture.provisioned()).spec?.csi?.fsType).toBeUndefined();
  expect(createOf(fixture).volumeCapabilities[0]?.accessType.case).toBe('block');
  await fixture.makeClaim({ name: 'mounted' });
  expect((await fixture.provisioned('mounted')).spec?.csi?.fsType).toBe('ext4');
});

test('Secrets are named by templates, sent to the driver, and used again for the deletion', async () => {
  await using fixture = await CsiProvisionerFixture.start({
    storageClass: {
      parameters: {
        'csi.storage.k8s.io/provisioner-secret-name': `\${pvc.name}-\${pvc.annotations['team']}`,
        'csi.storage.k8s.io/provisioner-secret-namespace': `\${pvc.namespace}`,
        'csi.storage.k8s.io/node-stage-secret-name': 'stage',
        'csi.storage.k8s.io/node-stage-secret-namespace': 'kube-system',
      },
    },
  });
  const run = fixture.run();
  await fixture.makeClaim({ annotations: { team: 'blue' } });
  await fixture.base.settle();
  expect(await fixture.notes()).toEqual([expect.stringContaining('secrets "data-blue" not found')]);
  expect((await fixture.base.claim())?.metadata?.finalizers).toEqual(['kubernetes.io/pvc-protection']);
  const metadata = { namespace: 'default', name: 'data-blue' };
  await fixture.base.cluster.resource(secrets).create({ metadata, data: { key: btoa('s3cret') } });
  await fixture.base.virtualTime.settle(2_000);
  const volume = await fixture.provisioned();
  expect(createOf(fixture)).toMatchObject({ secrets: { key: 's3cret' }, parameters: {} });
  expect(volume.spec?.csi?.nodeStageSecretRef).toEqual({ name: 'stage', namespace: 'kube-system' });
  expect(JSON.stringify(volume)).not.toContain('s3cret');
  await fixture.base.deleteClaim();
  await fixture.base.until(async () => {
    await fixture.base.finishOtherControllersWork();
    return (await fixture.base.volumes()).length === 0;
  });
  expect(fixture.driver.callsOf('DeleteVolume')).toMatchObject([
    { volumeId: volume.spec?.csi?.volumeHandle, secrets: { key: 's3cret' } },
  ]);
  await run.close();
});

test('without capacity on the selected node, the scheduler has to choose another', async () => {
  await using fixture = await CsiProvisionerFixture.start({ settings: { strictTopology: true } });
  fixture.driver.pools.set('a1', 0n);
  fixture.run();
  await fixture.makeClaim();
  await fixture.base.until(
    async () => (await fixture.base.claim())?.metadata?.annotations?.[annotations.selectedNode] === undefined,
  );
  expect(await fixture.notes()).toEqual([expect.stringContaining('ResourceExhausted')]);
  expect(await fixture.isAtRest()).toBe(true);
  await fixture.base.annotate({ [annotations.selectedNode]: 'b1' });
  expect(affinityLines((await fixture.provisioned()).spec?.nodeAffinity)).toEqual(['host=b1']);
});

test('without a selected node, the same request is repeated when capacity is used up', async () => {
  const storageClass = { volumeBindingMode: 'Immediate' } as const;
  await using fixture = await CsiProvisionerFixture.start({ storageClass });
  for (const node of ['a1', 'a2', 'b1']) fixture.driver.pools.set(node, 0n);
  fixture.run();
  await fixture.base.makeClaim({ provisioner: driverName });
  await fixture.base.virtualTime.settle(4_000);
  expect(fixture.driver.callsOf('CreateVolume').length).toBe(3);
  fixture.driver.pools.set('b1', gibibyte);
  await fixture.base.virtualTime.settle(4_000);
  expect(affinityLines((await fixture.provisioned()).spec?.nodeAffinity)).toEqual(['host=b1']);
});

test('an invalid argument is repeated only at the longest interval, and leaves nothing on the claim', async () => {
  await using fixture = await CsiProvisionerFixture.start();
  fixture.driver.beforeCall = () => {
    throw new CsiStatusError('InvalidArgument', 'tier is unknown');
  };
  fixture.run();
  await fixture.makeClaim();
  await fixture.base.virtualTime.settle(200_000);
  expect(fixture.driver.callsOf('CreateVolume').length).toBe(1);
  expect((await fixture.base.claim())?.metadata).toMatchObject({
    annotations: { [annotations.selectedNode]: 'a1' },
    finalizers: ['kubernetes.io/pvc-protection'],
  });
  fixture.driver.beforeCall = undefined;
  await fixture.base.virtualTime.settle(110_000);
  await fixture.provisioned();
});

test('a node whose CSINode is missing is not used', async () => {
  await using fixture = await CsiProvisionerFixture.start();
  await fixture.base.cluster.resource(csiNodes).delete({ name: 'a1' });
  fixture.run();
  await fixture.makeClaim();
  await fixture.base.until(
    async () => (await fixture.base.claim())?.metadata?.annotations?.[annotations.selectedNode] === undefined,
  );
  expect(fixture.driver.calls).toEqual([]);
});

test('claims and volumes of a driver that joins later are handled then', async () => {
  await using fixture = await CsiProvisionerFixture.start({ joinsLater: true });
  fixture.run();
  await fixture.makeClaim();
  await fixture.base.settle();
  expect((await fixture.base.claim())?.metadata?.finalizers).toEqual(['kubernetes.io/pvc-protection']);
  await fixture.drivers.join(fixture.driver);
  await fixture.provisioned();
});

test('an attached volume is deleted once it is detached', async () => {
  const controllerCapabilities = ['CREATE_DELETE_VOLUME', 'PUBLISH_UNPUBLISH_VOLUME'] as const;
  await using fixture = await CsiProvisionerFixture.start({ driver: { controllerCapabilities } });
  fixture.run();
  await fixture.makeClaim();
  const { metadata } = await fixture.provisioned();
  const persistentVolumeName = metadata?.name ?? '';
  const attachments = fixture.base.cluster.resource(volumeAttachments);
  await attachments.create({
    metadata: { name: 'va' },
    spec: { attacher: driverName, nodeName: 'a1', source: { persistentVolumeName } },
  });
  await fixture.base.deleteClaim();
  await fixture.base.finishOtherControllersWork();
  await fixture.base.settle();
  expect(await fixture.notes('VolumeFailedDelete')).toEqual([
    expect.stringContaining('is still attached to node a1'),
  ]);
  expect(fixture.driver.callsOf('DeleteVolume')).toEqual([]);
  await attachments.delete({ name: 'va' });
  await fixture.base.until(async () => {
    await fixture.base.finishOtherControllersWork();
    return (await fixture.base.volumes()).length === 0;
  });
  expect(fixture.driver.volumes.size).toBe(0);
});

test('mutable parameters of a VolumeAttributesClass are sent where the driver can modify volumes', async () => {
  const controllerCapabilities = ['CREATE_DELETE_VOLUME', 'MODIFY_VOLUME'] as const;
  await using fixture = await CsiProvisionerFixture.start({ driver: { controllerCapabilities } });
  await fixture.base.cluster.resource(volumeAttributesClasses).create({
    metadata: { name: 'gold' },
    driverName,
    parameters: { iops: '1000' },
  });
  fixture.run();
  await fixture.makeClaim({ spec: { volumeAttributesClassName: 'gold' } });
  expect((await fixture.provisioned()).spec?.volumeAttributesClassName).toBe('gold');
  expect(createOf(fixture).mutableParameters).toEqual({ iops: '1000' });
});

test('mutable parameters are refused where the driver cannot modify volumes', async () => {
  await using fixture = await CsiProvisionerFixture.start();
  fixture.run();
  await fixture.makeClaim({ spec: { volumeAttributesClassName: 'gold' } });
  await fixture.base.settle();
  expect(await fixture.notes()).toEqual([expect.stringContaining('has no mutable parameters')]);
  expect(fixture.driver.calls).toEqual([]);
});
