import type { Cluster } from '../cluster/cluster.ts';
import { isReason } from '../kube/api-error.ts';
import { qualifiedPlural, type Resource } from '../kube/resource.ts';
import { driverCapacities } from '../kube/resources.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Supervisor } from '../runtime/supervisor.ts';

/** Something is there, counts, and may not be read: decisions are made without it. */
export class MissingPermission extends Error {
  constructor(options?: ErrorOptions) {
    const name = qualifiedPlural(driverCapacities);
    super(
      `not allowed to list and watch ${name}: the pools that drivers publish there are ignored, and volumes may be sent where there is no ` +
        `room for them; grant list and watch on ${driverCapacities.plural} in API group ${driverCapacities.group} with a ClusterRole`,
      options,
    );
    this.name = 'MissingRight';
  }
}

export interface MissingPermissionOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly supervisor: Supervisor;
  readonly onError: (error: unknown) => void;
}

/** A definition may be installed at any time. */
const againMs = 60_000;

/**
 * `onTrouble`, but a refusal to list DriverCapacity objects becomes a `MissingPermission`. Whoever has no rights to a resource is refused
 * also where it doesn't exist, and then nothing is amiss; so it is told only once the server says that there is such a kind.
 */
export function reportMissingPermission(options: MissingPermissionOptions): (error: unknown) => void {
  const { supervisor, onError: onTrouble } = options;
  let isLooking = false;
  return (error) => {
    if (!isRefusedPools(error)) return onTrouble(error);
    if (isLooking) return;
    isLooking = true;
    supervisor.start(`rights to ${qualifiedPlural(driverCapacities)}`, async (signal) => {
      await tellOnceServed(options, error, signal);
      isLooking = false;
    });
  };
}

function isRefusedPools(error: unknown): boolean {
  if (!isReason(error, 'Forbidden')) return false;
  const { group, kind } = error.status.details ?? {};
  return group === driverCapacities.group && kind === driverCapacities.plural;
}

async function tellOnceServed(
  { cluster, clock, onError: onTrouble }: MissingPermissionOptions,
  cause: unknown,
  signal: AbortSignal,
): Promise<void> {
  while (!(await isServed(cluster, signal)) && !signal.aborted) await clock.sleep(againMs, signal);
  // It may have been granted together with the definition; the informer looks again by itself.
  const isStillRefused = await cluster
    .resource(driverCapacities)
    .list({ limit: 1, signal })
    .then(() => false, isRefusedPools);
  if (isStillRefused && !signal.aborted) onTrouble(new MissingPermission({ cause }));
}

/** One that can't be asked may have it. */
async function isServed(cluster: Cluster, signal: AbortSignal): Promise<boolean> {
  if (!canDiscover(cluster)) return true;
  // Whether it can be reached is what informers tell.
  const found = await cluster.discover(signal).catch(() => undefined);
  const { group, plural } = driverCapacities;
  return found?.resources.some((resource) => resource.group === group && resource.plural === plural) ?? false;
}

interface Discovering {
  discover(signal: AbortSignal): Promise<{ readonly resources: readonly Resource[] }>;
}

function canDiscover(cluster: Cluster): cluster is Cluster & Discovering {
  return 'discover' in cluster && typeof cluster.discover === 'function';
}
