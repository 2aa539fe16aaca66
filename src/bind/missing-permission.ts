import type { Cluster } from '../cluster/cluster.ts';
import { isReason } from '../kube/api-error.ts';
import { qualifiedPlural, type Resource } from '../kube/resource.ts';
import { driverCapacities } from '../kube/resources.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Supervisor } from '../runtime/supervisor.ts';

/** DriverCapacity objects exist and may not be read, so placements are planned without them. */
export class MissingPermission extends Error {
  constructor(options?: ErrorOptions) {
    const name = qualifiedPlural(driverCapacities);
    super(
      `not allowed to list and watch ${name}: the pools that drivers publish there are ignored, and volumes may be placed where their ` +
        `pool has no free capacity; grant list and watch on ${driverCapacities.plural} in API group ${driverCapacities.group} with a ClusterRole`,
      options,
    );
    this.name = 'MissingPermission';
  }
}

export interface MissingPermissionOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly supervisor: Supervisor;
  readonly onError: (error: unknown) => void;
}

/** The custom resource definition may be installed at any time. */
const recheckMs = 60_000;

/**
 * `onError`, except that a refusal to list DriverCapacity objects becomes a `MissingPermission`. An API server also refuses a client
 * without permission when the resource does not exist, and then nothing is wrong. So the error is reported only once the server's
 * discovery lists the resource.
 */
export function reportMissingPermission(options: MissingPermissionOptions): (error: unknown) => void {
  const { supervisor, onError } = options;
  let isChecking = false;
  return (error) => {
    if (!isForbiddenPoolList(error)) return onError(error);
    if (isChecking) return;
    isChecking = true;
    supervisor.start(`permission to read ${qualifiedPlural(driverCapacities)}`, async (signal) => {
      await reportOnceServed(options, error, signal);
      isChecking = false;
    });
  };
}

function isForbiddenPoolList(error: unknown): boolean {
  if (!isReason(error, 'Forbidden')) return false;
  const { group, kind } = error.status.details ?? {};
  return group === driverCapacities.group && kind === driverCapacities.plural;
}

async function reportOnceServed(
  { cluster, clock, onError }: MissingPermissionOptions,
  cause: unknown,
  signal: AbortSignal,
): Promise<void> {
  while (!(await isServed(cluster, signal)) && !signal.aborted) await clock.sleep(recheckMs, signal);
  // The permission may have been granted together with the definition; the informer retries by itself.
  const isStillForbidden = await cluster
    .resource(driverCapacities)
    .list({ limit: 1, signal })
    .then(() => false, isForbiddenPoolList);
  if (isStillForbidden && !signal.aborted) onError(new MissingPermission({ cause }));
}

/** A cluster without discovery may serve it. */
async function isServed(cluster: Cluster, signal: AbortSignal): Promise<boolean> {
  if (!canDiscover(cluster)) return true;
  // The informers report if the server cannot be reached.
  const found = await cluster.discover(signal).catch(() => undefined);
  const { group, plural } = driverCapacities;
  return found?.resources.some((resource) => resource.group === group && resource.plural === plural) ?? false;
}

interface DiscoverableCluster {
  discover(signal: AbortSignal): Promise<{ readonly resources: readonly Resource[] }>;
}

function canDiscover(cluster: Cluster): cluster is Cluster & DiscoverableCluster {
  return 'discover' in cluster && typeof cluster.discover === 'function';
}
