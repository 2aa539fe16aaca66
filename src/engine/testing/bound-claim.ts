/** Objects for a pod whose claim `data` is already bound, so that only the node is decided. */
import type { NodeSelectorTerm, PersistentVolume, PersistentVolumeClaim } from '../../kube/api/core.ts';
import type { PlanOutcome } from './cluster.ts';
import { boundClaim, volume } from './objects.ts';

/** A bound volume. The nodes where one of the terms holds reach it; without terms every node does. */
export function boundVolume(name: string, ...terms: readonly NodeSelectorTerm[]): PersistentVolume {
  return volume(name, '1Gi', { phase: 'Bound', ...(terms.length > 0 && { terms }) });
}

export function dataClaimOf(volumeName: string): PersistentVolumeClaim {
  return boundClaim('data', '1Gi', volumeName);
}

export function placedOn(nodeName: string): PlanOutcome {
  return { node: nodeName, volumes: {}, pools: {} };
}
