import type { NearbyVolumesCache } from './nearby-volumes.ts';
import type { VolumeNeeds } from './needs.ts';
import type { Solution } from './solution.ts';

/** The state of the rule between its calls. */
export interface BindingState {
  readonly needs: VolumeNeeds;
  readonly solution: Solution;
  /** For explanations only. */
  readonly nearby: NearbyVolumesCache;
}
