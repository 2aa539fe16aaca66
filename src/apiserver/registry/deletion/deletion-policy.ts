import { invalid } from '../../../kube/api-error.ts';
import type { ServedKind, StoredObject } from '../../kinds/served-kind.ts';
import { FieldErrors } from '../../validation/field-errors.ts';
import type { DeletionRequest } from '../registry.ts';

const orphanFinalizer = 'orphan';
const foregroundFinalizer = 'foregroundDeletion';

const policies = ['Orphan', 'Background', 'Foreground'] as const;

/** Refuses contradictory options and unknown policies. */
export function checkDeletionRequest({ propagationPolicy, orphanDependents }: DeletionRequest): void {
  const errors = new FieldErrors();
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    errors.invalid(
      'propagationPolicy',
      propagationPolicy,
      'orphanDependents and deletionPropagation cannot be both set',
    );
  }
  if (propagationPolicy !== undefined && !policies.includes(propagationPolicy)) {
    errors.notSupported('propagationPolicy', propagationPolicy, [
      'Foreground',
      'Background',
      'Orphan',
      'nil',
    ]);
  }
  if (!errors.isEmpty) throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors.causes);
}

/**
 * The finalizers that an object needs until the garbage collector has handled its dependents. The request takes
 * precedence over the object's finalizers, and those over the kind's default.
 */
export function dependentsFinalizers(
  kind: ServedKind,
  object: StoredObject,
  request: DeletionRequest,
): readonly string[] {
  const current = object.metadata.finalizers ?? [];
  if (kind.hasNoDependents === true) return current;
  const others = current.filter((name) => name !== orphanFinalizer && name !== foregroundFinalizer);
  const policy = policyOf(kind, current, request);
  if (policy === 'Orphan') return keepOrder(current, [...others, orphanFinalizer]);
  if (policy === 'Foreground') return keepOrder(current, [...others, foregroundFinalizer]);
  return keepOrder(current, others);
}

function policyOf(
  kind: ServedKind,
  finalizers: readonly string[],
  { propagationPolicy, orphanDependents }: DeletionRequest,
): (typeof policies)[number] {
  if (orphanDependents !== undefined) return orphanDependents ? 'Orphan' : 'Background';
  if (propagationPolicy !== undefined) return propagationPolicy;
  if (finalizers.includes(orphanFinalizer)) return 'Orphan';
  if (finalizers.includes(foregroundFinalizer)) return 'Foreground';
  return kind.orphansByDefault === true ? 'Orphan' : 'Background';
}

/** Keeps the current order if the set is the same. */
function keepOrder(current: readonly string[], wanted: readonly string[]): readonly string[] {
  const known = new Set(current);
  const isSame = current.length === wanted.length && wanted.every((name) => known.has(name));
  return isSame ? current : wanted;
}
