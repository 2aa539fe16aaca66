import type { Controller } from '../../reconcile/controller.ts';
import { diskCaches } from './disk-caches.ts';
import { DiskVerdicts } from './disk-verdicts.ts';
import { NodeDisks } from './node-disks.ts';
import { DiskPools } from './pools/disk-pools.ts';
import { ReplicaRelease } from './replica-release.ts';
import { StaleEntries } from './stale-entries.ts';
import { VolumePlacement } from './volume-placement.ts';

/** Keeps a DiskSchedule for each disk of each StorageNode, decides the requests in it, and places the replicas of Volumes by them. */
export const disksController: Controller = {
  name: 'disks',
  async run(context, signal) {
    const caches = diskCaches(context.informers);
    await Promise.all([
      new NodeDisks(context, caches).run(signal),
      new DiskVerdicts(context, caches).run(signal),
      new VolumePlacement(context, caches).run(signal),
      new ReplicaRelease(context, caches).run(signal),
      new StaleEntries(context, caches).run(signal),
      new DiskPools(context, caches).run(signal),
    ]);
  },
};
