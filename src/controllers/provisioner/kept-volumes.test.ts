import { expect, test } from 'vitest';
import { persistentVolumeClaims, persistentVolumes } from '../../kube/resources.ts';
import { intentAnnotation, intentFinalizer, intentOf } from './intent.ts';
import { provisionerController } from './provisioner-controller.ts';
import { FakeDiskDriver } from './testing/fake-disk-driver.ts';
import { classOf } from './testing/objects.ts';
import { ProvisionerFixture } from './testing/provisioner-fixture.ts';

const provisioner = 'disk.example.com';
const removed = { metadata: { finalizers: null } };
const another = { spec: { claimRef: { namespace: 'elsewhere', name: 'other', uid: null } } };

/** Acts as an administrator on a volume in use while the provisioner is stopped. */
const changesByAdministrator: Readonly<
  Record<string, (fixture: ProvisionerFixture, name: string) => Promise<unknown>>
> = {
  'the object of the volume is deleted': async ({ cluster }, name) => {
    await cluster.resource(persistentVolumes).patch({ name }, { type: 'merge', body: removed });
    await cluster.resource(persistentVolumes).delete({ name });
  },
  'the object of the volume and the claim are deleted': async (fixture, name) => {
    await fixture.cluster.resource(persistentVolumes).patch({ name }, { type: 'merge', body: removed });
    await fixture.cluster.resource(persistentVolumes).delete({ name });
    await fixture.deleteClaim();
  },
  'the volume is given to another claim': async ({ cluster }, name) =>
    await cluster.resource(persistentVolumes).patch({ name }, { type: 'merge', body: another }),
  'the claimRef is removed': async ({ cluster }, name) => {
    const body = { spec: { claimRef: null } };
    await cluster.resource(persistentVolumes).patch({ name }, { type: 'merge', body });
  },
};

test.each(Object.entries(changesByAdministrator))(
  'a disk that was recorded and used is kept when %s before the provisioner is back',
  async (_what, rescue) => {
    const disks = new FakeDiskDriver();
    const controllers = [provisionerController({ provisioners: [disks.provisioner] })];
    await using fixture = await ProvisionerFixture.start(
      [],
      classOf({ provisioner, reclaimPolicy: 'Retain' }),
    );
    await fixture.makeClaim({ node: 'a1', provisioner });
    const first = fixture.virtualTime.run(controllers);
    await fixture.virtualTime.settle();
    await first.close();
    const [volume] = await fixture.volumes();
    const name = volume?.metadata?.name ?? '';
    await bind(fixture, name);
    await rescue(fixture, name);
    fixture.virtualTime.run(controllers);
    await fixture.virtualTime.settle();
    expect([...disks.disks.keys()]).toEqual([name]);
    const claim = await fixture.claim();
    expect(claim && intentOf(claim)).toBeUndefined();
  },
);

/** Acts as the PV binder; and the intent exists, as if the provisioner had crashed before it removed it. */
async function bind({ cluster }: ProvisionerFixture, volumeName: string): Promise<void> {
  const metadata = {
    annotations: { [intentAnnotation]: `${provisioner} a1` },
    finalizers: ['kubernetes.io/pvc-protection', intentFinalizer],
  };
  const body = { metadata, spec: { volumeName } };
  const client = cluster.resource(persistentVolumeClaims);
  await client.patch({ namespace: 'default', name: 'data' }, { type: 'merge', body });
}
