import type { Controller } from '../../reconcile/controller.ts';
import { diskCaches } from './disk-caches.ts';
import { DiskVerdicts } from './disk-verdicts.ts';
import { NodeDisks } from './node-disks.ts';

/** Keeps a DiskSchedule for each disk of each StorageNode, and decides the requests in it. */
export const disksController: Controller = {
  name: 'disks',
  async run(context, signal) {
    const caches = diskCaches(context.informers);
    await Promise.all([
      new NodeDisks(context, caches).run(signal),
      new DiskVerdicts(context, caches).run(signal),
    ]);
  },
};
