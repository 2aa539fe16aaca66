import { describe, expect, test } from 'vitest';
import { persistentVolumes, storageClasses } from '../../../kube/resources.ts';
import { backingImages } from '../../../kube/stowage/backing-image.ts';
import { diskVolumes } from '../../../kube/stowage/volume.ts';
import { annotations } from '../../../kube/well-known.ts';
import { DiskClaimsFixture } from './testing/disk-claims-fixture.ts';

describe('claims of disks.stowage.dev', () => {
  test('are bound, with two replicas on different nodes, and their pods run', async () => {
    const fixture = await DiskClaimsFixture.start({ limits: [120, 120, 120] });
    for (const name of ['db-0', 'db-1', 'db-2']) await fixture.addPod(name, 40);
    await fixture.settle();
    expect(await fixture.phases()).toEqual(['db-0 Running', 'db-1 Running', 'db-2 Running']);
    const nodes = Object.values(await fixture.replicaNodes());
    expect(nodes.map((pair) => new Set(pair).size)).toEqual([2, 2, 2]);
    expect((await fixture.granted()).reduce((sum, bytes) => sum + bytes)).toBe(240);
    const claim = await fixture.claim('db-0-0');
    expect(claim.status).toMatchObject({ phase: 'Bound', capacity: { storage: '40' } });
    const name = `pvc-${claim.metadata?.uid}`;
    const volume = await fixture.cluster.resource(persistentVolumes).get({ name });
    expect(volume.spec?.csi).toEqual({ driver: 'disks.stowage.dev', volumeHandle: name });
    expect(volume.spec?.nodeAffinity).toBeUndefined();
    expect(volume.metadata?.annotations).toHaveProperty([annotations.volumeCreatedAt]);
    expect(fixture.environment.errors).toEqual([]);
  });

  test('of a pod with several volumes are allocated together', async () => {
    const fixture = await DiskClaimsFixture.start({ limits: [100, 100] });
    await fixture.addPod('app', 60, 40);
    await fixture.settle();
    expect(await fixture.phases()).toEqual(['app Running']);
    expect(await fixture.granted()).toEqual([100, 100]);
  });

  test('release every byte when they are deleted', async () => {
    const fixture = await DiskClaimsFixture.start({ limits: [100, 100] });
    await fixture.addPod('app', 60, 20);
    await fixture.settle();
    expect(await fixture.figures()).toEqual(['disks 20 20']);
    await fixture.deletePod('app');
    await fixture.deleteClaim('app-0');
    await fixture.settle(10_000);
    expect(await fixture.granted()).toEqual([20, 20]);
    await fixture.deleteClaim('app-1');
    await fixture.settle(10_000);
    await fixture.expectEmpty();
    expect((await fixture.cluster.resource(persistentVolumes).list()).items).toEqual([]);
    expect(await fixture.figures()).toEqual(['disks 100 100']);
  });

  test('wait in the scheduler while the disks are full, and go on when bytes become free', async () => {
    const fixture = await DiskClaimsFixture.start({ limits: [100, 100] });
    await fixture.addPod('first', 80);
    await fixture.settle();
    await fixture.addPod('second', 50);
    await fixture.settle(20_000);
    expect(await fixture.phases()).toEqual(['first Running', 'second Pending']);
    expect(
      (await fixture.environment.eventLines()).filter((line) => line.startsWith('ProvisioningFailed')),
    ).toEqual([]);
    await fixture.deletePod('first');
    await fixture.deleteClaim('first-0');
    await fixture.settle(20_000);
    expect(await fixture.phases()).toEqual(['second Running']);
  });

  test('of a burst that the disks cannot hold are refused with the closest disk, and leave nothing', async () => {
    const fixture = await DiskClaimsFixture.start({ limits: [100, 100, 100] });
    // Together they are no more than the 150 bytes that small volumes could have, but only one of them fits.
    for (const name of ['a', 'b']) await fixture.addPod(name, 70);
    await fixture.settle(60_000);
    const phases = (await fixture.phases()).map((line) => line.split(' ')[1]).sort();
    expect(phases).toEqual(['Pending', 'Running']);
    const refusals = (await fixture.environment.eventLines()).filter((line) =>
      line.startsWith('ProvisioningFailed'),
    );
    expect(refusals.join()).toMatch(/d on node n\d: 30 bytes free, 70 requested: 40 missing/);
    expect((await fixture.cluster.resource(diskVolumes).list()).items).toHaveLength(1);
    expect((await fixture.granted()).toSorted((x, y) => x - y)).toEqual([0, 70, 70]);
    expect(await fixture.figures()).toEqual(['disks 60 30']);
  });

  test('that bind immediately are refused with the disk and the missing bytes, and tried again', async () => {
    const fixture = await DiskClaimsFixture.start({
      limits: [100, 30],
      storageClass: { volumeBindingMode: 'Immediate' },
    });
    await fixture.addClaim('large', 50);
    await fixture.settle(3_000);
    const refusal = (await fixture.environment.eventLines()).find((line) =>
      line.startsWith('ProvisioningFailed'),
    );
    expect(refusal).toContain('disk');
    expect(refusal).toContain('d on node n2: 30 bytes free, 50 requested: 20 missing');
    await fixture.expectEmpty();
    await fixture.deleteClaim('large');
    await fixture.addClaim('small', 20);
    await fixture.settle(3_000);
    expect((await fixture.claim('small')).status?.phase).toBe('Bound');
    expect(await fixture.granted()).toEqual([20, 20]);
  });

  test('do not start without --allocation-only', async () => {
    const fixture = await DiskClaimsFixture.start({
      limits: [100, 100],
      settings: { allocationOnly: false },
    });
    await fixture.addPod('app', 10);
    await fixture.settle();
    expect(await fixture.phases()).toEqual(['app Pending']);
    const refusal = (await fixture.environment.eventLines()).find((line) => line.startsWith('NoDataPath'));
    expect(refusal).toContain('--allocation-only');
    await fixture.expectEmpty();
  });

  test('of a class with an unknown parameter are refused, and work once the class is replaced', async () => {
    const fixture = await DiskClaimsFixture.start({
      limits: [100, 100],
      parameters: { replicas: '2' },
    });
    await fixture.addPod('app', 10);
    await fixture.settle();
    const failed = async () =>
      (await fixture.environment.eventLines()).filter((line) => line.startsWith('ProvisioningFailed'));
    expect((await failed()).join()).toContain(
      'parameter replicas is unknown; must be one of numberOfReplicas',
    );
    const classes = fixture.cluster.resource(storageClasses);
    const { metadata: _, ...rest } = await classes.get({ name: 'disks' });
    await classes.delete({ name: 'disks' });
    await classes.create({ ...rest, metadata: { name: 'disks' }, parameters: { numberOfReplicas: '2' } });
    await fixture.settle(10_000);
    expect(await fixture.phases()).toEqual(['app Running']);
  });

  test('of a class with an image wait for the image, and have room for a copy on each of their disks', async () => {
    const fixture = await DiskClaimsFixture.start({
      limits: [100, 100],
      parameters: { numberOfReplicas: '2', backingImage: 'debian' },
    });
    await fixture.addPod('app', 60);
    await fixture.settle(3_000);
    expect((await fixture.environment.eventLines()).join('\n')).toContain(
      'BackingImage debian not found; create it',
    );
    await fixture.cluster.resource(backingImages).create({
      apiVersion: 'stowage.dev/v1alpha1',
      kind: 'BackingImage',
      metadata: { name: 'debian' },
      spec: { source: { download: { url: 'https://images.example.com/debian.img' } }, expectedSize: 30 },
    });
    await fixture.settle(20_000);
    expect(await fixture.phases()).toEqual(['app Running']);
    const claim = await fixture.claim('app-0');
    const volume = await fixture.cluster.resource(diskVolumes).get({ name: `pvc-${claim.metadata?.uid}` });
    expect(volume.spec?.backingImage).toBe('debian');
    // The replicas, and a copy of the image beside each of them.
    expect(await fixture.granted()).toEqual([90, 90]);
    expect(await fixture.figures()).toEqual(['disks 10 10']);
  });

  test('leave a Volume of the same name alone that was not made for them', async () => {
    const fixture = await DiskClaimsFixture.start({ limits: [100, 100] });
    await fixture.addClaim('data', 10);
    const name = `pvc-${(await fixture.claim('data')).metadata?.uid}`;
    const spec = { size: 5, numberOfReplicas: 1 };
    const foreign = { apiVersion: 'stowage.dev/v1alpha1', kind: 'Volume', metadata: { name }, spec };
    await fixture.cluster.resource(diskVolumes).create(foreign);
    await fixture.addPodFor('app', ['data']);
    await fixture.settle();
    expect((await fixture.environment.eventLines()).join('\n')).toContain('was not made for this claim');
    await fixture.deletePod('app');
    await fixture.deleteClaim('data');
    await fixture.settle();
    expect((await fixture.cluster.resource(diskVolumes).get({ name })).spec?.size).toBe(5);
    await fixture.cluster.resource(diskVolumes).delete({ name });
  });
});
