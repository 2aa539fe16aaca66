import type {
  DownwardAPIVolumeFile,
  ProjectedVolumeSource,
  Volume,
} from '../../../../../kube/api/stored/core.ts';
import { defaultClaimSpec } from '../../volumes/claim-spec-rules.ts';
import { defaultPullPolicy } from './image-reference.ts';

/** A volume without a source is an emptyDir. */
export function defaultVolume(volume: Volume): void {
  if (!hasSource(volume)) volume.emptyDir = {};
  if (volume.hostPath) volume.hostPath.type ??= '';
  if (volume.secret) volume.secret.defaultMode ??= readableByAll;
  if (volume.configMap) volume.configMap.defaultMode ??= readableByAll;
  if (volume.image) volume.image.pullPolicy ||= defaultPullPolicy(volume.image.reference ?? '');
  if (volume.downwardAPI) {
    volume.downwardAPI.defaultMode ??= readableByAll;
    defaultFiles(volume.downwardAPI.items);
  }
  if (volume.projected) defaultProjected(volume.projected);
  if (volume.ephemeral?.volumeClaimTemplate) defaultClaimSpec(volume.ephemeral.volumeClaimTemplate.spec);
  defaultInTree(volume);
}

const readableByAll = 0o644;
const tokenSeconds = 3600;

function hasSource(volume: Volume): boolean {
  return Object.entries(volume).some(([name, value]) => name !== 'name' && value !== undefined);
}

function defaultProjected(projected: ProjectedVolumeSource): void {
  projected.defaultMode ??= readableByAll;
  for (const source of projected.sources ?? []) {
    defaultFiles(source.downwardAPI?.items);
    if (source.serviceAccountToken) source.serviceAccountToken.expirationSeconds ??= tokenSeconds;
  }
}

function defaultFiles(files: DownwardAPIVolumeFile[] | undefined): void {
  for (const file of files ?? []) if (file.fieldRef) file.fieldRef.apiVersion ||= 'v1';
}

/** Plugins that CSI drivers have replaced, or that Kubernetes has removed, still have defaults. */
function defaultInTree({ iscsi, rbd, azureDisk, scaleIO }: Volume): void {
  if (iscsi) iscsi.iscsiInterface ||= 'default';
  if (rbd) {
    rbd.pool ||= 'rbd';
    rbd.user ||= 'admin';
    rbd.keyring ||= '/etc/ceph/keyring';
  }
  if (azureDisk) {
    azureDisk.cachingMode ??= 'ReadWrite';
    azureDisk.fsType ??= 'ext4';
    azureDisk.readOnly ??= false;
    azureDisk.kind ??= 'Shared';
  }
  if (scaleIO) {
    scaleIO.storageMode ||= 'ThinProvisioned';
    scaleIO.fsType ||= 'xfs';
  }
}
