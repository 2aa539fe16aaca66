import type { VolumeAttachment } from '../../kube/api/storage.ts';
import { textOf } from '../../kube/wire.ts';
import { clusterIdentity, type Identity } from './identity.ts';

/** The fields of a VolumeAttachment that the engine uses. */
export interface AttachmentRecord extends Identity {
  readonly nodeName: string;
  readonly driver: string;
  readonly volumeName: string;
  /** The volume handle of an inline volume, which has no PersistentVolume. */
  readonly inlineHandle: string;
}

export function readAttachment(attachment: VolumeAttachment): AttachmentRecord {
  const spec = attachment.spec;
  const { key, uid, version, isDeleting } = clusterIdentity(attachment);
  return {
    key,
    uid,
    version,
    isDeleting,
    nodeName: textOf(spec?.nodeName),
    driver: textOf(spec?.attacher),
    volumeName: textOf(spec?.source?.persistentVolumeName),
    inlineHandle: textOf(spec?.source?.inlineVolumeSpec?.csi?.volumeHandle),
  };
}
