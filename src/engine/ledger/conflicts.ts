import type { ClusterIndex } from '../index/cluster-index.ts';
import type { Placement } from '../plan.ts';
import type { Binding } from '../rules/decisions.ts';

/** Something that is not as the plan saw it. */
export interface Conflict {
  /** Kind and name. */
  readonly object: string;
  readonly problem: string;
}

/** What speaks against a placement now: objects that have changed, vanished, or been taken since it was made. */
export function conflictsOf(index: ClusterIndex, placement: Placement): Conflict[] {
  const conflicts: Conflict[] = [];
  if (index.nodes.row(placement.node) === undefined)
    conflicts.push({ object: `Node ${placement.node}`, problem: 'is gone' });
  for (const decision of [...placement.bindings, ...placement.provisions]) {
    conflicts.push(...claimConflicts(index, decision));
  }
  for (const binding of placement.bindings) conflicts.push(...volumeConflicts(index, binding));
  return conflicts;
}

/** What the cluster does not show yet of a placement that is being carried out. */
export function unconfirmedParts(index: ClusterIndex, placement: Placement): string[] {
  const missing: string[] = [];
  for (const { volume, claim, claimUid } of placement.bindings) {
    const reference = index.volumes.get(volume)?.claim;
    if (reference?.claimKey !== claim || reference.uid !== claimUid) {
      missing.push(`PersistentVolume ${volume}: spec.claimRef does not name ${claim}`);
    }
  }
  for (const { claim: key } of placement.provisions) {
    const claim = index.claims.get(key);
    if (claim?.isBound !== true && claim?.selectedNode !== placement.node) {
      missing.push(`PersistentVolumeClaim ${key}: has neither a volume nor node ${placement.node} selected`);
    }
  }
  if (index.pods.stored(placement.pod.key)?.nodeName !== placement.node) {
    missing.push(`Pod ${placement.pod.key}: is not assigned to ${placement.node}`);
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
): Conflict[] {
  const object = `PersistentVolumeClaim ${key}`;
  const claim = index.claims.get(key);
  if (claim === undefined) return [{ object, problem: 'is gone' }];
  if (claim.uid !== claimUid) return [{ object, problem: 'is another object of the same name' }];
  if (claim.version !== claimVersion) return [outOfSync(object, claim.version, claimVersion)];
  return [];
}

function volumeConflicts(index: ClusterIndex, { volume: name, volumeVersion, claim }: Binding): Conflict[] {
  const object = `PersistentVolume ${name}`;
  const volume = index.volumes.get(name);
  if (volume === undefined) return [{ object, problem: 'is gone' }];
  if (volume.version !== volumeVersion) return [outOfSync(object, volume.version, volumeVersion)];
  const holder = index.volumes.holderOf(name) ?? volume.claim?.claimKey;
  if (holder !== undefined && holder !== claim) return [{ object, problem: `is taken by ${holder}` }];
  if (holder === undefined && !index.volumes.isOffered(index.volumes.row(name)!)) {
    return [{ object, problem: `is not free: its phase is ${volume.phase}` }];
  }
  return [];
}

function outOfSync(object: string, stored: string, planned: string): Conflict {
  return { object, problem: `is out of sync (stored: ${stored}, planned: ${planned})` };
}
