import { podLoadForScore, podRequests, podRequestsForScore } from '../../../kube/quantities/pod-requests.ts';
import type { ResourceAmounts } from '../../../kube/quantities/resource-amounts.ts';
import { memoByShape } from './pod-shape.ts';

/** The resources that a pending pod requests. */
export interface PodDemand {
  readonly requests: ResourceAmounts;
  /** For scoring nodes: with defaults for containers without requests. */
  readonly scored: ResourceAmounts;
}

/** The resources that a pod uses on its node: the resources that the kubelet granted may differ from the requests. */
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
