import type { Lease } from './api/coordination.ts';
import type { ObjectMeta } from './api/meta.ts';
import { parseTimestamp } from './go/timestamp.ts';
import { annotations, labels } from './well-known.ts';
import { lookUp, textOf } from './wire.ts';

/**
 * Whether the publisher of reported capacity still runs, by the Lease that it names. Capacity that has not changed is not written again, so its age alone
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

/** On the Leases of publishers. */
export const publisherLeaseLabels = { [labels.component]: 'capacity' };

/** Which Leases publishers renew. */
export const publisherLeaseSelection = {
  namespace: 'kube-system',
  labelSelector: `${labels.component}=capacity`,
};

/** The Lease of the publisher for one node, which is not elected: each node has one. */
export function nodePublisherLeaseName(nodeName: string): string {
  return `stowage-capacity-heartbeat-${nodeName}`;
}

/** Clocks of the publisher and of the reader may differ by so much. */
const clockSkewMsMax = 60_000;

/** How long schedulers still use the capacity from a publisher that has stopped: it may restart, and its pools may not have changed. */
export const capacityReportGraceMs = 600_000;

/**
 * When schedulers stop using the capacity from the publisher that renews the Lease, unless it is renewed before; undefined if the Lease does not say. As
 * with the expiry of a DriverCapacity, a pool without current capacity gets no new volumes: another client may have filled it.
 */
export function capacityReportsTrustedUntilMs(lease: Lease): number | undefined {
  const goneAtMs = publisherGoneAtMs(lease);
  return goneAtMs === undefined ? undefined : goneAtMs + capacityReportGraceMs;
}

function publisherGoneAtMs({ spec }: Lease): number | undefined {
  const renewedMs = parseTimestamp(spec?.renewTime);
  if (renewedMs === undefined) return undefined;
  return renewedMs + (spec?.leaseDurationSeconds ?? 0) * 1000 + clockSkewMsMax;
}

export function publisherState(
  figure: ObjectMeta | undefined,
  leaseOf: (key: string) => Lease | undefined,
  nowMs: number,
): PublisherState | undefined {
  const name = textOf(lookUp(figure?.annotations, annotations.publisherLease));
  const lease = leaseOf(name);
  const goneAtMs = lease && publisherGoneAtMs(lease);
  if (lease === undefined || goneAtMs === undefined) return undefined;
  const { holderIdentity, renewTime } = lease.spec ?? {};
  if (nowMs > goneAtMs)
    return { kind: 'gone', holder: textOf(holderIdentity), lease: name, since: textOf(renewTime) };
  const problem = textOf(lookUp(figure?.annotations, annotations.capacityProblem));
  return problem === '' ? { kind: 'running' } : { kind: 'failing', problem };
}

/** Which publisher has stopped, and since when, as the predicate of a sentence about reported capacity. */
export function publisherGoneText({
  holder,
  lease,
  since,
}: Extract<PublisherState, { kind: 'gone' }>): string {
  const who = holder === '' ? 'its publisher' : `its publisher ${holder}`;
  return `${who} has not renewed Lease ${lease} since ${since}`;
}
