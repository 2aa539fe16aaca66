import type { Int64 } from '../../../../kube/api/stored/meta.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { checkNonNegative } from '../../../validation/quantities.ts';

/** The counters of a status. */
type Counts<Name extends string> = Readonly<Partial<Record<Name, Int64 | undefined>>>;

/** None of the named counters may be negative. They are checked in the given order. */
export function checkCounts<Name extends string>(
  errors: FieldErrors,
  status: Counts<Name>,
  names: readonly Name[],
): void {
  for (const name of names) checkNonNegative(errors, `status.${name}`, status[name] ?? 0);
}

/** The named counters must not exceed `limit`, which the message calls `limitName`. */
export function checkAtMost<Name extends string>(
  errors: FieldErrors,
  status: Counts<Name>,
  names: readonly Name[],
  limit: Name,
  limitName = `status.${limit}`,
): void {
  for (const name of names) {
    const count = status[name] ?? 0;
    if (count > (status[limit] ?? 0)) {
      errors.invalid(`status.${name}`, count, `cannot be greater than ${limitName}`);
    }
  }
}

interface Colliding {
  readonly collisionCount?: number | undefined;
}

/** The names of revisions depend on the collision count, so it must not decrease. */
export function checkCollisions(errors: FieldErrors, status: Colliding, old: Colliding): void {
  const { collisionCount: count = -1 } = status;
  if (old.collisionCount !== undefined && count < old.collisionCount) {
    errors.invalid('status.collisionCount', Math.max(count, 0), 'cannot be decremented');
  }
}

type ReplicaCount =
  | 'replicas'
  | 'fullyLabeledReplicas'
  | 'readyReplicas'
  | 'availableReplicas'
  | 'observedGeneration'
  | 'terminatingReplicas';

/** The status of ReplicaSets and ReplicationControllers. */
export function checkReplicaCounts(errors: FieldErrors, status: Counts<ReplicaCount>): void {
  checkCounts(errors, status, [
    'replicas',
    'fullyLabeledReplicas',
    'readyReplicas',
    'availableReplicas',
    'observedGeneration',
    'terminatingReplicas',
  ]);
  checkAtMost(errors, status, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'], 'replicas');
  checkAtMost(errors, status, ['availableReplicas'], 'readyReplicas', 'readyReplicas');
}
