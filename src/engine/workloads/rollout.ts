import type { Deployment, ReplicaSet } from '../../kube/api/apps.ts';
import {
  activeOf,
  allOf,
  compareAge,
  isRolling,
  maxSurgeOf,
  maxUnavailableOf,
  oldestFirst,
  type ReplicaSetFamily,
  specReplicasOf,
  totalReplicas,
} from './replica-set-family.ts';
import { desiredReplicasOf, maxReplicasOf } from './revision-annotations.ts';

export interface Resize {
  readonly set: ReplicaSet;
  readonly replicas: number;
}

/** The next step of an update: first more new replicas, then fewer old ones, never both at the same time. */
export function rollingSteps(deployment: Deployment, family: ReplicaSetFamily): readonly Resize[] {
  const { current, old } = family;
  if (current === undefined) return [];
  const replicas = currentReplicas(deployment, allOf(family), current);
  if (replicas !== specReplicasOf(current)) return [{ set: current, replicas }];
  return shrinkOld(deployment, family, activeOf(old));
}

/** Deletes all old pods before the first new one is created. */
export function recreateSteps(
  deployment: Deployment,
  { current, old }: ReplicaSetFamily,
  isOldGone: boolean,
): readonly Resize[] {
  const active = activeOf(old);
  if (active.length > 0) return active.map((set) => ({ set, replicas: 0 }));
  const wanted = specReplicasOf(deployment);
  if (!isOldGone || current === undefined || specReplicasOf(current) === wanted) return [];
  return [{ set: current, replicas: wanted }];
}

/** How many replicas the current set may have now, given those of the old sets. */
export function currentReplicas(
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  current: ReplicaSet,
): number {
  const wanted = specReplicasOf(deployment);
  if (!isRolling(deployment) || specReplicasOf(current) > wanted) return wanted;
  const free = wanted + maxSurgeOf(deployment) - totalReplicas(sets);
  if (free <= 0) return specReplicasOf(current);
  return specReplicasOf(current) + Math.min(free, wanted - specReplicasOf(current));
}

/** The number of replicas was changed since the sets were last sized. */
export function isScaled(deployment: Deployment, family: ReplicaSetFamily): boolean {
  return activeOf(allOf(family)).some((set) => {
    const desired = desiredReplicasOf(set);
    return desired !== undefined && desired !== specReplicasOf(deployment);
  });
}

/** The sizes after scaling, also of sets that already have them. During an update all sets are scaled in proportion. */
export function scalingSteps(deployment: Deployment, family: ReplicaSetFamily): readonly Resize[] {
  const { current, old } = family;
  const wanted = specReplicasOf(deployment);
  const active = activeOf(allOf(family));
  const only = active.length === 0 ? (current ?? old.at(-1)) : active.length === 1 ? active[0] : undefined;
  if (only !== undefined) return [{ set: only, replicas: wanted }];
  if (current !== undefined && isSaturated(deployment, current))
    return activeOf(old).map((set) => ({ set, replicas: 0 }));
  return isRolling(deployment) ? proportionalSteps(deployment, active) : [];
}

/** Unhealthy replicas first: they do not reduce availability. Then as many as others make up for. */
function shrinkOld(
  deployment: Deployment,
  family: ReplicaSetFamily,
  old: readonly ReplicaSet[],
): readonly Resize[] {
  const { current } = family;
  if (current === undefined || old.length === 0) return [];
  const minAvailable = specReplicasOf(deployment) - maxUnavailableOf(deployment);
  const unavailable = specReplicasOf(current) - availableOf(current);
  const spare = totalReplicas(allOf(family)) - minAvailable - unavailable;
  if (spare <= 0) return [];
  const sizes = new Map(oldestFirst(old).map((set) => [set, specReplicasOf(set)]));
  take(sizes, spare, (set, size) => size - availableOf(set));
  const available = availableOf(current) + old.reduce((sum, set) => sum + availableOf(set), 0);
  take(sizes, available - minAvailable, (_set, size) => size);
  return [...sizes]
    .filter(([set, replicas]) => replicas !== specReplicasOf(set))
    .map(([set, replicas]) => ({ set, replicas }));
}

/** Removes up to `count` replicas from the sets, in order, and from each no more than it can spare. */
function take(
  sizes: Map<ReplicaSet, number>,
  count: number,
  canSpare: (set: ReplicaSet, size: number) => number,
): void {
  let left = count;
  for (const [set, size] of sizes) {
    const taken = Math.max(0, Math.min(left, canSpare(set, size)));
    sizes.set(set, size - taken);
    left -= taken;
  }
}

function proportionalSteps(deployment: Deployment, active: readonly ReplicaSet[]): readonly Resize[] {
  const wanted = specReplicasOf(deployment);
  const allowed = wanted > 0 ? wanted + maxSurgeOf(deployment) : 0;
  const toAdd = allowed - totalReplicas(active);
  const order = active.toSorted(
    (a, b) => specReplicasOf(b) - specReplicasOf(a) || (toAdd > 0 ? compareAge(b, a) : compareAge(a, b)),
  );
  let added = 0;
  const shares = order.map((set) => {
    const share = toAdd === 0 ? 0 : shareOf(deployment, set, toAdd - added, toAdd);
    added += share;
    return { set, replicas: specReplicasOf(set) + share };
  });
  // The largest set gets the rest from rounding.
  const [first, ...rest] = shares;
  if (first === undefined) return [];
  return [{ set: first.set, replicas: Math.max(0, first.replicas + toAdd - added) }, ...rest];
}

function shareOf(deployment: Deployment, set: ReplicaSet, left: number, toAdd: number): number {
  if (left === 0) return 0;
  const fraction = fractionOf(deployment, set);
  return toAdd > 0 ? Math.min(fraction, left) : Math.max(fraction, left);
}

/** The growth of the set if it keeps its proportion. */
function fractionOf(deployment: Deployment, set: ReplicaSet): number {
  const size = specReplicasOf(set);
  if (specReplicasOf(deployment) === 0) return -size;
  const before = maxReplicasOf(set) || (deployment.status?.replicas ?? 0);
  if (before === 0) return 0;
  return Math.round((size * (specReplicasOf(deployment) + maxSurgeOf(deployment))) / before) - size;
}

function isSaturated(deployment: Deployment, set: ReplicaSet): boolean {
  const wanted = specReplicasOf(deployment);
  return specReplicasOf(set) === wanted && desiredReplicasOf(set) === wanted && availableOf(set) === wanted;
}

function availableOf({ status }: ReplicaSet): number {
  return status?.availableReplicas ?? 0;
}
