import type { Cluster } from '../../cluster/cluster.ts';
import { CsiCallError } from '../../csi/csi-errors.ts';
import { grpcNumberOf } from '../../csi/grpc-codes.ts';
import type { PersistentVolume } from '../../kube/api/core.ts';
import type { StringMap } from '../../kube/api/meta.ts';
import type { VolumeAttachment, VolumeError } from '../../kube/api/storage.ts';
import { formatTimestamp } from '../../kube/go/timestamp.ts';
import { persistentVolumes, volumeAttachments } from '../../kube/resources.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/error-message.ts';
import { attacherFinalizer, hasAttacherFinalizer, nodeIdAnnotation } from './decide-attachment.ts';

export interface AttachmentWritesOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  /** Called before each write. */
  readonly onWrite: () => void;
}

/** The writes of the attacher. Every write carries the version that was read, and is left out if it would change nothing. */
export class AttachmentWrites {
  readonly #options: AttachmentWritesOptions;

  constructor(options: AttachmentWritesOptions) {
    this.#options = options;
  }

  /** The volume is needed until it is detached. */
  async keepVolume({ metadata }: PersistentVolume, driver: string, signal: AbortSignal): Promise<void> {
    const finalizer = attacherFinalizer(driver);
    const { name = '', uid, resourceVersion, finalizers = [] } = metadata ?? {};
    if (finalizers.includes(finalizer)) return;
    const body = { metadata: { uid, resourceVersion, finalizers: [...finalizers, finalizer] } };
    this.#options.onWrite();
    const client = this.#options.cluster.resource(persistentVolumes);
    await client.patch({ name }, { type: 'merge', body }, { signal });
  }

  /** From now on the volume may be published: the finalizer makes sure that it is unpublished, and the annotation says from where. */
  async prepare(
    attachment: VolumeAttachment,
    nodeId: string,
    signal: AbortSignal,
  ): Promise<VolumeAttachment> {
    const { finalizers = [], annotations = {} } = attachment.metadata ?? {};
    if (hasAttacherFinalizer(attachment) && annotations[nodeIdAnnotation] === nodeId) return attachment;
    const finalizer = attacherFinalizer(attachment.spec?.attacher ?? '');
    const metadata = {
      finalizers: [...finalizers.filter((one) => one !== finalizer), finalizer],
      annotations: { [nodeIdAnnotation]: nodeId },
    };
    return await this.#patch(attachment, { metadata }, signal);
  }

  async markAttached(
    attachment: VolumeAttachment,
    publishContext: StringMap,
    signal: AbortSignal,
  ): Promise<void> {
    const attachmentMetadata = Object.keys(publishContext).length === 0 ? null : publishContext;
    const status = { attached: true, attachmentMetadata, attachError: null };
    await this.#patch(attachment, { status }, signal);
  }

  /**
   * The finalizer goes first: an attachment without it is detached, whatever its status says. The other way around, a crash in between would
   * cost another call.
   */
  async markDetached(attachment: VolumeAttachment, signal: AbortSignal): Promise<void> {
    const finalizer = attacherFinalizer(attachment.spec?.attacher ?? '');
    const rest = (attachment.metadata?.finalizers ?? []).filter((one) => one !== finalizer);
    const metadata = { finalizers: rest.length === 0 ? null : rest };
    const left = await undefinedIfNotFound(this.#patch(attachment, { metadata }, signal));
    if (left === undefined || rest.length === 0) return;
    const status = { attached: false, detachError: null, attachmentMetadata: null };
    await undefinedIfNotFound(this.#patch(left, { status }, signal));
  }

  async recordError(
    attachment: VolumeAttachment,
    field: 'attachError' | 'detachError',
    error: unknown,
    signal: AbortSignal,
  ): Promise<void> {
    const time = formatTimestamp(this.#options.clock.nowMs());
    const failure: VolumeError = { time, message: messageOf(error) };
    // Kubernetes' scheduler reads the code: ResourceExhausted means that the node cannot attach more volumes.
    const isCode = field === 'attachError' && error instanceof CsiCallError;
    const code = isCode ? { errorCode: grpcNumberOf(error.code) } : {};
    await undefinedIfNotFound(
      this.#patch(attachment, { status: { [field]: { ...failure, ...code } } }, signal),
    );
  }

  async #patch(
    { metadata }: VolumeAttachment,
    change: { readonly metadata?: object; readonly status?: object },
    signal: AbortSignal,
  ): Promise<VolumeAttachment> {
    const { name = '', uid, resourceVersion } = metadata ?? {};
    const body = { ...change, metadata: { ...change.metadata, uid, resourceVersion } };
    this.#options.onWrite();
    const subresource = change.status === undefined ? {} : { subresource: 'status' };
    const client = this.#options.cluster.resource(volumeAttachments);
    return await client.patch({ name }, { type: 'merge', body }, { ...subresource, signal });
  }
}
