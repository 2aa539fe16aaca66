import type { ReservationsAnswer } from '../wire/answers.ts';
import { distinct } from './combined-queue.ts';

/** Reservations of several namespaces as one list. */
export function combinedReservations(parts: readonly ReservationsAnswer[]): ReservationsAnswer {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  return {
    volumes: parts.flatMap(({ volumes }) => volumes),
    claims: parts.flatMap(({ claims }) => claims),
    pools: parts.flatMap(({ pools }) => pools),
    pods: parts.flatMap(({ pods }) => pods),
    notes: distinct(parts.flatMap(({ notes }) => notes)),
  };
}
