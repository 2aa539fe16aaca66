import type { Cluster } from '../../cluster/cluster.ts';
import { microTime } from '../../cluster/micro-time.ts';
import { apiVersionOf } from '../../cluster/resource.ts';
import { leases } from '../../cluster/resources.ts';
import type { Lease } from '../../kube/coordination.ts';
import type { Clock } from '../../runtime/clock.ts';
import { orAbsent } from '../or-absent.ts';
import { type Announcement, announced, leaseKeyOf } from './component-lease.ts';

const renewEveryMs = 60_000;
/** Two renewals may fail. Nobody waits for it to run out: it elects nobody. */
const durationSeconds = 180;

/** Components that others want to know about. */
const announcedControllers: readonly string[] = ['scheduler', 'pv-binder'];

export interface AnnounceOptions {
  readonly cluster: Cluster;
  /** The controllers that run here. */
  readonly names: readonly string[];
  readonly identity: string;
  readonly announcement: Announcement;
  readonly clock: Clock;
}

/** Says on Leases what runs here, where nobody is elected. They are left to run out at the end: the next start says it anew. */
export async function announce(options: AnnounceOptions, signal: AbortSignal): Promise<void> {
  const { names, clock } = options;
  const told = names.filter((name) => announcedControllers.includes(name));
  const sinceMs = clock.nowMs();
  while (told.length > 0 && !signal.aborted) {
    for (const name of told) await announceOne(name, sinceMs, options, signal);
    await clock.sleep(renewEveryMs, signal);
  }
}

async function announceOne(
  name: string,
  sinceMs: number,
  { cluster, identity, announcement, clock }: AnnounceOptions,
  signal: AbortSignal,
): Promise<void> {
  const key = leaseKeyOf(name);
  const body: Lease = {
    apiVersion: apiVersionOf(leases),
    kind: leases.kind,
    metadata: { ...key, annotations: announced(announcement) },
    spec: {
      holderIdentity: identity,
      leaseDurationSeconds: durationSeconds,
      acquireTime: microTime(sinceMs),
      renewTime: microTime(clock.nowMs()),
    },
  };
  const client = cluster.resource(leases);
  // Without a version: it says who runs here now, whatever stood there.
  const told = await orAbsent(client.patch(key, { type: 'merge', body }, { signal }));
  if (told === undefined) await client.create(body, { signal });
}
