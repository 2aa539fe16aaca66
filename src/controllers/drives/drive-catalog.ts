import type { Cluster } from '../../cluster/cluster.ts';
import { isReason } from '../../kube/api-error.ts';
import { drivesDriver } from '../../kube/drive.ts';
import { csiDrivers, storageClasses } from '../../kube/resources.ts';

/** The class that users name in their claims. */
const drivesClassName = 'stowage-drives';

/** Creates the CSIDriver and the class. Those that exist stay: users may have changed them. */
export async function ensureDriveCatalog(cluster: Cluster, signal: AbortSignal): Promise<void> {
  await ifAbsent(
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
  await ifAbsent(
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

async function ifAbsent(creation: Promise<unknown>): Promise<void> {
  try {
    await creation;
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) throw error;
  }
}
