/** The answer that a test counts on. Any other fails the test, with what came instead. */
import { expect } from 'vitest';
import type { Pod } from '../../kube/api/core.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import type { Ledger, Reservation } from '../ledger/ledger.ts';
import { type Placement, plan } from '../plan.ts';
import type { Refusal } from '../refusal/refusal.ts';

export function expectPlacement(index: ClusterIndex, asking: Pod): Placement {
  const answer = plan(asking, index, { nowMs: 0 });
  return answer.kind === 'placement' ? answer : expect.fail(answer.message);
}

export function expectRefusal(index: ClusterIndex, asking: Pod, nowMs = 0): Refusal {
  const answer = plan(asking, index, { nowMs });
  return answer.kind === 'refusal' ? answer : expect.fail(`placed on ${answer.node}`);
}

export function expectReservation(ledger: Ledger, placement: Placement): Reservation {
  const result = ledger.reserve(placement);
  return result.kind === 'reserved' ? result.reservation : expect.fail(JSON.stringify(result.conflicts));
}

/** `fits`, or the message of the refusal: for rules that have a say in whether, and none in where. */
export function verdictOf(index: ClusterIndex, asking: Pod): string {
  const answer = plan(asking, index, { nowMs: 0 });
  return answer.kind === 'placement' ? 'fits' : answer.message;
}
