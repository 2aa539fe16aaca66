import type { Cluster } from '../cluster/cluster.ts';
import type { KubeObject } from '../kube/api/meta.ts';
import { isReason } from '../kube/api-error.ts';
import { qualifiedPlural, type Resource } from '../kube/resource.ts';
import { driverCapacities } from '../kube/resources.ts';
import { drives } from '../kube/stowage/drive.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Supervisor } from '../runtime/supervisor.ts';

/** Kinds of our own that placements use, and what happens without them. Roles for schedulers do not include them. */
const ownKinds: readonly { readonly resource: Resource<KubeObject>; readonly consequence: string }[] = [
  {
    resource: driverCapacities,
    consequence:
      'the pools that drivers publish there are ignored, and volumes may be placed where their pool has no free capacity',
  },
  {
    resource: drives,
    consequence: 'local drives are ignored, and volumes may be placed where no drive has room',
  },
];

/** Objects of a kind of ours exist and may not be read, so placements are planned without them. */
export class MissingPermission extends Error {
  constructor(resource: Resource<KubeObject> = driverCapacities, options?: ErrorOptions) {
    const { consequence } = ownKinds.find((known) => isSameKind(known.resource, resource)) ?? ownKinds[0]!;
    super(
      `not allowed to list and watch ${qualifiedPlural(resource)}: ${consequence}; grant list and watch on ` +
        `${resource.plural} in API group ${resource.group} with a ClusterRole`,
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
 * `onError`, except that a refusal to list objects of a kind of ours becomes a `MissingPermission`. An API server also refuses a client
 * without permission when the resource does not exist, and then nothing is wrong. So the error is reported only once the server's
 * discovery lists the resource.
 */
export function reportMissingPermission(options: MissingPermissionOptions): (error: unknown) => void {
  const { supervisor, onError } = options;
  const checking = new Set<Resource<KubeObject>>();
  return (error) => {
    const resource = forbiddenKind(error);
    if (resource === undefined) return onError(error);
    if (checking.has(resource)) return;
    checking.add(resource);
    supervisor.start(`permission to read ${qualifiedPlural(resource)}`, async (signal) => {
      await reportOnceServed(options, resource, error, signal);
      checking.delete(resource);
    });
  };
}

/** The kind of ours that may not be listed; undefined for other errors. */
function forbiddenKind(error: unknown): Resource<KubeObject> | undefined {
  if (!isReason(error, 'Forbidden')) return undefined;
  const { group, kind } = error.status.details ?? {};
  return ownKinds.find(({ resource }) => resource.group === group && resource.plural === kind)?.resource;
}

async function reportOnceServed(
  { cluster, clock, onError }: MissingPermissionOptions,
  resource: Resource<KubeObject>,
  cause: unknown,
  signal: AbortSignal,
): Promise<void> {
  while (!(await isServed(cluster, resource, signal)) && !signal.aborted)
    await clock.sleep(recheckMs, signal);
  // The permission may have been granted together with the definition; the informer retries by itself.
  const isStillForbidden = await cluster
    .resource(resource)
    .list({ limit: 1, signal })
    .then(
      () => false,
      (error) => forbiddenKind(error) !== undefined,
    );
  if (isStillForbidden && !signal.aborted) onError(new MissingPermission(resource, { cause }));
}

/** A cluster without discovery may serve it. */
async function isServed(
  cluster: Cluster,
  resource: Resource<KubeObject>,
  signal: AbortSignal,
): Promise<boolean> {
  if (!canDiscover(cluster)) return true;
  // The informers report if the server cannot be reached.
  const found = await cluster.discover(signal).catch(() => undefined);
  return found?.resources.some((served) => isSameKind(served, resource)) ?? false;
}

function isSameKind(one: Resource<KubeObject>, other: Resource<KubeObject>): boolean {
  return one.group === other.group && one.plural === other.plural;
}

interface DiscoverableCluster {
  discover(signal: AbortSignal): Promise<{ readonly resources: readonly Resource[] }>;
}

function canDiscover(cluster: Cluster): cluster is Cluster & DiscoverableCluster {
  return 'discover' in cluster && typeof cluster.discover === 'function';
}
