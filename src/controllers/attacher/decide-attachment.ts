import type { CSINode, VolumeAttachment } from '../../kube/api/storage.ts';

/** The next step for an attachment of a driver that this process serves. */
export type AttachmentStep =
  | 'nothing'
  /** The driver publishes the volume to the node. */
  | 'attach'
  /** The driver has nothing to do for it: the attachment is only a mark. */
  | 'mark-attached'
  /** The driver removes the volume from the node, then the attachment may go. */
  | 'detach';

/** External-attacher records the id of the node here, so that a volume can be detached from a node that no longer exists. */
export const nodeIdAnnotation = 'csi.alpha.kubernetes.io/node-id';

/**
 * As external-attacher. An attachment with our finalizer may be published, whatever its status says: the reply to the call may have been
 * lost. Without the finalizer it is not.
 */
export function decideAttachment(attachment: VolumeAttachment, publishes: boolean): AttachmentStep {
  const { metadata, status } = attachment;
  if (metadata?.deletionTimestamp !== undefined)
    return publishes && hasAttacherFinalizer(attachment) ? 'detach' : 'nothing';
  if (status?.attached === true) return 'nothing';
  return publishes ? 'attach' : 'mark-attached';
}

export function hasAttacherFinalizer({ metadata, spec }: VolumeAttachment): boolean {
  return (metadata?.finalizers ?? []).includes(attacherFinalizer(spec?.attacher ?? ''));
}

/** The finalizer of attachments and volumes of a driver. */
export function attacherFinalizer(driver: string): string {
  const name = driver.replace(/[^a-zA-Z0-9-]/g, '-');
  return `external-attacher/${name.endsWith('-') ? `${name}X` : name}`;
}

/** The id under which the driver knows the node; undefined if the driver is not registered there. */
export function nodeIdIn(csiNode: CSINode | undefined, driver: string): string | undefined {
  return (csiNode?.spec?.drivers ?? []).find(({ name }) => name === driver)?.nodeID;
}

/**
 * Whether a change concerns the attacher. Its own records of errors do not: they would start the next attempt immediately, without the
 * back-off.
 */
export function isRelevantChange(attachment: VolumeAttachment, old: VolumeAttachment): boolean {
  return relevantText(attachment) !== relevantText(old);
}

function relevantText({ metadata, spec, status }: VolumeAttachment): string {
  const { uid, deletionTimestamp, finalizers, annotations } = metadata ?? {};
  const isAttached = status?.attached === true;
  return JSON.stringify([uid, deletionTimestamp, finalizers, annotations, spec, isAttached]);
}
