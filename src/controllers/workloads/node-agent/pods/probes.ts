import type { Container, ContainerStatus, Pod, Probe } from '../../../../kube/api/core.ts';
import { parseTimestamp } from '../../../../kube/go/timestamp.ts';

/** The result of a container's probes. Simulated probes always succeed, but not before their initial delay is over. */
export interface ProbeResult {
  readonly started: boolean;
  readonly ready: boolean;
  /** When the next probe succeeds; undefined if all have. */
  readonly nextMs: number | undefined;
}

/** A kubelet starts readiness probes only after the startup probe; both delays count from the start of the container. */
export function probeResult(container: Container, startedMs: number, nowMs: number): ProbeResult {
  const startupMs = startedMs + delayMs(container.startupProbe);
  const readyMs = Math.max(startupMs, startedMs + delayMs(container.readinessProbe));
  const next = [startupMs, readyMs].find((time) => time > nowMs);
  return { started: startupMs <= nowMs, ready: readyMs <= nowMs, nextMs: next };
}

/** The container statuses of a pod with the present results of their probes, and when the next result changes. */
export function probedContainers(
  containers: readonly Container[] | undefined,
  statuses: readonly ContainerStatus[] | undefined,
  nowMs: number,
): { readonly statuses: readonly ContainerStatus[]; readonly nextMs: number | undefined } {
  let nextMs: number | undefined;
  const probed = (statuses ?? []).map((status) => {
    const container = containers?.find(({ name }) => name === status.name);
    const startedMs = parseTimestamp(status.state?.running?.startedAt);
    if (container === undefined || startedMs === undefined) return status;
    const result = probeResult(container, startedMs, nowMs);
    if (result.nextMs !== undefined) nextMs = Math.min(nextMs ?? result.nextMs, result.nextMs);
    const { started, ready } = result;
    return status.ready === ready && status.started === started ? status : { ...status, started, ready };
  });
  return { statuses: probed, nextMs };
}

/** When the next probe of a running pod succeeds; undefined if all have. */
export function nextProbeMs({ spec, status }: Pod, nowMs: number): number | undefined {
  const main = probedContainers(spec?.containers, status?.containerStatuses, nowMs).nextMs;
  const sidecars = probedContainers(spec?.initContainers, status?.initContainerStatuses, nowMs).nextMs;
  const times = [main, sidecars].filter((time) => time !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}

function delayMs(probe: Probe | undefined): number {
  return (probe?.initialDelaySeconds ?? 0) * 1000;
}
