import type { VolumeAttachment } from '../../../../kube/api/storage.ts';

interface AttachmentEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: 'SuccessfulAttachVolume' | 'FailedAttachVolume';
  readonly action: string;
  readonly note: string;
}

const action = 'StartPod';

/** The Event on a pod whose volume was attached. */
export function attachedEvent(attachment: VolumeAttachment): AttachmentEvent {
  const note = `AttachVolume.Attach succeeded for volume "${volumeOf(attachment)}" `;
  return { type: 'Normal', reason: 'SuccessfulAttachVolume', action, note };
}

/** The Event for a change of the status that the driver's attacher wrote; undefined for other changes. */
export function attachmentEvent(
  attachment: VolumeAttachment,
  old: VolumeAttachment,
): AttachmentEvent | undefined {
  const { attached = false, attachError } = attachment.status ?? {};
  if (attached && old.status?.attached !== true) return attachedEvent(attachment);
  if (attachError === undefined || attachError.time === old.status?.attachError?.time) return undefined;
  const note = `AttachVolume.Attach failed for volume "${volumeOf(attachment)}" : ${attachError.message}`;
  return { type: 'Warning', reason: 'FailedAttachVolume', action, note };
}

function volumeOf({ spec }: VolumeAttachment): string | undefined {
  return spec?.source?.persistentVolumeName;
}
