import type { Cluster } from '../../cluster/cluster.ts';
import type { Lease } from '../../kube/api/coordination.ts';
import { isReason } from '../../kube/api-error.ts';
import { formatMicroTime, parseTimestamp } from '../../kube/go/timestamp.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import { leases } from '../../kube/resources.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import type { Clock } from '../../runtime/clock.ts';
import {
  announcementAnnotations,
  type ComponentAnnouncement,
  leaseKeyOf,
  leaseLabelsOf,
} from './component-lease.ts';

const renewEveryMs = 60_000;
/** Two renewals may fail. The Lease has no holder, so no candidate waits for it to expire. */
const durationSeconds = 180;
/** The clock of an elected leader may be behind ours by so much. */
const clockSkewMsMax = 60_000;

/** Components that others compare themselves with, and those whose results others trust only while they run. */
const announcedControllers: readonly string[] = ['scheduler', 'pv-binder', 'capacity'];

/** Whether a process without leader election renews a Lease for the controller. */
export function isAnnounced(controller: string): boolean {
  return announcedControllers.includes(controller);
}

export interface AnnounceOptions {
  readonly cluster: Cluster;
  /** The controllers of this process. */
  readonly names: readonly string[];
  readonly announcementOf: (controller: string) => ComponentAnnouncement;
  readonly clock: Clock;
  /** Receives a report of an elected process that runs the same controller. Must neither throw nor wait. */
  readonly onError: (error: unknown) => void;
}

/**
 * Announces on Leases what this process runs, without leader election. The Lease has no holder: an election takes it immediately, even after
 * this process was killed. Each write carries the version that was read, so it never takes the Lease from an elected leader.
 */
export async function announceComponents(options: AnnounceOptions, signal: AbortSignal): Promise<void> {
  const { names, clock, onError } = options;
  const announced = new Set(names.filter(isAnnounced));
  const sinceMs = clock.nowMs();
  const leaders = new Set<string>();
  while (announced.size > 0 && !signal.aborted) {
    for (const name of announced) {
      try {
        const leader = await announceOne(name, sinceMs, options, signal);
        if (leader === undefined || leaders.has(leader)) continue;
        leaders.add(leader);
        onError(new Error(besideLeader(name, leader)));
      } catch (error) {
        if (!isReason(error, 'Forbidden')) throw error;
        // The controller works without its Lease. It is reported once, and the others are announced.
        announced.delete(name);
        onError(error);
      }
    }
    await clock.sleep(renewEveryMs, signal);
  }
}

/** Returns the leader, if there is one: it announces itself. */
async function announceOne(
  name: string,
  sinceMs: number,
  { cluster, announcementOf, clock }: AnnounceOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const key = leaseKeyOf(name);
  const client = cluster.resource(leases);
  const known = await undefinedIfNotFound(client.get(key, { signal }));
  const leader = leaderOf(known, clock.nowMs());
  if (leader !== undefined) return leader;
  const lease: Lease = {
    apiVersion: apiVersionOf(leases),
    kind: leases.kind,
    metadata: {
      ...known?.metadata,
      ...key,
      labels: { ...known?.metadata?.labels, ...leaseLabelsOf(name) },
      annotations: announcedBeside(known, announcementOf(name)),
    },
    spec: {
      leaseDurationSeconds: durationSeconds,
      acquireTime: formatMicroTime(sinceMs),
      renewTime: formatMicroTime(clock.nowMs()),
    },
  };
  try {
    await (known === undefined ? client.create(lease, { signal }) : client.update(lease, { signal }));
  } catch (error) {
    // Another process wrote the Lease meanwhile; the next round reads it.
    if (!isReason(error, 'Conflict') && !isReason(error, 'AlreadyExists')) throw error;
  }
  return undefined;
}

function announcedBeside(lease: Lease | undefined, announcement: ComponentAnnouncement) {
  return { ...lease?.metadata?.annotations, ...announcementAnnotations(announcement) };
}

function leaderOf(lease: Lease | undefined, nowMs: number): string | undefined {
  const { holderIdentity = '', renewTime, leaseDurationSeconds = 0 } = lease?.spec ?? {};
  const renewedMs = parseTimestamp(renewTime) ?? 0;
  const isOver = renewedMs + leaseDurationSeconds * 1000 + clockSkewMsMax < nowMs;
  return holderIdentity === '' || isOver ? undefined : holderIdentity;
}

function besideLeader(controller: string, leader: string): string {
  const { namespace, name } = leaseKeyOf(controller);
  return `${controller} runs here without leader election, and ${leader} holds Lease ${namespace}/${name}: both are active; stop one of them, run stowage run with leader election (without --leader-elect=false), or run stowage up without this controller (--controllers -${controller})`;
}
