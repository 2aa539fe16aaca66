import type { Lease } from '../../kube/api/coordination.ts';
import { capacityReportsTrustedUntilMs } from '../../kube/publisher-heartbeat.ts';
import type { ReleaseChange } from './cluster-change.ts';
import type { ClusterIndex } from './cluster-index.ts';

/**
 * The Lease of a publisher of capacity, by `namespace/name`; undefined if it was deleted: then it is unknown whether the publisher runs, and its capacity reports
 * are used. Returns the pools whose reports expire later than before.
 */
export function setPublisherLease(
  index: ClusterIndex,
  key: string,
  lease: Lease | undefined,
): ReleaseChange | undefined {
  if (!index.profile.honoursHeartbeats) return undefined;
  const { pools } = index;
  const expiredAtMs = pools.expiry.trustedUntilMs(key);
  index.recordUndo(() =>
    pools.expiry.setTrust(key, expiredAtMs === Number.POSITIVE_INFINITY ? undefined : expiredAtMs),
  );
  pools.expiry.setTrust(key, lease && capacityReportsTrustedUntilMs(lease));
  if (pools.expiry.trustedUntilMs(key) <= expiredAtMs) return undefined;
  const gaining = Array.from(pools.expiry.rowsOf(key), (row) => pools.record(row));
  if (gaining.length === 0) return undefined;
  return { kind: 'Release', volumes: [], pools: gaining, nodeName: '', expiredAtMs };
}
