import type { PersistentVolumeSpec } from '../../../../kube/api/stored/core.ts';
import { roundToMilli } from '../resources/resource-list.ts';

/** Also for the inline volume of an attachment. */
export function defaultVolumeSpec(spec: PersistentVolumeSpec): void {
  roundToMilli(spec.capacity);
  const { hostPath, rbd, iscsi, azureDisk, scaleIO } = spec;
  if (hostPath !== undefined) hostPath.type ??= '';
  if (rbd !== undefined) {
    rbd.pool ||= 'rbd';
    rbd.user ||= 'admin';
    rbd.keyring ||= '/etc/ceph/keyring';
  }
  if (iscsi !== undefined) iscsi.iscsiInterface ||= 'default';
  if (azureDisk !== undefined) {
    azureDisk.cachingMode ??= 'ReadWrite';
    azureDisk.fsType ??= 'ext4';
    azureDisk.readOnly ??= false;
    azureDisk.kind ??= 'Shared';
  }
  if (scaleIO !== undefined) {
    scaleIO.storageMode ||= 'ThinProvisioned';
    scaleIO.fsType ||= 'xfs';
  }
}
