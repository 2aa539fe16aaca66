import type {
  Container,
  ContainerState,
  ContainerStatus,
  Node,
  Pod,
  PodCondition,
  PodStatus,
} from '../../../../kube/api/core.ts';
import type { Int64 } from '../../../../kube/api/meta.ts';
import { getCondition, setCondition } from '../../../../kube/conditions.ts';
import { formatTimestamp } from '../../../../kube/go/timestamp.ts';
import type { AdmissionFailure } from './admission.ts';
import { backOffReason } from './pod-lifecycle.ts';
import { probedContainers, probeResult } from './probes.ts';

/** The status that a kubelet writes: our own types omit fields that only users read. */
export interface WrittenStatus extends Omit<PodStatus, 'conditions'> {
  readonly hostIPs?: readonly { readonly ip: string }[];
  /** Null removes all of them. */
  readonly conditions?: readonly PodCondition[] | null;
}

/**
 * The pod's volumes do not exist yet, or containers cannot be created: `configErrors` has the reasons by the name of the container.
 */
export function waitingStatus(
  pod: Pod,
  nowMs: number,
  configErrors: ReadonlyMap<string, string> = new Map(),
): WrittenStatus {
  const containers = pod.spec?.containers ?? [];
  const unready = notReady(containers.map(({ name = '' }) => name));
  const containerStatuses = containers.map((container) => {
    const message = configErrors.get(container.name ?? '');
    const waiting =
      message === undefined
        ? { reason: 'ContainerCreating' }
        : { reason: 'CreateContainerConfigError', message };
    return statusOf(container, { waiting }, { started: false, ready: false });
  });
  return {
    ...common(pod, nowMs),
    phase: 'Pending',
    containerStatuses,
    conditions: conditionsOf(pod, nowMs, [
      { type: 'PodReadyToStartContainers', status: 'False' },
      { type: 'Initialized', status: 'True' },
      { type: 'Ready', ...unready },
      { type: 'ContainersReady', ...unready },
      { type: 'PodScheduled', status: 'True' },
    ]),
  };
}

/** The node rejects it. Conditions that do not belong to a kubelet stay. */
export function rejectedStatus(
  pod: Pod,
  { reason, message }: AdmissionFailure,
  nowMs: number,
): WrittenStatus {
  const foreign = (pod.status?.conditions ?? []).filter(({ type = '' }) => !kubeletConditions.has(type));
  return {
    ...common(pod, nowMs),
    phase: 'Failed',
    reason,
    message: `Pod was rejected: ${message}`,
    conditions: foreign.length === 0 ? null : foreign,
  };
}

const kubeletConditions: ReadonlySet<string> = new Set([
  'PodScheduled',
  'Ready',
  'Initialized',
  'ContainersReady',
  'PodReadyToStartContainers',
  'PodResizeInProgress',
  'PodResizePending',
]);

/** All of its containers run. */
export function runningStatus(pod: Pod, node: Node, podIP: string, nowMs: number): WrittenStatus {
  const startedAt = formatTimestamp(nowMs);
  const hostIP = addressOf(node);
  const ip = pod.spec?.hostNetwork === true ? (hostIP ?? podIP) : podIP;
  const initContainers = pod.spec?.initContainers ?? [];
  const containerStatuses = (pod.spec?.containers ?? []).map((container) =>
    statusOf(container, { running: { startedAt } }, probeResult(container, nowMs, nowMs)),
  );
  const initContainerStatuses = initStatuses(initContainers, nowMs);
  return {
    ...common(pod, nowMs),
    phase: 'Running',
    ...(hostIP === undefined ? {} : { hostIP, hostIPs: [{ ip: hostIP }] }),
    podIP: ip,
    podIPs: [{ ip }],
    ...(initContainers.length === 0 ? {} : { initContainerStatuses }),
    containerStatuses,
    conditions: runningConditions(pod, [...initContainerStatuses, ...containerStatuses], nowMs),
  };
}

/** The changes in the status of a running pod: results of probes, conditions, the observed generation. Undefined if there are none. */
export function refreshedStatus(pod: Pod, nowMs: number): WrittenStatus | undefined {
  const { spec, status } = pod;
  const main = probedContainers(spec?.containers, status?.containerStatuses, nowMs).statuses;
  const init = probedContainers(spec?.initContainers, status?.initContainerStatuses, nowMs).statuses;
  const conditions = runningConditions(pod, [...init, ...main], nowMs);
  const isChanged = (before: readonly ContainerStatus[] = [], now: readonly ContainerStatus[]) =>
    now.some((container, index) => container !== before[index]);
  const changes = {
    ...(isChanged(status?.containerStatuses, main) ? { containerStatuses: main } : {}),
    ...(isChanged(status?.initContainerStatuses, init) ? { initContainerStatuses: init } : {}),
    ...(conditions === status?.conditions ? {} : { conditions }),
    ...(status?.observedGeneration === pod.metadata?.generation ? {} : observed(pod)),
  };
  return Object.keys(changes).length === 0 ? undefined : changes;
}

/** The current conditions of a running pod; its containers and its readiness gates count. */
function runningConditions(
  pod: Pod,
  statuses: readonly ContainerStatus[],
  nowMs: number,
): readonly PodCondition[] {
  const unready = statuses.filter(({ ready, state }) => ready !== true && state?.terminated === undefined);
  const problem = unready.length === 0 ? undefined : notReady(unready.map(({ name = '' }) => name));
  return conditionsOf(pod, nowMs, [
    { type: 'PodReadyToStartContainers', status: 'True' },
    { type: 'Initialized', status: 'True' },
    problem === undefined ? readyByGates(pod) : { type: 'Ready', ...problem },
    { type: 'ContainersReady', ...(problem ?? { status: 'True' }) },
    { type: 'PodScheduled', status: 'True' },
  ]);
}

function notReady(names: readonly string[]) {
  const message = `containers with unready status: [${names.join(' ')}]`;
  return { status: 'False', reason: 'ContainersNotReady', message } as const;
}

/** Its containers have failed and are restarted: now, or after a back-off. */
export function restartStatus(
  pod: Pod,
  nowMs: number,
  { exitCode, isDelayed }: { readonly exitCode: number; readonly isDelayed: boolean },
): WrittenStatus {
  const now = formatTimestamp(nowMs);
  const containerStatuses = (pod.status?.containerStatuses ?? []).map((container) => {
    const isRunning = container.state?.running !== undefined;
    const lastState = isRunning
      ? { terminated: terminatedOf(container, exitCode, now) }
      : container.lastState;
    const state = isDelayed ? { waiting: { reason: backOffReason } } : { running: { startedAt: now } };
    return {
      ...container,
      ...(lastState === undefined ? {} : { lastState }),
      state,
      ready: !isDelayed,
      started: !isDelayed,
      restartCount: (container.restartCount ?? 0) + (isDelayed ? 0 : 1),
    };
  });
  return {
    ...observed(pod),
    containerStatuses,
    conditions: runningConditions(pod, containerStatuses, nowMs),
  };
}

/** Its active deadline is over: its containers were stopped, or never started. */
export function expiredStatus(pod: Pod, nowMs: number): WrittenStatus {
  return {
    ...finishedStatus(pod, nowMs, 0),
    phase: 'Failed',
    reason: 'DeadlineExceeded',
    message: deadlineMessage,
  };
}

export const deadlineMessage = 'Pod was active on the node longer than the specified deadline';

/** Its containers have ended with this exit code. */
export function finishedStatus(pod: Pod, nowMs: number, exitCode: number): WrittenStatus {
  const finishedAt = formatTimestamp(nowMs);
  const done = { status: 'False', reason: exitCode === 0 ? 'PodCompleted' : 'PodFailed' } as const;
  const containerStatuses = (pod.status?.containerStatuses ?? []).map((container) => {
    const { running, terminated: ended } = container.state ?? {};
    if (running === undefined && ended === undefined) return { ...container, ready: false, started: false };
    const terminated = ended ?? terminatedOf(container, exitCode, finishedAt);
    return { ...container, ready: false, started: false, state: { terminated } };
  });
  return {
    ...observed(pod),
    phase: exitCode === 0 ? 'Succeeded' : 'Failed',
    containerStatuses,
    conditions: conditionsOf(pod, nowMs, [
      { type: 'PodReadyToStartContainers', status: 'False' },
      { type: 'Initialized', status: 'True', reason: 'PodCompleted' },
      { type: 'Ready', ...done },
      { type: 'ContainersReady', ...done },
    ]),
  };
}

function terminatedOf(
  { state }: ContainerStatus,
  exitCode: number,
  finishedAt: string,
): NonNullable<ContainerState['terminated']> {
  const startedAt = state?.running?.startedAt ?? finishedAt;
  return { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', startedAt, finishedAt };
}

function common(pod: Pod, nowMs: number): WrittenStatus {
  return { ...observed(pod), startTime: pod.status?.startTime ?? formatTimestamp(nowMs) };
}

function observed({ metadata }: Pod): { readonly observedGeneration?: Int64 } {
  return metadata?.generation === undefined ? {} : { observedGeneration: metadata.generation };
}

function conditionsOf(pod: Pod, nowMs: number, wanted: readonly PodCondition[]): readonly PodCondition[] {
  const now = formatTimestamp(nowMs);
  let conditions = pod.status?.conditions;
  for (const condition of wanted) {
    const next = { ...condition, ...observed(pod) };
    const current = getCondition(conditions, condition.type ?? '');
    if (current !== undefined && isSame(current, next)) continue;
    conditions = setCondition(conditions, next, now);
  }
  return conditions ?? [];
}

/** Without the message and the times, which do not matter. */
function isSame(one: PodCondition, other: PodCondition): boolean {
  const isSameGeneration = one.observedGeneration === other.observedGeneration;
  return one.status === other.status && one.reason === other.reason && isSameGeneration;
}

function readyByGates({ spec, status }: Pod): PodCondition {
  const problems = (spec?.readinessGates ?? []).flatMap(({ conditionType = '' }) => {
    const gate = getCondition(status?.conditions, conditionType);
    if (gate === undefined)
      return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    if (gate.status === 'True') return [];
    return [`the status of pod readiness gate "${conditionType}" is not "True", but ${gate.status}`];
  });
  if (problems.length === 0) return { type: 'Ready', status: 'True' };
  return { type: 'Ready', status: 'False', reason: 'ReadinessGatesNotReady', message: problems.join(', ') };
}

function statusOf(
  { name = '', image = '' }: Container,
  state: ContainerState,
  { started, ready }: { readonly started: boolean; readonly ready: boolean },
): ContainerStatus {
  return { name, image, imageID: '', restartCount: 0, ready, started, state };
}

/** Sidecars keep running, the others have finished. */
function initStatuses(containers: readonly Container[], nowMs: number): readonly ContainerStatus[] {
  const now = formatTimestamp(nowMs);
  const terminated = { exitCode: 0, reason: 'Completed', startedAt: now, finishedAt: now };
  return containers.map((container) =>
    container.restartPolicy === 'Always'
      ? statusOf(container, { running: { startedAt: now } }, probeResult(container, nowMs, nowMs))
      : statusOf(container, { terminated }, { started: true, ready: true }),
  );
}

function addressOf({ status }: Node): string | undefined {
  return status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
}
