import type {
  Pod,
  PodAffinity,
  PodAffinityTerm,
  PodCondition,
  PodStatus,
} from '../../../../kube/api/stored/core.ts';
import type { LabelSelector } from '../../../../kube/api/stored/meta.ts';
import { isFinished } from '../../../../kube/pods.ts';
import { applyAppArmorAnnotations } from './pod-annotations.ts';
import { qosClassOf } from './pod-resources.ts';

/** A new pod waits, has a class by its resources, and selects by its own labels where it asks for that. */
export function preparePod(pod: Pod): void {
  const { spec, metadata } = pod;
  pod.status = { phase: 'Pending', qosClass: qosClassOf(spec) };
  if (spec.schedulingGates?.length) pod.status.conditions = [gatedCondition(metadata.creationTimestamp)];
  const labels = metadata.labels ?? {};
  applyOwnLabels(spec.affinity?.podAffinity, labels);
  applyOwnLabels(spec.affinity?.podAntiAffinity, labels);
  for (const { labelSelector, matchLabelKeys } of spec.topologySpreadConstraints ?? []) {
    addExpressions(labelSelector, matchLabelKeys, 'In', labels);
  }
  applyAppArmorAnnotations(pod);
}

/** What /status may not touch. Old kubelets forget fields that they do not know; those stay as they were. */
export function preparePodStatus(pod: Pod, old: Pod): void {
  pod.spec = old.spec;
  pod.metadata.deletionTimestamp = undefined;
  pod.metadata.ownerReferences = old.metadata.ownerReferences;
  pod.status.qosClass ||= old.status.qosClass;
  pod.status.observedGeneration ||= old.status.observedGeneration;
  keepConditionGenerations(pod, old);
  dropDisabledStatus(pod.status);
}

/** How long a pod that is deleted may take to stop. One that never started, or has stopped, needs no time. */
export function podGraceSeconds(pod: Pod, requested: number | undefined): number {
  const { spec } = pod;
  if (!spec.nodeName || isFinished(pod)) return 0;
  const seconds = requested ?? spec.terminationGracePeriodSeconds ?? 0;
  return seconds < 0 ? 1 : seconds;
}

function gatedCondition(now: string | undefined): PodCondition {
  return {
    type: 'PodScheduled',
    status: 'False',
    lastProbeTime: null,
    lastTransitionTime: now ?? null,
    reason: 'SchedulingGated',
    message: 'Scheduling is blocked due to non-empty scheduling gates',
  };
}

function applyOwnLabels(affinity: PodAffinity | undefined, labels: Readonly<Record<string, string>>): void {
  const preferred = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const required = affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const terms: PodAffinityTerm[] = [...preferred.map((weighted) => weighted.podAffinityTerm), ...required];
  for (const { labelSelector, matchLabelKeys, mismatchLabelKeys } of terms) {
    addExpressions(labelSelector, matchLabelKeys, 'In', labels);
    addExpressions(labelSelector, mismatchLabelKeys, 'NotIn', labels);
  }
}

/** Without a selector nothing is selected, so there is nothing to narrow. */
function addExpressions(
  selector: LabelSelector | undefined,
  keys: readonly string[] = [],
  operator: 'In' | 'NotIn',
  labels: Readonly<Record<string, string>>,
): void {
  if (selector === undefined) return;
  for (const key of keys) {
    const value = labels[key];
    if (value === undefined) continue;
    selector.matchExpressions = [...(selector.matchExpressions ?? []), { key, operator, values: [value] }];
  }
}

/** DRANodeAllocatableResources and ImageVolumeWithDigest, which are off by default in 1.36. */
function dropDisabledStatus(status: PodStatus): void {
  delete status.nodeAllocatableResourceClaimStatuses;
  for (const list of ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'] as const) {
    for (const { volumeMounts } of status[list] ?? []) {
      for (const mount of volumeMounts ?? []) delete mount.volumeStatus;
    }
  }
}

/** Of a type that stands there more than once, each in its turn. */
function keepConditionGenerations(pod: Pod, old: Pod): void {
  const left = [...(old.status.conditions ?? [])];
  for (const condition of pod.status.conditions ?? []) {
    const index = left.findIndex(({ type }) => type === condition.type);
    const [before] = index < 0 ? [] : left.splice(index, 1);
    const generation = condition.observedGeneration || before?.observedGeneration;
    if (generation) condition.observedGeneration = generation;
  }
}
