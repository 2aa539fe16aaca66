import type { ContainerStatus, Pod } from '../../../../kube/api/stored/core.ts';
import { parseTimestamp } from '../../../../kube/go/timestamp.ts';
import { isFinished } from '../../../../kube/pods.ts';
import type { RowCondition, RowContext, TableCell, TableColumn } from '../../served-kind.ts';
import { age, ageColumn, humanDuration, nameColumn, noneCell, orNone } from '../../table-cells.ts';
import { isSidecar } from './pod-resources.ts';

export const podColumns: readonly TableColumn[] = [
  nameColumn,
  { name: 'Ready', type: 'string' },
  { name: 'Status', type: 'string' },
  { name: 'Restarts', type: 'string' },
  ageColumn,
  { name: 'IP', type: 'string', priority: 1 },
  { name: 'Node', type: 'string', priority: 1 },
  { name: 'Nominated Node', type: 'string', priority: 1 },
  { name: 'Readiness Gates', type: 'string', priority: 1 },
];

/** Clients use this condition to hide finished pods. */
export function podRowConditions({ status }: Pod): readonly RowCondition[] | undefined {
  const message = endings.get(status.phase ?? '');
  if (message === undefined) return undefined;
  return [{ type: 'Completed', status: 'True', reason: status.phase ?? '', message }];
}

const endings: ReadonlyMap<string, string> = new Map([
  ['Succeeded', 'The pod has completed successfully.'],
  ['Failed', 'The pod failed.'],
]);

export function podRow(pod: Pod, context: RowContext): readonly TableCell[] {
  const { metadata, spec, status } = pod;
  const summary = summarize(pod);
  const sidecars = (spec.initContainers ?? []).filter(isSidecar).length;
  return [
    metadata.name ?? '',
    `${summary.ready}/${(spec.containers?.length ?? 0) + sidecars}`,
    statusOf(pod, summary),
    restartsCell(summary, context.nowMs),
    age(pod, context),
    orNone(status.podIPs?.[0]?.ip ?? ''),
    orNone(spec.nodeName ?? ''),
    orNone(status.nominatedNodeName ?? ''),
    readinessGates(pod),
  ];
}

/** A summary of the container statuses. */
interface Summary {
  readonly ready: number;
  readonly reason: string;
  readonly restarts: number;
  /** When a restarted container last terminated. */
  readonly lastEndMs: number | undefined;
}

interface Restarts {
  readonly restarts: number;
  readonly lastEndMs: number | undefined;
}

interface InitSummary {
  readonly ready: number;
  /** Set while init containers are not done. */
  readonly reason: string | undefined;
  readonly seen: readonly ContainerStatus[];
}

function summarize(pod: Pod): Summary {
  const { spec, status } = pod;
  const init = summarizeInit(pod);
  const initialized = hasCondition(pod, 'Initialized');
  if (init.reason !== undefined && !initialized) {
    return { ready: init.ready, reason: init.reason, ...restartsOf(init.seen) };
  }
  const statuses = status.containerStatuses ?? [];
  const sidecars = new Set((spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  const counted = [...init.seen.filter(({ name }) => sidecars.has(name)), ...statuses];
  const ready = statuses.filter(isReady).length;
  const reason = runningReason(pod, init.reason ?? phaseReason(pod));
  return { ready: init.ready + ready, reason, ...restartsOf(counted) };
}

/** Stops at the first init container that blocks the pod. */
function summarizeInit({ spec, status }: Pod): InitSummary {
  const containers = spec.initContainers ?? [];
  const sidecars = new Set(containers.filter(isSidecar).map(({ name }) => name));
  const seen: ContainerStatus[] = [];
  let ready = 0;
  for (const [index, container] of (status.initContainerStatuses ?? []).entries()) {
    const { terminated, waiting } = container.state ?? {};
    seen.push(container);
    if (terminated?.exitCode === 0) continue;
    if (sidecars.has(container.name) && container.started) {
      if (container.ready) ready++;
      continue;
    }
    if (terminated) return { ready, seen, reason: `Init:${endReason(container)}` };
    if (waiting?.reason && waiting.reason !== 'PodInitializing') {
      return { ready, seen, reason: `Init:${waiting.reason}` };
    }
    return { ready, seen, reason: `Init:${index}/${containers.length}` };
  }
  return { ready, seen, reason: undefined };
}

function phaseReason({ status }: Pod): string {
  const isGated = status.conditions?.some(
    ({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated',
  );
  return isGated ? 'SchedulingGated' : status.reason || (status.phase ?? '');
}

/**
 * The first container that waits or has terminated determines the reason. A completed container does not hide that
 * others run.
 */
function runningReason(pod: Pod, before: string): string {
  const statuses = pod.status.containerStatuses ?? [];
  const decisive = statuses.find(({ state }) => state?.waiting?.reason || state?.terminated);
  const reason = decisive === undefined ? before : decisive.state.waiting?.reason || endReason(decisive);
  if (reason !== 'Completed') return reason;
  const hasRunning = statuses.some(isReady);
  if (hasRunning && hasCondition(pod, 'Ready')) return 'Running';
  const failed = statuses.find(({ state }) => !state?.waiting?.reason && state?.terminated?.exitCode);
  if (failed) return endReason(failed);
  return hasRunning ? 'NotReady' : reason;
}

function statusOf(pod: Pod, { reason }: Summary): string {
  if (pod.metadata.deletionTimestamp === undefined) return reason;
  if (pod.status.reason === 'NodeLost') return 'Unknown';
  return isFinished(pod) ? reason : 'Terminating';
}

function restartsOf(statuses: readonly ContainerStatus[]): Restarts {
  let restarts = 0;
  let lastEndMs: number | undefined;
  for (const { restartCount, lastState } of statuses) {
    restarts += restartCount;
    const endMs = parseTimestamp(lastState?.terminated?.finishedAt);
    if (endMs !== undefined && (lastEndMs === undefined || endMs > lastEndMs)) lastEndMs = endMs;
  }
  return { restarts, lastEndMs };
}

function restartsCell({ restarts, lastEndMs }: Restarts, nowMs: number): string {
  if (restarts === 0 || lastEndMs === undefined) return String(restarts);
  return `${restarts} (${humanDuration(nowMs - lastEndMs)} ago)`;
}

function endReason({ state }: ContainerStatus): string {
  const { reason, signal = 0, exitCode = 0 } = state.terminated ?? {};
  if (reason) return reason;
  return signal === 0 ? `ExitCode:${exitCode}` : `Signal:${signal}`;
}

/** Ready and running, and neither waiting nor terminated. */
function isReady({ ready, state }: ContainerStatus): boolean {
  return ready && state?.running !== undefined && !state.waiting?.reason && !state.terminated;
}

function hasCondition({ status }: Pod, conditionType: string): boolean {
  return (
    status.conditions?.some(({ type, status: value }) => type === conditionType && value === 'True') ?? false
  );
}

function readinessGates({ spec, status }: Pod): string {
  const gates = spec.readinessGates ?? [];
  if (gates.length === 0) return noneCell;
  const open = gates.filter(({ conditionType }) => {
    const condition = status.conditions?.find(({ type }) => type === conditionType);
    return condition?.status === 'True';
  });
  return `${open.length}/${gates.length}`;
}
