import type { PersistentVolume, PersistentVolumeClaim } from '../../kube/api/core.ts';
import type { StorageClass } from '../../kube/api/storage.ts';
import {
  formatQuantity,
  parseQuantity,
  quantityFromBytes,
  quantityToBytes,
} from '../../kube/quantities/quantity.ts';
import { claimClassName, volumeModeOf } from '../../kube/volumes.ts';
import { annotations, finalizers } from '../../kube/well-known.ts';
import type { VolumePlan } from './provisioner.ts';

/**
 * The PersistentVolume for a plan. The claimRef names the claim with its uid, so nobody else gets the volume; the finalizer keeps
 * a volume that is to be deleted until its asset is gone, whoever deletes the object.
 */
export function provisionedVolume(
  plan: VolumePlan,
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
): PersistentVolume {
  const reclaimPolicy = storageClass.reclaimPolicy ?? 'Delete';
  const mountOptions = storageClass.mountOptions ?? [];
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: plan.asset.name,
      annotations: { [annotations.provisionedBy]: storageClass.provisioner ?? '' },
      ...(reclaimPolicy === 'Delete' ? { finalizers: [finalizers.externalProvisioner] } : {}),
    },
    spec: {
      ...plan.source,
      capacity: { storage: capacityFor(claim) },
      accessModes: plan.accessModes ?? claim.spec?.accessModes ?? [],
      persistentVolumeReclaimPolicy: reclaimPolicy,
      storageClassName: claimClassName(claim),
      volumeMode: volumeModeOf(claim),
      claimRef: claimRefTo(claim),
      nodeAffinity: plan.nodeAffinity,
      ...(mountOptions.length === 0 ? {} : { mountOptions }),
    },
  };
}

/** What was asked for, in its own spelling; there is no part of a byte, so such a size is rounded up. */
function capacityFor(claim: PersistentVolumeClaim): string {
  const asked = parseQuantity(claim.spec?.resources?.requests?.storage ?? '0');
  // The server takes no claim without a size, or with one that it can't read.
  if (!asked.ok) return '0';
  const whole = quantityFromBytes(quantityToBytes(asked.quantity), asked.quantity.format);
  return whole.amount === asked.quantity.amount ? formatQuantity(asked.quantity) : formatQuantity(whole);
}

function claimRefTo({ metadata }: PersistentVolumeClaim) {
  const { namespace = '', name = '', uid = '', resourceVersion = '' } = metadata ?? {};
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid, resourceVersion };
}
