import { type ApiError, failure } from '../../../kube/api-error.ts';

/**
 * The group that `kubectl top` asks for. Discovery names it, without resources: other clients, such as garbage collectors, list what
 * discovery names, and there is nothing to list. Requests for metrics get an error that says that pods are simulated; without the group,
 * kubectl would report that the Metrics API is not available, as if something had to be installed.
 */
export const metricsGroup = { group: 'metrics.k8s.io', version: 'v1beta1' } as const;

/** The plural names of what has metrics in a real cluster. */
export const measuredPlurals: ReadonlySet<string> = new Set(['nodes', 'pods']);

export function noMetricsError(plural: string): ApiError {
  const missing =
    plural === 'nodes' ? 'there is no kubelet that measures' : 'there are no containers to measure';
  return failure(501, undefined, `${plural} of this cluster are simulated: ${missing}`, {});
}
