/** Functions that return the expected kind of answer. Any other answer fails the test with a message that shows it. */
import { expect } from 'vitest';
import type { Pod } from '../../kube/api/core.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import type { Ledger, Reservation } from '../ledger/ledger.ts';
import { type Placement, plan } from '../plan.ts';
import type { Refusal } from '../refusal/refusal.ts';

export function expectPlacement(index: ClusterIndex, pod: Pod): Placement {
  const answer = plan(pod, index, { nowMs: 0 });
  return answer.kind === 'placement' ? answer : expect.fail(answer.message);
}

export function expectRefusal(index: ClusterIndex, pod: Pod, nowMs = 0): Refusal {
  const answer = plan(pod, index, { nowMs });
  return answer.kind === 'refusal' ? answer : expect.fail(`placed on ${answer.node}`);
}

export function expectReservation(ledger: Ledger, placement: Placement): Reservation {
  const result = ledger.reserve(placement);
  return result.kind === 'reserved' ? result.reservation : expect.fail(JSON.stringify(result.conflicts));
}

/** `fits`, or the message of the refusal: for tests where the chosen node doesn't matter. */
export function verdictOf(index: ClusterIndex, pod: Pod): string {
  const answer = plan(pod, index, { nowMs: 0 });
  return answer.kind === 'placement' ? 'fits' : answer.message;
}
