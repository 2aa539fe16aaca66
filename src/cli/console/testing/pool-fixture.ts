import type { Cluster } from '../../../cluster/cluster.ts';
import { csiDrivers, csiStorageCapacities, nodes, storageClasses } from '../../../kube/resources.ts';

export interface PoolFixture {
  readonly node: string;
  readonly storageClass: string;
  readonly capacity: string;
}

/** A node, and a pool that its driver has published for it, without a time. */
export async function seedPool(
  cluster: Cluster,
  { node, storageClass, capacity }: PoolFixture,
): Promise<void> {
  const hostname = { 'kubernetes.io/hostname': node };
  const allocatable = { cpu: '4', memory: '8Gi', pods: '10' };
  await cluster.resource(nodes).create({
    metadata: { name: node, labels: hostname },
    status: { allocatable, capacity: allocatable },
  });
  await cluster.resource(storageClasses).create({
    metadata: { name: storageClass },
    provisioner: 'driver.example',
    volumeBindingMode: 'WaitForFirstConsumer',
  });
  await cluster
    .resource(csiDrivers)
    .create({ metadata: { name: 'driver.example' }, spec: { storageCapacity: true } });
  await cluster.resource(csiStorageCapacities).create({
    metadata: { namespace: 'default', name: 'pool' },
    storageClassName: storageClass,
    nodeTopology: { matchLabels: hostname },
    capacity,
  });
}
