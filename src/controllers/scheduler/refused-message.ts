import { closestMiss } from '../../engine/explain/closest-miss.ts';
import type { ReservationConflict } from '../../engine/ledger/conflicts.ts';
import type { Preemption } from '../../engine/preemption/find-victims.ts';
import type { Refusal } from '../../engine/refusal/refusal.ts';

/** kube-scheduler's words first, as tools read them; then ours. */
export function refusedMessage(refusal: Refusal, preemption: Preemption): string {
  const aboutOthers = preemption.kind === 'none' ? preemption.message : '';
  return [refusal.message, aboutOthers, closestMiss(refusal) ?? ''].filter((text) => text !== '').join(' ');
}

/** What was planned is not there any more. */
export function conflictMessage(conflicts: readonly ReservationConflict[]): string {
  const problems = conflicts.map(({ object, problem }) => `${object} ${problem}`);
  return `the placement could not be reserved: ${problems.join(', ')}`;
}
