import { diskInvariants } from './disks.ts';
import type { Invariant } from './invariant.ts';
import { podsKeepTheirNode, podsReachTheirVolumes, runningPodsHaveTheirVolumes } from './pods.ts';
import {
  boundClaimsOwnTheirVolume,
  claimRefsAreReplacedOnlyWhenReleased,
  volumeServesOneClaim,
  volumesInUseStay,
} from './volumes.ts';

/** Invariants of every stored version in any cluster, whatever runs there. */
export const clusterInvariants: readonly Invariant[] = [
  volumeServesOneClaim,
  boundClaimsOwnTheirVolume,
  claimRefsAreReplacedOnlyWhenReleased,
  volumesInUseStay,
  podsReachTheirVolumes,
  runningPodsHaveTheirVolumes,
  podsKeepTheirNode,
  ...diskInvariants,
];
