import { closestMiss } from '../../engine/explain/closest-miss.ts';
import type { ReservationConflict } from '../../engine/ledger/conflicts.ts';
import type { Preemption } from '../../engine/preemption/find-victims.ts';
import type { Refusal } from '../../engine/refusal/refusal.ts';

/** kube-scheduler's own message comes first, because tools parse it; then the closest miss. */
export function refusedMessage(refusal: Refusal, preemption: Preemption): string {
  const preemptionMessage = preemption.kind === 'none' ? preemption.message : '';
  return [refusal.message, preemptionMessage, closestMiss(refusal) ?? '']
    .filter((text) => text !== '')
    .join(' ');
}

/** The planned objects have changed since. */
export function conflictMessage(conflicts: readonly ReservationConflict[]): string {
  const problems = conflicts.map(({ object, problem }) => `${object} ${problem}`);
  return `the placement could not be reserved: ${problems.join(', ')}`;
}
