import { type ApiError, failure } from '../../../kube/api-error.ts';

/**
 * The group that `kubectl top` asks for. Requests for metrics get an error that says that pods are simulated; without the group, kubectl
 * would report that the Metrics API is not available, as if something had to be installed.
 */
export const metricsGroup = { group: 'metrics.k8s.io', version: 'v1beta1' } as const;

/**
 * What discovery says about the group: kubectl does not cache a group without resources, and would ask for it with every command. The only
 * verb is `get`, because other clients, such as garbage collectors, list all that discovery calls listable.
 */
export const metricsResources = [
  { name: 'nodes', kind: 'NodeMetrics', namespaced: false },
  { name: 'pods', kind: 'PodMetrics', namespaced: true },
] as const;

export function isMeasured(plural: string): boolean {
  return metricsResources.some(({ name }) => name === plural);
}

export function noMetricsError(plural: string): ApiError {
  const missing =
    plural === 'nodes' ? 'there is no kubelet that measures' : 'there are no containers to measure';
  return failure(501, undefined, `${plural} of this cluster are simulated: ${missing}`, {});
}
