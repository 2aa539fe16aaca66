import type { Cluster } from '../../../cluster/cluster.ts';
import { csiDrivers, storageClasses } from '../../../kube/resources.ts';
import { storageNodes } from '../../../kube/stowage/storage-node.ts';
import { disksDriver } from '../../../kube/stowage/volume.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import { createIfAbsent } from '../../../reconcile/create-if-absent.ts';
import { runLoop } from '../../../reconcile/run-loop.ts';
import { WorkQueue } from '../../../reconcile/work-queue.ts';

/** The class that users name in their claims. */
const disksClassName = 'stowage-disks';

/** The only key of the queue. */
const catalogKey = 'class';

/** Creates the CSIDriver and the class when the first StorageNode is there, as `deploy/disks.yaml` does on other clusters. */
export async function createDiskCatalog(context: ControllerContext, signal: AbortSignal): Promise<void> {
  const { informers, cluster } = context;
  const queue = new WorkQueue(context);
  const nodes = informers.of(storageNodes);
  const loop = {
    controller: 'disks',
    caches: [nodes],
    listen: () => [nodes.addHandler({ added: () => queue.add(catalogKey) })],
    queue,
    reconcile: async () => {
      await ensureDiskCatalog(cluster, signal);
      return undefined;
    },
    workers: 1,
  };
  await runLoop(context, loop, signal);
}

async function ensureDiskCatalog(cluster: Cluster, signal: AbortSignal): Promise<void> {
  await createIfAbsent(
    cluster.resource(csiDrivers).create(
      {
        metadata: { name: disksDriver },
        spec: {
          attachRequired: false,
          podInfoOnMount: false,
          storageCapacity: true,
          volumeLifecycleModes: ['Persistent'],
        },
      },
      { signal },
    ),
  );
  await createIfAbsent(
    cluster.resource(storageClasses).create(
      {
        metadata: { name: disksClassName },
        provisioner: disksDriver,
        parameters: { numberOfReplicas: '3' },
        volumeBindingMode: 'WaitForFirstConsumer',
        reclaimPolicy: 'Delete',
        allowVolumeExpansion: true,
      },
      { signal },
    ),
  );
}
