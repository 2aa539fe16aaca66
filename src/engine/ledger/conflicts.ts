import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import type { NodeRow } from '../cluster-index/nodes/node-table.ts';
import type { Placement } from '../plan.ts';
import type { ClaimBinding, Provision } from '../rules/framework/decisions.ts';
import { compareSizes } from '../size.ts';

/** An object that has changed since the plan. */
export interface ReservationConflict {
  /** Kind and name, e.g. `PersistentVolume pv-1`. */
  readonly object: string;
  readonly problem: string;
}

/**
 * The reasons why a placement is no longer valid: objects that were changed, deleted, made unreachable or reserved since the plan, and
 * claims for which another pod has reserved something else.
 */
export function findConflicts(index: ClusterIndex, placement: Placement): ReservationConflict[] {
  const node = index.nodes.row(placement.node);
  const missingNode = node === undefined ? [{ object: `Node ${placement.node}`, problem: 'is gone' }] : [];
  const bindings = placement.bindings.flatMap((binding) => [
    ...claimConflicts(index, binding),
    ...volumeConflicts(index, binding, node),
  ]);
  const provisions = placement.provisions.flatMap((provision) => [
    ...claimConflicts(index, provision),
    ...provisionConflicts(index, provision, placement.node),
  ]);
  return [...missingNode, ...bindings, ...provisions];
}

/**
 * The parts of a placement that the cluster does not show yet. Until the claim names its volume, only the reservation knows which
 * volume the pod will attach.
 */
export function unconfirmedParts(index: ClusterIndex, placement: Placement): string[] {
  const bindings = placement.bindings.flatMap((binding) => unconfirmedBinding(index, binding));
  const provisions = placement.provisions.flatMap(({ claim: key, claimUid }) => {
    const claim = index.claims.get(key);
    const isShown = claim?.uid === claimUid && (claim.isBound || claim.selectedNode === placement.node);
    return isShown
      ? []
      : [`PersistentVolumeClaim ${key}: has neither a volume nor node ${placement.node} selected`];
  });
  const isAssigned = index.pods.stored(placement.pod.key)?.nodeName === placement.node;
  const pod = isAssigned ? [] : [`Pod ${placement.pod.key}: is not assigned to ${placement.node}`];
  return [...bindings, ...provisions, ...pod];
}

function unconfirmedBinding(index: ClusterIndex, { volume, claim: key, claimUid }: ClaimBinding): string[] {
  const missing: string[] = [];
  const reference = index.volumes.get(volume)?.claim;
  if (reference?.claimKey !== key || reference.uid !== claimUid) {
    missing.push(`PersistentVolume ${volume}: spec.claimRef does not name ${key}`);
  }
  const claim = index.claims.get(key);
  if (claim?.uid !== claimUid || claim.volumeName !== volume) {
    missing.push(`PersistentVolumeClaim ${key}: spec.volumeName is not ${volume}`);
  }
  return missing;
}

interface ClaimDecision {
  readonly claim: string;
  readonly claimUid: string;
  readonly claimVersion: string;
}

function claimConflicts(
  index: ClusterIndex,
  { claim: key, claimUid, claimVersion }: ClaimDecision,
): ReservationConflict[] {
  const object = `PersistentVolumeClaim ${key}`;
  const claim = index.claims.get(key);
  if (claim === undefined) return [{ object, problem: 'is gone' }];
  if (claim.uid !== claimUid) return [{ object, problem: 'is another object of the same name' }];
  if (claim.version !== claimVersion) return [outOfSync(object, claim.version, claimVersion)];
  return [];
}

function volumeConflicts(
  index: ClusterIndex,
  binding: ClaimBinding,
  node: NodeRow | undefined,
): ReservationConflict[] {
  const { volume: name, volumeVersion, claim, requested } = binding;
  const object = `PersistentVolume ${name}`;
  const row = index.volumes.row(name);
  if (row === undefined) return [{ object, problem: 'is gone' }];
  const volume = index.volumes.record(row);
  if (volume.version !== volumeVersion) return [outOfSync(object, volume.version, volumeVersion)];
  const holder = index.volumes.holderOf(name) ?? volume.claim?.claimKey;
  if (holder !== undefined && holder !== claim) return [{ object, problem: `is used by ${holder}` }];
  if (holder === undefined && !index.volumes.isFree(row)) {
    return [{ object, problem: `is not free: its phase is ${volume.phase}` }];
  }
  if (compareSizes(volume.size, requested) < 0) return [{ object, problem: 'is smaller than the request' }];
  if (node !== undefined && !index.volumes.topology(row).nodes.has(node))
    return [{ object, problem: 'can no longer be reached from the node' }];
  return otherReservation(index, claim, { volume: name, node: undefined });
}

function provisionConflicts(
  index: ClusterIndex,
  { claim, className }: Provision,
  nodeName: string,
): ReservationConflict[] {
  const node = index.nodes.row(nodeName);
  if (node !== undefined && !index.allowedTopology(className).nodes.has(node)) {
    return [{ object: `StorageClass ${className}`, problem: 'no longer allows the node' }];
  }
  return otherReservation(index, claim, { volume: undefined, node: nodeName });
}

interface ReservedFor {
  readonly volume: string | undefined;
  readonly node: string | undefined;
}

/** Pods that share a claim share its reservation. A claim can't have two different reservations. */
function otherReservation(
  index: ClusterIndex,
  claim: string,
  { volume, node }: ReservedFor,
): ReservationConflict[] {
  const object = `PersistentVolumeClaim ${claim}`;
  const held = index.volumes.heldFor(claim);
  if (held !== undefined && held.key !== volume) return [{ object, problem: `is reserved for ${held.key}` }];
  const promised = index.promises.get(claim);
  if (promised !== undefined && promised.reservations > 0 && promised.nodeName !== node) {
    return [{ object, problem: `is being provisioned for ${promised.nodeName}` }];
  }
  return [];
}

function outOfSync(object: string, stored: string, planned: string): ReservationConflict {
  return { object, problem: `is out of sync (stored: ${stored}, planned: ${planned})` };
}
