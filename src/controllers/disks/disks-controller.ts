import type { Controller } from '../../reconcile/controller.ts';
import { diskCaches } from './disk-caches.ts';
import { meterDisks } from './disk-metrics.ts';
import { AgentHeartbeats } from './heartbeats/agent-heartbeats.ts';
import { ImagePlacement } from './images/image-placement.ts';
import { VolumeImages } from './images/volume-images.ts';
import { NodeDisks } from './node-disks.ts';
import { createDiskCatalog } from './pools/disk-catalog.ts';
import { DiskPools } from './pools/disk-pools.ts';
import { ReplicaRelease } from './replica-release.ts';
import { StaleEntries } from './stale-entries.ts';
import { DiskVerdicts } from './verdicts/disk-verdicts.ts';
import { VolumePlacement } from './volume-placement.ts';

export interface DisksControllerSettings {
  /** Whether the class and the CSIDriver are created with the first StorageNode; elsewhere `deploy/disks.yaml` has them. */
  readonly createsDiskClass?: boolean | undefined;
}

/**
 * Keeps a DiskSchedule for each disk of each StorageNode, decides the requests in it, and places the replicas of
 * Volumes and the copies of BackingImages by them.
 */
export function disksController({ createsDiskClass = false }: DisksControllerSettings = {}): Controller {
  const run: Controller['run'] = async (context, signal) => {
    const caches = diskCaches(context.informers);
    const stopMetering = meterDisks(context.metrics, caches);
    try {
      await Promise.all([
        new AgentHeartbeats(context, caches).run(signal),
        new NodeDisks(context, caches).run(signal),
        new DiskVerdicts(context, caches).run(signal),
        new VolumePlacement(context, caches).run(signal),
        new ImagePlacement(context, caches).run(signal),
        new VolumeImages(context, caches).run(signal),
        new ReplicaRelease(context, caches).run(signal),
        new StaleEntries(context, caches).run(signal),
        new DiskPools(context, caches).run(signal),
        createsDiskClass && createDiskCatalog(context, signal),
      ]);
    } finally {
      stopMetering();
    }
  };
  return { name: 'disks', run };
}
