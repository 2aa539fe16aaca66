import { createHash } from 'node:crypto';
import type { PersistentVolume } from '../../../../kube/api/core.ts';
import type { CSIDriver, VolumeAttachment } from '../../../../kube/api/storage.ts';

/** The attachment that a volume needs on a node; undefined if it needs none. */
export function attachmentFor(
  volume: PersistentVolume,
  nodeName: string,
  driver: CSIDriver | undefined,
): VolumeAttachment | undefined {
  const csi = volume.spec?.csi;
  if (csi === undefined || !isAttachable(volume, driver)) return undefined;
  const attacher = csi.driver ?? '';
  return {
    metadata: { name: attachmentName(csi.volumeHandle ?? '', attacher, nodeName) },
    spec: { attacher, nodeName, source: { persistentVolumeName: volume.metadata?.name ?? '' } },
  };
}

/** Whether a node needs an attachment to mount the volume. A driver without the setting needs one. */
export function isAttachable({ spec }: PersistentVolume, driver: CSIDriver | undefined): boolean {
  return spec?.csi !== undefined && driver?.spec?.attachRequired !== false;
}

/** The names that Kubernetes uses, so that either finds the other's. */
export function attachmentName(volumeHandle: string, driver: string, nodeName: string): string {
  return `csi-${createHash('sha256').update(`${volumeHandle}${driver}${nodeName}`).digest('hex')}`;
}

/**
 * Whether the attachment has the name that we, or Kubernetes' attach controller, would give it. Others belong to the client that created
 * them. The name of a volume that no longer exists cannot be checked, so there the form of the name decides.
 */
export function isManagedAttachment(
  { metadata, spec }: VolumeAttachment,
  volume: PersistentVolume | undefined,
): boolean {
  const { name = '' } = metadata ?? {};
  if (volume === undefined) return /^csi-[0-9a-f]{64}$/.test(name);
  const { driver = '', volumeHandle = '' } = volume.spec?.csi ?? {};
  return spec?.attacher === driver && name === attachmentName(volumeHandle, driver, spec.nodeName ?? '');
}
