import type { Reservation } from '../ledger/ledger.ts';
import { bindClaim } from './immediate-claims.ts';
import type { WhatIfCluster } from './what-if-cluster.ts';

/**
 * What remains of the placement of a pod that has gone again: existing volumes stay bound to its claims, and the bytes of volumes that end with it are used until
 * their driver has deleted them. Returns what releases these bytes; undefined if there are none.
 */
export function keepVolumes(cluster: WhatIfCluster, { placement }: Reservation): (() => void) | undefined {
  const { pod, node: nodeName, bindings, provisions } = placement;
  for (const { claim, volume } of bindings) {
    const stored = cluster.get('PersistentVolumeClaim', claim);
    if (stored !== undefined) bindClaim(cluster, stored, cluster.get('PersistentVolume', volume));
  }
  const own = new Set(pod.claims.filter(({ isEphemeral }) => isEphemeral).map(({ key }) => key));
  const kept = provisions.flatMap(({ claim, claimUid, requested: size, pool }) => {
    if (pool === undefined || !own.has(claim)) return [];
    const id = `deleted ${claimUid} ${claim}`;
    const promised = { id, claimUid, nodeName, size, poolKey: pool.key };
    cluster.index.setPromise(id, { ...promised, reservations: 1, isStored: false, settled: undefined });
    return id;
  });
  if (kept.length === 0) return undefined;
  return () => {
    for (const id of kept) cluster.index.setPromise(id, undefined);
  };
}
