import type { Condition } from '../../kube/api/meta.ts';
import { qualifiedPlural } from '../../kube/resource.ts';
import { type Replica, removalMarkKey, replicas } from '../../kube/stowage/replica.ts';
import { belongsTo } from '../../kube/stowage/replica-volume.ts';
import { storageNodes } from '../../kube/stowage/storage-node.ts';
import { diskVolumes } from '../../kube/stowage/volume.ts';
import type { Invariant, StoredVersion } from './invariant.ts';
import type { StoredObjects } from './stored-objects.ts';

/** The names of the replicas that were healthy at some version since the removal mark of a replica was stored, by that mark. */
type HealthySinceMark = Map<string, Set<string>>;
const observed = new WeakMap<StoredObjects, HealthySinceMark>();

/**
 * A replica with data is removed only if another replica of the volume was healthy after the removal began. It may cease to be healthy between the last read
 * and the deletion, which no controller can exclude. Users may delete any replica, so this holds only where none of them does. Health is decided here from the stored objects, without the function of the controller.
 */
export const healthyReplicaStays: Invariant = {
  name: 'a replica with data is removed only if another one is healthy',
  onVersion: (version, state) => {
    const since = observed.get(state) ?? new Map<string, Set<string>>();
    observed.set(state, since);
    const detail = removedWithoutOther(version, state, since);
    noteHealthy(state, since);
    return detail;
  },
};

function removedWithoutOther(
  { resource, key, before, after }: StoredVersion,
  state: StoredObjects,
  since: HealthySinceMark,
): string | undefined {
  if (resource !== qualifiedPlural(replicas)) return undefined;
  const [was, is] = [before as Replica | undefined, after as Replica | undefined];
  const isMarked = is?.metadata?.annotations?.[removalMarkKey] !== undefined;
  const wasMarked = was?.metadata?.annotations?.[removalMarkKey] !== undefined;
  if (isMarked && !wasMarked) since.set(key, new Set());
  if (was === undefined || was.metadata?.deletionTimestamp !== undefined) return undefined;
  if (is !== undefined && is.metadata?.deletionTimestamp === undefined) return undefined;
  const { healthyAt, failedAt } = was.status ?? {};
  const volume = state.get(diskVolumes, was.spec?.volumeName ?? '');
  // A deleted volume takes its replicas along.
  if ((healthyAt ?? failedAt) === undefined || volume === undefined || !belongsTo(was, volume))
    return undefined;
  if (volume.metadata?.deletionTimestamp !== undefined) return undefined;
  const others = [...(since.get(key) ?? []), ...healthyNames(state)].filter(
    (name) => name !== key && state.get(replicas, name)?.spec?.volumeName === was.spec?.volumeName,
  );
  return others.length > 0
    ? undefined
    : `${key} is removed, and no other replica of ${was.spec?.volumeName} is healthy`;
}

function noteHealthy(state: StoredObjects, since: HealthySinceMark): void {
  if (since.size === 0) return;
  const healthy = healthyNames(state);
  for (const [name, found] of since) {
    if (state.get(replicas, name)?.metadata?.annotations?.[removalMarkKey] === undefined) since.delete(name);
    else for (const other of healthy) found.add(other);
  }
}

/** Replicas that are complete and not failed, on disks whose node reports them as ready. Replicas that are being removed do not count. */
function healthyNames(state: StoredObjects): readonly string[] {
  const readyDisks = new Set(
    [...state.values(storageNodes)].flatMap(({ status }) =>
      isReady(status?.conditions)
        ? Object.values(status?.diskStatus ?? {}).flatMap(({ diskUUID, conditions }) =>
            diskUUID !== undefined && isReady(conditions) ? [diskUUID] : [],
          )
        : [],
    ),
  );
  return [...state.values(replicas)].flatMap(({ metadata, spec, status }) => {
    const isComplete = status?.healthyAt !== undefined && status.failedAt === undefined;
    const isRemoved =
      metadata?.deletionTimestamp !== undefined || metadata?.annotations?.[removalMarkKey] !== undefined;
    return isComplete && !isRemoved && readyDisks.has(spec?.diskID ?? '') ? [metadata?.name ?? ''] : [];
  });
}

function isReady(conditions: readonly Condition[] = []): boolean {
  return !conditions.some(({ type, status }) => type === 'Ready' && status !== 'True');
}
