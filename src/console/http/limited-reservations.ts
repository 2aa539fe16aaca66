import type { ReservationsAnswer, ReservationsPage } from '../wire/answers.ts';

/** Rows of each list. A cluster has tens of thousands of bound volumes; the view of volumes shows them all. */
const rowsMax = 1_000;

/** The reservations that the page shows: unbound ones come first. */
export function limitedReservations(all: ReservationsAnswer): ReservationsPage {
  const { claims, pools, pods, notes } = all;
  const isBound = ({ state }: ReservationsAnswer['volumes'][number]) => state === 'Bound';
  const volumes = [...all.volumes.filter((volume) => !isBound(volume)), ...all.volumes.filter(isBound)];
  return {
    volumes: volumes.slice(0, rowsMax),
    claims: claims.slice(0, rowsMax),
    pools: pools.slice(0, rowsMax),
    pods: pods.slice(0, rowsMax),
    notes,
    leftOut: {
      volumes: leftOut(volumes),
      claims: leftOut(claims),
      pools: leftOut(pools),
      pods: leftOut(pods),
    },
  };
}

function leftOut(list: readonly unknown[]): number {
  return Math.max(0, list.length - rowsMax);
}
