import type { Cluster } from '../../cluster/cluster.ts';
import { csiDrivers, storageClasses } from '../../kube/resources.ts';
import { drivesDriver } from '../../kube/stowage/drive.ts';
import { createIfAbsent } from '../../reconcile/create-if-absent.ts';

/** The class that users name in their claims. */
const drivesClassName = 'stowage-drives';

/** Creates the CSIDriver and the class. Those that exist stay: users may have changed them. */
export async function ensureDriveCatalog(cluster: Cluster, signal: AbortSignal): Promise<void> {
  await createIfAbsent(
    cluster.resource(csiDrivers).create(
      {
        metadata: { name: drivesDriver },
        spec: {
          attachRequired: false,
          podInfoOnMount: true,
          storageCapacity: true,
          volumeLifecycleModes: ['Persistent', 'Ephemeral'],
        },
      },
      { signal },
    ),
  );
  await createIfAbsent(
    cluster.resource(storageClasses).create(
      {
        metadata: { name: drivesClassName },
        provisioner: drivesDriver,
        volumeBindingMode: 'WaitForFirstConsumer',
        reclaimPolicy: 'Delete',
        allowVolumeExpansion: true,
      },
      { signal },
    ),
  );
}
