import type { CsiServices } from '../../csi/csi-server.ts';
import { untilAborted } from '../../runtime/abort.ts';
import { drivesControllerService } from './controller-service.ts';
import { DriveCache, type DriveCacheOptions } from './drive-cache.ts';

export interface ServedController {
  readonly methods: NonNullable<CsiServices['controller']>;
  readonly cache: DriveCache;
}

export interface ServeControllerOptions extends DriveCacheOptions {
  /** The cluster that the service writes to; by default the one that it reads. It rejects writes of a process that lost the Lease. */
  readonly writesTo?: DriveCacheOptions['cluster'];
}

/** Reads all drives, calls `serve` with the controller service, and keeps its cache up to date until `signal` aborts. */
export async function serveController(
  { writesTo, ...reading }: ServeControllerOptions,
  serve: (served: ServedController) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { cluster, clock, random } = reading;
  const cache = new DriveCache({ ...reading, random: random.fork('cache') });
  try {
    if (!(await cache.synced(signal))) return;
    const choosing = { clock, random: random.fork('choice') };
    const methods = drivesControllerService({ ...choosing, cluster: writesTo ?? cluster, cache });
    await serve({ methods, cache });
    await untilAborted(signal);
  } finally {
    await cache.stop();
  }
}
