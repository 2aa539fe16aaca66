import type { PersistentVolume, PersistentVolumeClaim } from '../../kube/api/core.ts';
import type { StorageClass } from '../../kube/api/storage.ts';
import { quantityOfBytes } from '../../kube/quantities/bytes.ts';
import {
  formatQuantity,
  parseQuantity,
  quantityFromBytes,
  quantityToBytes,
} from '../../kube/quantities/quantity.ts';
import { claimClassName, volumeModeOf } from '../../kube/volumes.ts';
import { annotations, finalizers } from '../../kube/well-known.ts';
import type { CreatedVolume } from './provisioner.ts';

/**
 * The PersistentVolume for a volume that was created. The claimRef names the claim with its uid, so no other claim gets the volume; the finalizer keeps
 * a deleted volume until its asset is deleted, whichever client deletes the object.
 */
export function provisionedVolume(
  name: string,
  volume: CreatedVolume,
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
): PersistentVolume {
  const reclaimPolicy = storageClass.reclaimPolicy ?? 'Delete';
  const mountOptions = storageClass.mountOptions ?? [];
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name,
      annotations: { [annotations.provisionedBy]: storageClass.provisioner ?? '', ...volume.annotations },
      ...(reclaimPolicy === 'Delete' ? { finalizers: [finalizers.externalProvisioner] } : {}),
    },
    spec: {
      ...volume.source,
      capacity: { storage: capacityFor(claim, volume.capacityBytes) },
      accessModes: volume.accessModes ?? claim.spec?.accessModes ?? [],
      persistentVolumeReclaimPolicy: reclaimPolicy,
      storageClassName: claimClassName(claim),
      volumeMode: volumeModeOf(claim),
      claimRef: claimRefTo(claim),
      ...(volume.nodeAffinity === undefined ? {} : { nodeAffinity: volume.nodeAffinity }),
      ...(volume.volumeAttributesClassName === undefined
        ? {}
        : { volumeAttributesClassName: volume.volumeAttributesClassName }),
      ...(mountOptions.length === 0 ? {} : { mountOptions }),
    },
  };
}

/** The size of the volume if its provisioner says it, else the requested size in its own spelling; a fraction of a byte is rounded up. */
function capacityFor(claim: PersistentVolumeClaim, capacityBytes: bigint | undefined): string {
  const requested = parseQuantity(claim.spec?.resources?.requests?.storage ?? '0');
  // The server accepts no claim without a valid size.
  if (!requested.ok) return '0';
  if (capacityBytes !== undefined && capacityBytes !== quantityToBytes(requested.quantity))
    return quantityOfBytes(capacityBytes);
  const whole = quantityFromBytes(quantityToBytes(requested.quantity), requested.quantity.format);
  return whole.amount === requested.quantity.amount
    ? formatQuantity(requested.quantity)
    : formatQuantity(whole);
}

function claimRefTo({ metadata }: PersistentVolumeClaim) {
  const { namespace = '', name = '', uid = '', resourceVersion = '' } = metadata ?? {};
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid, resourceVersion };
}
