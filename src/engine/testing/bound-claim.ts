/** A pod whose claim, `data`, is bound already: nothing is left to decide but the node. */
import type { NodeSelectorTerm, PersistentVolume, PersistentVolumeClaim } from '../../kube/api/core.ts';
import type { PlanOutcome } from './cluster.ts';
import { boundClaim, volume } from './objects.ts';

/** Reachable where one of the terms holds; without terms, from everywhere. */
export function boundVolume(name: string, ...terms: readonly NodeSelectorTerm[]): PersistentVolume {
  return volume(name, '1Gi', { phase: 'Bound', ...(terms.length > 0 && { terms }) });
}

export function dataClaimOf(volumeName: string): PersistentVolumeClaim {
  return boundClaim('data', '1Gi', volumeName);
}

export function placedOn(nodeName: string): PlanOutcome {
  return { node: nodeName, volumes: {}, pools: {} };
}
