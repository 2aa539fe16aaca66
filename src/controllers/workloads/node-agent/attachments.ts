import { createHash } from 'node:crypto';
import type { PersistentVolume } from '../../../kube/api/core.ts';
import type { CSIDriver, VolumeAttachment } from '../../../kube/api/storage.ts';

/** The attachment that a volume needs on a node; undefined where none has to be made. */
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

/** Whether a node needs an attachment to mount the volume. A driver that says nothing about it does. */
export function isAttachable({ spec }: PersistentVolume, driver: CSIDriver | undefined): boolean {
  return spec?.csi !== undefined && driver?.spec?.attachRequired !== false;
}

/** As Kubernetes names them, so that either finds the other's. */
export function attachmentName(volumeHandle: string, driver: string, nodeName: string): string {
  return `csi-${createHash('sha256').update(`${volumeHandle}${driver}${nodeName}`).digest('hex')}`;
}

/** Whether only one node may have the volume attached. */
export function isExclusive({ spec }: PersistentVolume): boolean {
  const modes = spec?.accessModes ?? [];
  return modes.length > 0 && modes.every((mode) => mode === 'ReadWriteOnce' || mode === 'ReadWriteOncePod');
}

/** Whether only one pod may have the volume. */
export function isForOnePod({ spec }: PersistentVolume): boolean {
  const modes = spec?.accessModes ?? [];
  return modes.length === 1 && modes[0] === 'ReadWriteOncePod';
}
