import type { Pod, PodSpec, Toleration } from '../../../kube/api/stored/core.ts';
import type { RuntimeClass } from '../../../kube/api/stored/node.ts';
import { type ApiError, forbidden } from '../../../kube/api-error.ts';
import { isSemanticallyEqual } from '../../../kube/deep-equal.ts';
import { findObject, type RegistryContext } from '../context/registry-context.ts';
import { isKind, type WriteAttempt } from './write-attempt.ts';

/** Copies overhead and scheduling constraints from the runtime class to a new pod. */
export function applyRuntimeClass(context: RegistryContext, attempt: WriteAttempt): void {
  const spec = specOfNewPod(attempt);
  const runtimeClass = spec && classOf(context, attempt, spec);
  if (spec === undefined || runtimeClass === undefined) return;
  const overhead = runtimeClass.overhead?.podFixed;
  if (runtimeClass.overhead !== undefined) {
    if (Object.keys(spec.overhead ?? {}).length > 0 && !isSemanticallyEqual(spec.overhead, overhead)) {
      throw overheadMismatch(attempt);
    }
    spec.overhead = overhead;
  }
  if (runtimeClass.scheduling !== undefined) applyScheduling(attempt, spec, runtimeClass.scheduling);
}

/** A pod's overhead must come from its runtime class. */
export function checkOverheadOfClass(context: RegistryContext, attempt: WriteAttempt): void {
  const spec = specOfNewPod(attempt);
  if (spec === undefined) return;
  const runtimeClass = classOf(context, attempt, spec);
  if (runtimeClass?.overhead !== undefined) {
    if (!isSemanticallyEqual(spec.overhead, runtimeClass.overhead.podFixed)) throw overheadMismatch(attempt);
  } else if (spec.overhead !== undefined) {
    throw rejected(attempt, 'Pod Overhead set without corresponding RuntimeClass defined Overhead');
  }
}

function specOfNewPod(attempt: WriteAttempt): PodSpec | undefined {
  if (!isKind(attempt, '', 'Pod') || attempt.operation !== 'CREATE') return undefined;
  return attempt.write.subresource === undefined ? (attempt.object as Pod).spec : undefined;
}

function classOf(context: RegistryContext, attempt: WriteAttempt, spec: PodSpec): RuntimeClass | undefined {
  const name = spec.runtimeClassName;
  const kind = context.kinds.byPlural('node.k8s.io/v1', 'runtimeclasses');
  if (name === undefined || kind === undefined) return undefined;
  const found = findObject(context, kind, { name });
  if (found === undefined) throw rejected(attempt, `RuntimeClass ${JSON.stringify(name)} not found`);
  return found.snapshot.object as RuntimeClass;
}

function applyScheduling(
  attempt: WriteAttempt,
  spec: PodSpec,
  { nodeSelector = {}, tolerations = [] }: NonNullable<RuntimeClass['scheduling']>,
): void {
  for (const [key, value] of Object.entries(nodeSelector)) {
    const own = spec.nodeSelector?.[key];
    if (own === undefined || own === value) continue;
    const conflict = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`;
    throw forbidden(attempt.kind, attempt.object.metadata.name ?? '', conflict);
  }
  if (Object.keys(nodeSelector).length > 0) spec.nodeSelector = { ...spec.nodeSelector, ...nodeSelector };
  const merged = mergedTolerations([...(spec.tolerations ?? []), ...tolerations]);
  if (merged.length > 0) spec.tolerations = merged;
}

/** Drops tolerations that another one covers; of equal ones the first stays. */
function mergedTolerations(all: readonly Toleration[]): Toleration[] {
  const merged: Toleration[] = [];
  for (const [i, toleration] of all.entries()) {
    const later = all.slice(i + 1).filter((other) => !isSemanticallyEqual(other, toleration));
    if (![...merged, ...later].some((other) => covers(other, toleration))) merged.push(toleration);
  }
  return merged;
}

function covers(wide: Toleration, narrow: Toleration): boolean {
  if (isSemanticallyEqual(wide, narrow)) return true;
  const isForAllKeys = (wide.key ?? '') === '' && wide.operator === 'Exists';
  if ((wide.key ?? '') !== (narrow.key ?? '') && !isForAllKeys) return false;
  if ((wide.effect ?? '') !== '' && wide.effect !== narrow.effect) return false;
  if (wide.effect === 'NoExecute' && wide.tolerationSeconds !== undefined) {
    if ((narrow.tolerationSeconds ?? Number.POSITIVE_INFINITY) > wide.tolerationSeconds) return false;
  }
  if (wide.operator === 'Exists') return true;
  return narrow.operator === 'Equal' && (narrow.value ?? '') === (wide.value ?? '');
}

function overheadMismatch(attempt: WriteAttempt): ApiError {
  return rejected(attempt, "Pod's Overhead doesn't match RuntimeClass's defined Overhead");
}

function rejected({ kind, object }: WriteAttempt, why: string): ApiError {
  return forbidden(kind, object.metadata.name ?? '', `pod rejected: ${why}`);
}
