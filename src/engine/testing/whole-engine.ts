/** Tests of a lower layer that drive it through the whole engine import the upper layers from here. */
export { Ledger, type Reservation } from '../ledger/ledger.ts';
export { plan } from '../plan.ts';
export type { Refusal } from '../refusal/refusal.ts';
export { interestOf } from '../waking/interest.ts';
