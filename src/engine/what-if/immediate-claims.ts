import type { PersistentVolume, PersistentVolumeClaim } from '../../kube/api/core.ts';
import type { StorageClass } from '../../kube/api/storage.ts';
import { annotations } from '../../kube/well-known.ts';
import { matchClaim } from '../claim-match.ts';
import type { WhatIfCluster } from './what-if-cluster.ts';

const defaultClassAnnotation = 'storageclass.kubernetes.io/is-default-class';

/** The claim with the cluster's default class, if it names none, as admission sets it: the newest default class wins, then the first by name. */
export function withDefaultClass(
  cluster: WhatIfCluster,
  claim: PersistentVolumeClaim,
): PersistentVolumeClaim {
  if (claim.spec?.storageClassName !== undefined || claim.spec?.volumeName !== undefined) return claim;
  const createdAt = ({ metadata }: StorageClass) => metadata?.creationTimestamp ?? '';
  const [chosen] = [...cluster.values('StorageClass')]
    .filter(({ metadata }) => metadata?.annotations?.[defaultClassAnnotation] === 'true')
    .sort(
      (a, b) =>
        createdAt(b).localeCompare(createdAt(a)) ||
        (a.metadata?.name ?? '').localeCompare(b.metadata?.name ?? ''),
    );
  if (chosen === undefined) return claim;
  return { ...claim, spec: { ...claim.spec, storageClassName: chosen.metadata?.name ?? '' } };
}

/** Binds a claim whose class does not wait for a pod, as the PV controller does: to an existing volume, or to a new one. */
export function bindAtOnce(cluster: WhatIfCluster, claim: PersistentVolumeClaim): void {
  const { index } = cluster;
  const key = `${claim.metadata?.namespace ?? ''}/${claim.metadata?.name ?? ''}`;
  const record = index.claims.get(key);
  if (record === undefined || record.isBound) return;
  const storageClass = index.classes.get(record.className);
  const isDelayed = storageClass?.isDelayed === true;
  const found = matchClaim(index, record, isDelayed);
  if (found !== undefined) {
    bindClaim(cluster, claim, cluster.get('PersistentVolume', found.key));
    return;
  }
  if (isDelayed || storageClass?.canProvision !== true) return;
  cluster.notes.add(
    `class ${record.className} creates volumes before their pod has a node; where they are is up to its driver, so they count as reachable from every node`,
  );
  bindClaim(cluster, claim, {
    metadata: { name: `volume of ${key}` },
    spec: {
      capacity: { storage: claim.spec?.resources?.requests?.storage ?? '0' },
      accessModes: claim.spec?.accessModes ?? [],
      storageClassName: record.className,
    },
  });
}

/** Binds the claim and the volume to each other. */
export function bindClaim(
  cluster: WhatIfCluster,
  claim: PersistentVolumeClaim,
  volume: PersistentVolume | undefined,
): void {
  if (volume === undefined) return;
  const { namespace = '', name = '', uid = '' } = claim.metadata ?? {};
  cluster.put('PersistentVolume', {
    ...volume,
    spec: {
      ...volume.spec,
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid },
    },
    status: { ...volume.status, phase: 'Bound' },
  });
  cluster.put('PersistentVolumeClaim', {
    ...claim,
    metadata: {
      ...claim.metadata,
      annotations: { ...claim.metadata?.annotations, [annotations.bindCompleted]: 'yes' },
    },
    spec: { ...claim.spec, volumeName: volume.metadata?.name ?? '' },
    status: { ...claim.status, phase: 'Bound' },
  });
}
