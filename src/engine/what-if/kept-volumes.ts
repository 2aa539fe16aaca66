import type { NodeSelectorTerm, PersistentVolume } from '../../kube/api/core.ts';
import { quantityOfBytes } from '../../kube/quantities/bytes.ts';
import { driveNodeKey } from '../../kube/stowage/drive.ts';
import type { Reservation } from '../ledger/ledger.ts';
import type { Provision } from '../rules/framework/decisions.ts';
import { bindClaim } from './immediate-claims.ts';
import { ownClaims } from './own-volumes.ts';
import type { WhatIfCluster } from './what-if-cluster.ts';

/**
 * Keeps the volumes of a pod that was deleted again: its claims stay bound, to existing volumes and to those that were created for it; and the bytes of
 * volumes that end with it are used until their driver has deleted them. Returns a function that releases these bytes; undefined if there are none.
 */
export function keepVolumes(cluster: WhatIfCluster, { placement }: Reservation): (() => void) | undefined {
  const { pod, node: nodeName, bindings, provisions } = placement;
  for (const { claim, volume } of bindings) {
    const stored = cluster.get('PersistentVolumeClaim', claim);
    if (stored !== undefined) bindClaim(cluster, stored, cluster.get('PersistentVolume', volume));
  }
  const own = ownClaims(cluster, pod);
  for (const provision of provisions) if (!own.has(provision.claim)) keepNew(cluster, provision, nodeName);
  const ending = provisions
    .filter(({ claim }) => own.has(claim))
    .flatMap((provision) => keepBytes(cluster, provision, nodeName));
  if (ending.length === 0) return undefined;
  return () => {
    for (const id of ending) cluster.index.setPromise(id, undefined);
  };
}

/** The volume that was created for the claim: the claim is bound to it, so the next pod that uses the claim has to reach it. */
function keepNew(cluster: WhatIfCluster, provision: Provision, nodeName: string): void {
  const { claim, claimUid, requested, pool, spreadGroup } = provision;
  const stored = cluster.get('PersistentVolumeClaim', claim);
  // Another pod that uses the claim has not gone, or the claim has.
  if (cluster.index.promises.get(claim) !== undefined || stored === undefined) return;
  const { namespace = '', name = '' } = stored.metadata ?? {};
  const volumeName = `pvc-${claimUid}`;
  const drive = pool?.isDrive === true ? cluster.get('Drive', pool.name) : undefined;
  if (drive === undefined) keepBytes(cluster, provision, nodeName);
  else {
    const claimRef = { namespace, name, uid: claimUid };
    const entry = { name: volumeName, sizeBytes: Math.ceil(requested.bytes), claimRef };
    const volumes = [...(drive.spec?.volumes ?? []), { ...entry, ...(spreadGroup && { spreadGroup }) }];
    cluster.put('Drive', { ...drive, spec: { ...drive.spec, volumes } });
  }
  bindClaim(cluster, stored, newVolume(cluster, provision, nodeName));
}

function newVolume(cluster: WhatIfCluster, provision: Provision, nodeName: string): PersistentVolume {
  const { claimUid, className, driver, requested } = provision;
  const name = `pvc-${claimUid}`;
  const terms = topologyOf(cluster, provision, nodeName);
  return {
    metadata: { name },
    spec: {
      capacity: { storage: quantityOfBytes(Math.ceil(requested.bytes)) },
      accessModes: ['ReadWriteOnce'],
      storageClassName: className,
      csi: { driver, volumeHandle: name },
      ...(terms !== undefined && { nodeAffinity: { required: { nodeSelectorTerms: [terms] } } }),
    },
  };
}

/** Where a new volume can be reached from: its drive's node, the topology of its pool, or else the topology of the driver on the node. */
function topologyOf(
  cluster: WhatIfCluster,
  { driver, pool }: Provision,
  nodeName: string,
): NodeSelectorTerm | undefined {
  if (pool?.isDrive === true) return termOf({ [driveNodeKey]: nodeName });
  const { nodeTopology } = cluster.get('CSIStorageCapacity', pool?.name ?? '') ?? {};
  if (nodeTopology !== undefined) {
    const term = termOf(nodeTopology.matchLabels ?? {});
    const more = nodeTopology.matchExpressions ?? [];
    return { matchExpressions: [...(term?.matchExpressions ?? []), ...more] } as NodeSelectorTerm;
  }
  const drivers = cluster.get('CSINode', nodeName)?.spec?.drivers ?? [];
  const keys = drivers.find(({ name }) => name === driver)?.topologyKeys ?? [];
  const labels = cluster.get('Node', nodeName)?.metadata?.labels ?? {};
  return termOf(Object.fromEntries(keys.map((key) => [key, labels[key] ?? ''])));
}

function termOf(labels: Readonly<Record<string, string>>): NodeSelectorTerm | undefined {
  const matchExpressions = Object.entries(labels).map(([key, value]) => {
    return { key, operator: 'In' as const, values: [value] };
  });
  return matchExpressions.length === 0 ? undefined : { matchExpressions };
}

/** The bytes of the pool stay used. Returns the id of the promise that says so. */
function keepBytes(
  cluster: WhatIfCluster,
  { claim, claimUid, requested: size, pool }: Provision,
  nodeName: string,
): readonly string[] {
  if (pool === undefined) return [];
  const id = `kept ${claimUid} ${claim}`;
  const promised = { id, claimUid, nodeName, size, poolKey: pool.key };
  cluster.index.setPromise(id, { ...promised, reservations: 1, isStored: false, settled: undefined });
  return [id];
}
