import type { Lease } from './api/coordination.ts';
import type { ObjectMeta } from './api/meta.ts';
import { parseTimestamp } from './go/timestamp.ts';
import { annotations } from './well-known.ts';
import { lookUp, textOf } from './wire.ts';

/**
 * Whether the publisher of a figure still runs, by the Lease that it names. A figure that has not changed is not written again, so its age alone
 * says nothing: the pool may be quiet.
 *
 * - `running`: its process renews the Lease, and the driver answers.
 * - `failing`: its process renews the Lease, and reports that the driver does not answer.
 * - `gone`: no process renews the Lease.
 *
 * Undefined if that is unknown: publishers of others name no Lease, and a Lease may be missing or not readable. They are not dead.
 */
export type PublisherState =
  | { readonly kind: 'running' }
  | { readonly kind: 'failing'; readonly problem: string }
  | { readonly kind: 'gone'; readonly holder: string; readonly lease: string; readonly since: string };

/** Clocks of the publisher and of the reader may differ by so much. */
const clockSkewMsMax = 60_000;

export function publisherState(
  figure: ObjectMeta | undefined,
  leases: readonly Lease[],
  nowMs: number,
): PublisherState | undefined {
  const name = textOf(lookUp(figure?.annotations, annotations.publisherLease));
  const lease = leases.find(({ metadata }) => `${metadata?.namespace}/${metadata?.name}` === name);
  const renewedMs = parseTimestamp(lease?.spec?.renewTime);
  if (lease === undefined || renewedMs === undefined) return undefined;
  const { holderIdentity, leaseDurationSeconds = 0, renewTime } = lease.spec ?? {};
  if (nowMs - renewedMs > leaseDurationSeconds * 1000 + clockSkewMsMax)
    return { kind: 'gone', holder: textOf(holderIdentity), lease: name, since: textOf(renewTime) };
  const problem = textOf(lookUp(figure?.annotations, annotations.capacityProblem));
  return problem === '' ? { kind: 'running' } : { kind: 'failing', problem };
}

/** Which publisher is gone, and since when, as the predicate of a sentence about a figure. */
export function publisherGoneText({
  holder,
  lease,
  since,
}: Extract<PublisherState, { kind: 'gone' }>): string {
  const who = holder === '' ? 'its publisher' : `its publisher ${holder}`;
  return `${who} has not renewed Lease ${lease} since ${since}`;
}
