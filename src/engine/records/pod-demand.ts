import { podLoadForScore, podRequests, podRequestsForScore } from '../../kube/quantities/pod-requests.ts';
import type { ResourceAmounts } from '../../kube/quantities/resource-amounts.ts';
import { memoByShape } from './pod-shape.ts';

/** What a pod asks of a node that it isn't on yet. */
export interface PodDemand {
  readonly requests: ResourceAmounts;
  /** For ranking nodes. */
  readonly scored: ResourceAmounts;
}

/** What a pod takes of the node that it is on. */
export interface PodUsage {
  readonly requests: ResourceAmounts;
  readonly scored: ResourceAmounts;
}

export const podDemandOf = memoByShape<PodDemand>((spec) => ({
  requests: podRequests(spec),
  scored: podRequestsForScore(spec),
}));

export const podUsageOf = memoByShape<PodUsage>((spec) => ({
  requests: podRequests(spec, spec.granted),
  scored: podLoadForScore(spec, spec.granted),
}));
