/** Re-exports of upper layers. Tests of a lower layer that run the whole engine import them from here. */
export { closestMiss } from '../explain/closest-miss.ts';
export { Ledger, type Reservation } from '../ledger/ledger.ts';
export { plan } from '../plan.ts';
export type { Refusal } from '../refusal/refusal.ts';
export { interestOf } from '../waking/interest.ts';
