import type { NearbyVolumesCache } from './nearby-volumes.ts';
import type { VolumeNeeds } from './needs.ts';
import type { Solution } from './solution.ts';

/** What the rule remembers between its steps. */
export interface BindingState {
  readonly needs: VolumeNeeds;
  readonly solution: Solution;
  /** For explanations only. */
  readonly nearby: NearbyVolumesCache;
}
