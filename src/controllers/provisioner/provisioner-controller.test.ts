import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { nodes, persistentVolumeClaims, persistentVolumes, storageClasses } from '../../kube/resources.ts';
import { annotations, finalizers } from '../../kube/well-known.ts';
import { intentAnnotation, intentFinalizer } from './intent.ts';
import { provisionerController } from './provisioner-controller.ts';
import { affinityLines, classOf, local, nodeOf, termsOf } from './testing/objects.ts';
import { ProvisionerFixture } from './testing/provisioner-fixture.ts';
import { temporaryDirectory } from './testing/temporary-directory.ts';

const controllers = [provisionerController()];

async function eventLines(fixture: ProvisionerFixture, uid = ''): Promise<readonly string[]> {
  return (await fixture.virtualTime.eventLines()).map((line) =>
    line.replaceAll(uid === '' ? '\0' : uid, 'UID'),
  );
}

test('a claim gets a volume that follows from it, its class and the node', async () => {
  const storageClass = classOf({
    mountOptions: ['noatime'],
    reclaimPolicy: 'Retain',
    parameters: { type: 'fast', fsType: 'xfs' },
  });
  await using fixture = await ProvisionerFixture.start(controllers, storageClass);
  const spec = { accessModes: ['ReadWriteMany'] as const, resources: { requests: { storage: '1.5Gi' } } };
  const { metadata } = await fixture.makeClaim({ node: 'b1', spec });
  await fixture.until(async () => (await fixture.volumes()).length > 0);
  await fixture.settle();
  const [volume] = await fixture.volumes();
  expect(volume).toMatchObject({
    metadata: {
      name: `pvc-${metadata?.uid}`,
      annotations: { [annotations.provisionedBy]: 'zonal.stowage.dev' },
    },
    spec: {
      csi: {
        driver: 'zonal.stowage.dev',
        volumeHandle: `pvc-${metadata?.uid}`,
        fsType: 'xfs',
        volumeAttributes: { type: 'fast' },
      },
      capacity: { storage: '1536Mi' },
      accessModes: ['ReadWriteMany'],
      claimRef: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        namespace: 'default',
        name: 'data',
        uid: metadata?.uid,
      },
      persistentVolumeReclaimPolicy: 'Retain',
      storageClassName: 'standard',
      mountOptions: ['noatime'],
      volumeMode: 'Filesystem',
    },
  });
  expect(affinityLines(volume?.spec?.nodeAffinity)).toEqual(['zone=b']);
  expect(volume?.metadata?.finalizers).toEqual([finalizers.pvProtection]);
  const claim = await fixture.claim();
  expect(claim?.metadata?.finalizers).toEqual([finalizers.pvcProtection]);
  expect(claim?.metadata?.annotations).not.toHaveProperty([intentAnnotation]);
  expect(claim?.metadata?.annotations?.[annotations.selectedNode]).toBe('b1');
  expect(await eventLines(fixture, metadata?.uid)).toEqual([
    'Provisioning data: External provisioner is provisioning volume for claim "default/data"',
    'ProvisioningSucceeded data: Successfully provisioned volume pvc-UID',
  ]);
});

test.each(['volume.alpha.kubernetes.io/selectedNode', 'volume.alpha.kubernetes.io/selected-node'])(
  '%s is understood',
  async (key) => {
    await using fixture = await ProvisionerFixture.start(controllers);
    await fixture.makeClaim({ annotations: { [key]: 'b1' } });
    await fixture.until(async () => (await fixture.volumes()).length > 0);
    expect(affinityLines((await fixture.volumes())[0]?.spec?.nodeAffinity)).toEqual(['zone=b']);
  },
);

test('a claim that waits for its consumer is provisioned when a node is selected, not before', async () => {
  await using fixture = await ProvisionerFixture.start(controllers);
  await fixture.makeClaim();
  await fixture.virtualTime.settle();
  expect(await fixture.volumes()).toEqual([]);
  await fixture.annotate({ [annotations.selectedNode]: 'a1' });
  await fixture.until(async () => (await fixture.volumes()).length > 0);
});

test.each([
  ['of another provisioner', { provisioner: 'ebs.csi.aws.com' }, {}],
  ['whose class has another provisioner by now', {}, { provisioner: 'ebs.csi.aws.com' }],
  ['that names a volume', { spec: { volumeName: 'mine' } }, {}],
])('a claim %s is ignored', async (_, options, more) => {
  await using fixture = await ProvisionerFixture.start(controllers, classOf(more));
  const before = await fixture.makeClaim({ node: 'a1', ...options });
  await fixture.virtualTime.settle();
  expect(await fixture.volumes()).toEqual([]);
  expect((await fixture.claim())?.metadata?.resourceVersion).toBe(before.metadata?.resourceVersion);
});

describe('a failure', () => {
  test('removes the selected node, so that another is chosen', async () => {
    await using fixture = await ProvisionerFixture.start(
      controllers,
      classOf({ allowedTopologies: termsOf('zone=a') }),
    );
    await fixture.makeClaim({ node: 'b1', annotations: { 'volume.alpha.kubernetes.io/selectedNode': 'b1' } });
    await fixture.until(
      async () => (await fixture.claim())?.metadata?.annotations?.[annotations.selectedNode] === undefined,
    );
    expect(Object.keys((await fixture.claim())?.metadata?.annotations ?? {})).toEqual([
      annotations.storageProvisioner,
    ]);
    expect((await eventLines(fixture))[0]).toMatch(
      /^ProvisioningFailed data: failed to provision volume with StorageClass "standard": node "b1" in zone "b" is not among/,
    );
    await fixture.annotate({ [annotations.selectedNode]: 'a1' });
    await fixture.until(async () => (await fixture.volumes()).length > 0);
  });

  test('because of a deleted node does the same', async () => {
    await using fixture = await ProvisionerFixture.start(controllers);
    await fixture.makeClaim({ node: 'gone' });
    await fixture.until(
      async () => (await fixture.claim())?.metadata?.annotations?.[annotations.selectedNode] === undefined,
    );
    expect(await eventLines(fixture)).toEqual([
      'ProvisioningFailed data: failed to get target node: nodes "gone" not found',
    ]);
  });

  test('without a node writes nothing, and is retried when nodes change', async () => {
    const storageClass = classOf({
      volumeBindingMode: 'Immediate',
      allowedTopologies: termsOf('rack=rack9'),
    });
    await using fixture = await ProvisionerFixture.start(controllers, storageClass);
    const before = await fixture.makeClaim();
    await fixture.virtualTime.settle();
    expect((await fixture.claim())?.metadata?.resourceVersion).toBe(before.metadata?.resourceVersion);
    expect((await eventLines(fixture))[0]).toMatch(/no matching zones found in allowedTopologies/);
    await fixture.cluster.resource(nodes).create(nodeOf('c1 c r1 rack9'));
    await fixture.until(async () => (await fixture.volumes()).length > 0);
    expect(affinityLines((await fixture.volumes())[0]?.spec?.nodeAffinity)).toEqual(['zone=c rack=rack9']);
  });

  test('because of a missing class ends when the class is created', async () => {
    await using fixture = await ProvisionerFixture.start(controllers);
    await fixture.makeClaim({ className: 'late', node: 'a1' });
    await fixture.virtualTime.settle();
    expect(await eventLines(fixture)).toEqual([
      'ProvisioningFailed data: storageclass.storage.k8s.io "late" not found',
    ]);
    await fixture.cluster.resource(storageClasses).create({ ...classOf(), metadata: { name: 'late' } });
    await fixture.until(async () => (await fixture.volumes()).length > 0);
  });
});

describe('a released volume', () => {
  async function released(policy: 'Delete' | 'Retain') {
    const fixture = await ProvisionerFixture.start(controllers, classOf({ reclaimPolicy: policy }));
    await fixture.makeClaim({ node: 'a1' });
    await fixture.until(async () => (await fixture.volumes()).length > 0);
    await fixture.settle();
    const name = (await fixture.volumes())[0]?.metadata?.name ?? '';
    return { fixture, name, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() };
  }

  test('is deleted if its policy is Delete', async () => {
    await using volume = await released('Delete');
    const { fixture, name } = volume;
    expect((await fixture.volumes())[0]?.metadata?.finalizers).toContain(finalizers.externalProvisioner);
    await fixture.deleteClaim();
    await fixture.release(name);
    await fixture.until(async () => (await fixture.volumes())[0]?.metadata?.deletionTimestamp !== undefined);
    await fixture.unprotectVolume(name);
    await fixture.until(async () => (await fixture.volumes()).length === 0);
  });

  test('stays if its policy is Retain, until that is changed', async () => {
    await using volume = await released('Retain');
    const { fixture, name } = volume;
    await fixture.deleteClaim();
    await fixture.release(name);
    await fixture.virtualTime.settle();
    expect((await fixture.volumes())[0]?.metadata?.deletionTimestamp).toBeUndefined();
    const body = { spec: { persistentVolumeReclaimPolicy: 'Delete' } };
    await fixture.cluster.resource(persistentVolumes).patch({ name }, { type: 'merge', body });
    await fixture.until(async () => (await fixture.volumes())[0]?.metadata?.deletionTimestamp !== undefined);
  });

  test('stays while its claim exists and is bound to it, whatever the phase', async () => {
    await using volume = await released('Delete');
    const { fixture, name } = volume;
    const claim = await fixture.claim();
    const { cluster } = fixture;
    await cluster
      .resource(persistentVolumeClaims)
      .update({ ...claim, spec: { ...claim?.spec, volumeName: name } });
    await fixture.release(name);
    await fixture.virtualTime.settle();
    expect((await fixture.volumes())[0]?.metadata?.deletionTimestamp).toBeUndefined();
  });

  test('loses the finalizer when its policy becomes Retain', async () => {
    await using volume = await released('Delete');
    const { fixture, name } = volume;
    const body = { spec: { persistentVolumeReclaimPolicy: 'Retain' } };
    await fixture.cluster.resource(persistentVolumes).patch({ name }, { type: 'merge', body });
    await fixture.until(
      async () =>
        !(await fixture.volumes())[0]?.metadata?.finalizers?.includes(finalizers.externalProvisioner),
    );
  });

  test.each([
    ['of another provisioner', 'ebs.csi.aws.com'],
    ['that falsely names our provisioner', 'zonal.stowage.dev'],
  ])('%s is ignored', async (_, provisioner) => {
    await using fixture = await ProvisionerFixture.start(controllers);
    const metadata = { name: 'foreign', annotations: { [annotations.provisionedBy]: provisioner } };
    await fixture.cluster.resource(persistentVolumes).create({
      metadata,
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Delete',
        csi: { driver: provisioner, volumeHandle: 'x' },
        claimRef: { namespace: 'default', name: 'gone', uid: 'u' },
      },
    });
    await fixture.release('foreign');
    await fixture.virtualTime.settle();
    const [volume] = await fixture.volumes();
    expect(volume?.metadata?.deletionTimestamp).toBeUndefined();
    expect(volume?.metadata?.finalizers).toEqual([finalizers.pvProtection]);
  });
});

test('a local volume is a directory from claim to release', async () => {
  await using here = await temporaryDirectory();
  const localRoot = join(here.path, 'volumes');
  await using fixture = await ProvisionerFixture.start(
    [provisionerController({ localRoot })],
    classOf({ provisioner: local }),
  );
  const { metadata } = await fixture.makeClaim({ node: 'b1', provisioner: local });
  await fixture.until(async () => (await fixture.volumes()).length > 0);
  const [volume] = await fixture.volumes();
  const name = `pvc-${metadata?.uid}`;
  expect(volume?.spec?.local?.path).toBe(join(localRoot, name));
  expect(affinityLines(volume?.spec?.nodeAffinity)).toEqual(['host=b1']);
  expect(existsSync(join(localRoot, name))).toBe(true);
  await fixture.deleteClaim();
  await fixture.release(name);
  await fixture.until(() => !existsSync(join(localRoot, name)));
  await fixture.unprotectVolume(name);
  await fixture.until(async () => (await fixture.volumes()).length === 0);
  expect(await readdir(localRoot)).toEqual([]);
});

test('a volume that was deleted before its claim was bound is created again', async () => {
  await using fixture = await ProvisionerFixture.start(controllers);
  await fixture.makeClaim({ node: 'a1' });
  await fixture.until(async () => (await fixture.volumes()).length > 0);
  const [first] = await fixture.volumes();
  await fixture.cluster.resource(persistentVolumes).delete({ name: first?.metadata?.name ?? '' });
  await fixture.unprotectVolume(first?.metadata?.name ?? '');
  await fixture.until(
    async () => ![undefined, first?.metadata?.uid].includes((await fixture.volumes())[0]?.metadata?.uid),
  );
  expect((await fixture.claim())?.metadata?.finalizers).not.toContain(intentFinalizer);
});
