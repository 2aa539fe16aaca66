import { expect, test } from 'vitest';
import type { Cluster } from '../../cluster/cluster.ts';
import { type ClusterCall, InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { failure } from '../../kube/api-error.ts';
import { nodes } from '../../kube/resources.ts';
import { annotations } from '../../kube/well-known.ts';
import { provisionerController } from './provisioner-controller.ts';
import { FakeDiskDriver } from './testing/fake-disk-driver.ts';
import { classOf } from './testing/objects.ts';
import { ProvisionerFixture } from './testing/provisioner-fixture.ts';

const provisioner = 'disk.example.com';
/** Creations of PersistentVolumes time out until `answers` is set; `arrive` lets the first one take effect. */
class LateCreation {
  arrive: (() => Promise<unknown>) | undefined;
  answers = false;

  over(cluster: Cluster): InterceptedCluster {
    const before = async (call: ClusterCall) => {
      if (call.verb !== 'create' || call.resource.plural !== 'persistentvolumes' || this.answers) return;
      this.arrive ??= () => call.send();
      throw failure(504, 'Timeout', 'there was no response');
    };
    return new InterceptedCluster(cluster, { before });
  }
}

test('a creation without an answer is repeated, although the node is gone, and arrives in vain', async () => {
  const disks = new FakeDiskDriver();
  await using fixture = await ProvisionerFixture.start([], classOf({ provisioner }));
  const late = new LateCreation();
  await fixture.makeClaim({ node: 'a1', provisioner });
  const controllers = [provisionerController({ provisioners: [disks.provisioner] })];
  fixture.virtualTime.run(controllers, late.over(fixture.cluster));
  await fixture.until(() => late.arrive !== undefined);
  await fixture.cluster.resource(nodes).delete({ name: 'a1' });
  await fixture.virtualTime.settle();
  late.answers = true;
  await fixture.until(async () => (await fixture.volumes()).length === 1);
  await expect(late.arrive?.()).rejects.toMatchObject({ reason: 'AlreadyExists' });
  expect([...disks.disks.keys()]).toEqual((await fixture.volumes()).map(({ metadata }) => metadata?.name));
});

test('a creation of a process that has ended may arrive before its volume is withdrawn', async () => {
  const disks = new FakeDiskDriver();
  await using fixture = await ProvisionerFixture.start([], classOf({ provisioner }));
  const late = new LateCreation();
  await fixture.makeClaim({ node: 'a1', provisioner });
  const controllers = [provisionerController({ provisioners: [disks.provisioner] })];
  const first = fixture.virtualTime.run(controllers, late.over(fixture.cluster));
  await fixture.until(() => late.arrive !== undefined);
  await first.close();
  await fixture.annotate({ [annotations.selectedNode]: 'b1' });
  fixture.virtualTime.run(controllers);
  await fixture.virtualTime.settle(60_000);
  await late.arrive?.();
  await fixture.virtualTime.settle(60_000);
  const names = (await fixture.volumes()).map(({ metadata }) => metadata?.name);
  expect(names).toHaveLength(1);
  expect([...disks.disks.keys()]).toEqual(names);
  expect([...disks.disks.values()], 'where it was first created').toEqual(['a1']);
});
