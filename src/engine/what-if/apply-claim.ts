import type { PersistentVolumeClaim } from '../../kube/api/core.ts';
import { bytesText } from '../../kube/quantities/amount-text.ts';
import { bytesOf } from '../../kube/quantities/bytes.ts';
import { expansionId } from '../cluster-index/pools/promise-ids.ts';
import { isDeducted } from '../cluster-index/pools/promise-table.ts';
import type { ChangeSink } from './change-sink.ts';
import type { WhatIfCluster } from './what-if-cluster.ts';

/** Creates the claim. An existing one can only be expanded: that reserves the growth, so that pods do not get these bytes. */
export function applyClaim(claim: PersistentVolumeClaim, { cluster, workloads }: ChangeSink): void {
  const { namespace = '', name = '' } = claim.metadata ?? {};
  const key = `${namespace}/${name}`;
  const stored = cluster.get('PersistentVolumeClaim', key);
  if (stored === undefined) {
    workloads.claim(claim);
    return;
  }
  const [from, to] = [requestOf(stored), requestOf(claim)];
  if (bytesOf(to) <= bytesOf(from)) {
    cluster.notes.add(`claim ${key} exists; it is left as it is`);
    return;
  }
  const obstacle = expansionObstacle(cluster, key);
  if (obstacle !== undefined) {
    cluster.notes.add(`claim ${key} is not expanded from ${from} to ${to}: ${obstacle}`);
    return;
  }
  const requests = { ...stored.spec?.resources?.requests, storage: to };
  const resources = { ...stored.spec?.resources, requests };
  cluster.put('PersistentVolumeClaim', { ...stored, spec: { ...stored.spec, resources } });
  cluster.notes.add(`claim ${key} is expanded from ${from} to ${to}${effectOf(cluster, key)}`);
}

function requestOf({ spec }: PersistentVolumeClaim): string {
  return String(spec?.resources?.requests?.storage ?? '0');
}

/** Why the API server refuses a larger request. */
function expansionObstacle(cluster: WhatIfCluster, key: string): string | undefined {
  const { isBound = false, className = '' } = cluster.index.claims.get(key) ?? {};
  if (!isBound) return 'it is not bound yet';
  const isAllowed = cluster.get('StorageClass', className)?.allowVolumeExpansion === true;
  return isAllowed ? undefined : `class ${className} does not allow volume expansion`;
}

function effectOf({ index }: WhatIfCluster, key: string): string {
  const promised = index.promises.get(expansionId(key));
  const pool = index.pools.get(promised?.poolKey ?? '');
  if (promised === undefined || pool === undefined)
    return '; its driver publishes no capacity, so it is not known whether that fits';
  const growth = bytesText(promised.size.bytes, 'up');
  const free = index.pools.available(index.pools.row(pool.key)!).bytes;
  const missing = isDeducted(promised) ? -free : promised.size.bytes - free;
  return missing <= 0
    ? `; it takes ${growth} of pool ${pool.name}`
    : `, which does not fit: it needs ${growth} more, and pool ${pool.name} lacks ${bytesText(missing, 'up')}`;
}
