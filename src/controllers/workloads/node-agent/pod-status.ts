import type {
  Container,
  ContainerState,
  ContainerStatus,
  Node,
  Pod,
  PodCondition,
  PodStatus,
} from '../../../kube/api/core.ts';
import { getCondition, setCondition } from '../../../kube/conditions.ts';
import { formatTimestamp } from '../../../kube/go/timestamp.ts';
import type { AdmissionFailure } from './admission.ts';

/** The status that a kubelet writes: our own types omit fields that only people read. */
export interface WrittenStatus extends Omit<PodStatus, 'conditions'> {
  readonly hostIPs?: readonly { readonly ip: string }[];
  /** Null removes all of them. */
  readonly conditions?: readonly PodCondition[] | null;
}

/** The pod's volumes do not exist yet. */
export function waitingStatus(pod: Pod, nowMs: number): WrittenStatus {
  const names = (pod.spec?.containers ?? []).map(({ name }) => name).join(' ');
  const unready = {
    status: 'False',
    reason: 'ContainersNotReady',
    message: `containers with unready status: [${names}]`,
  } as const;
  return {
    ...common(pod, nowMs),
    phase: 'Pending',
    containerStatuses: statusesOf(pod.spec?.containers, { waiting: { reason: 'ContainerCreating' } }, false),
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
  const running = { running: { startedAt: formatTimestamp(nowMs) } };
  const hostIP = addressOf(node);
  const ip = pod.spec?.hostNetwork === true ? (hostIP ?? podIP) : podIP;
  const initContainers = pod.spec?.initContainers ?? [];
  return {
    ...common(pod, nowMs),
    phase: 'Running',
    ...(hostIP === undefined ? {} : { hostIP, hostIPs: [{ ip: hostIP }] }),
    podIP: ip,
    podIPs: [{ ip }],
    ...(initContainers.length === 0 ? {} : { initContainerStatuses: initStatuses(initContainers, nowMs) }),
    containerStatuses: statusesOf(pod.spec?.containers, running, true),
    conditions: runningConditions(pod, nowMs),
  };
}

/** The current conditions of a running pod; readiness gates count. */
export function runningConditions(pod: Pod, nowMs: number): readonly PodCondition[] {
  return conditionsOf(pod, nowMs, [
    { type: 'PodReadyToStartContainers', status: 'True' },
    { type: 'Initialized', status: 'True' },
    readyByGates(pod),
    { type: 'ContainersReady', status: 'True' },
    { type: 'PodScheduled', status: 'True' },
  ]);
}

/** Its containers have ended, with success. */
export function finishedStatus(pod: Pod, nowMs: number): WrittenStatus {
  const finishedAt = formatTimestamp(nowMs);
  const done = { status: 'False', reason: 'PodCompleted' } as const;
  const containerStatuses = (pod.status?.containerStatuses ?? []).map((container) => {
    const startedAt = container.state?.running?.startedAt ?? finishedAt;
    const terminated = { exitCode: 0, reason: 'Completed', startedAt, finishedAt };
    return { ...container, ready: false, started: false, state: { terminated } };
  });
  return {
    phase: 'Succeeded',
    containerStatuses,
    conditions: conditionsOf(pod, nowMs, [
      { type: 'PodReadyToStartContainers', status: 'False' },
      { type: 'Initialized', status: 'True', reason: 'PodCompleted' },
      { type: 'Ready', ...done },
      { type: 'ContainersReady', ...done },
    ]),
  };
}

function common({ metadata, status }: Pod, nowMs: number): WrittenStatus {
  return {
    ...(metadata?.generation === undefined ? {} : { observedGeneration: metadata.generation }),
    startTime: status?.startTime ?? formatTimestamp(nowMs),
  };
}

function conditionsOf(pod: Pod, nowMs: number, wanted: readonly PodCondition[]): readonly PodCondition[] {
  const now = formatTimestamp(nowMs);
  let conditions = pod.status?.conditions;
  for (const condition of wanted) {
    const current = getCondition(conditions, condition.type ?? '');
    if (current !== undefined && isSame(current, condition)) continue;
    conditions = setCondition(conditions, condition, now);
  }
  return conditions ?? [];
}

/** Without the message and the times, which do not matter. */
function isSame(one: PodCondition, other: PodCondition): boolean {
  return one.status === other.status && one.reason === other.reason;
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

function statusesOf(
  containers: readonly Container[] | undefined,
  state: ContainerState,
  ready: boolean,
): readonly ContainerStatus[] {
  return (containers ?? []).map(({ name = '', image = '' }) => ({
    name,
    image,
    imageID: '',
    restartCount: 0,
    ready,
    started: ready,
    state,
  }));
}

/** Sidecars keep running, the others have finished. */
function initStatuses(containers: readonly Container[], nowMs: number): readonly ContainerStatus[] {
  const now = formatTimestamp(nowMs);
  const terminated = { exitCode: 0, reason: 'Completed', startedAt: now, finishedAt: now };
  return containers.flatMap((container) => {
    const isSidecar = container.restartPolicy === 'Always';
    return statusesOf([container], isSidecar ? { running: { startedAt: now } } : { terminated }, true);
  });
}

function addressOf({ status }: Node): string | undefined {
  return status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
}
