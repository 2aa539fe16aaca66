import type {
  Pod,
  PodAffinity,
  PodAffinityTerm,
  PodCondition,
  PodStatus,
} from '../../../../kube/api/stored/core.ts';
import type { Int64, LabelSelector } from '../../../../kube/api/stored/meta.ts';
import { isFinished } from '../../../../kube/pods.ts';
import { applyAppArmorAnnotations } from './pod-annotations.ts';
import { qosClassOf } from './pod-resources.ts';

/** Sets the initial status and QoS class of a new pod, and resolves `matchLabelKeys` to the pod's own labels. */
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

/**
 * Restores what a write to /status may not change. Old kubelets drop fields that they do not know; these fields keep
 * their values.
 */
export function preparePodStatus(pod: Pod, old: Pod): void {
  pod.spec = old.spec;
  pod.metadata.deletionTimestamp = undefined;
  pod.metadata.ownerReferences = old.metadata.ownerReferences;
  pod.status.qosClass ||= old.status.qosClass;
  pod.status.observedGeneration ||= old.status.observedGeneration;
  keepConditionGenerations(pod, old);
  dropDisabledStatus(pod.status);
}

/** The grace period of a deletion. A pod without a node and a pod that has finished get none. */
export function podGraceSeconds(pod: Pod, requested: Int64 | undefined): Int64 {
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

/** A term without a selector selects nothing, so it gets no expressions. */
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

/**
 * Fields of the feature gates DRANodeAllocatableResources and ImageVolumeWithDigest, which are off by default in 1.36.
 */
function dropDisabledStatus(status: PodStatus): void {
  delete status.nodeAllocatableResourceClaimStatuses;
  for (const list of ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'] as const) {
    for (const { volumeMounts } of status[list] ?? []) {
      for (const mount of volumeMounts ?? []) delete mount.volumeStatus;
    }
  }
}

/** Conditions of the same type are matched in their order. */
function keepConditionGenerations(pod: Pod, old: Pod): void {
  const left = [...(old.status.conditions ?? [])];
  for (const condition of pod.status.conditions ?? []) {
    const index = left.findIndex(({ type }) => type === condition.type);
    const [before] = index < 0 ? [] : left.splice(index, 1);
    const generation = condition.observedGeneration || before?.observedGeneration;
    if (generation) condition.observedGeneration = generation;
  }
}
