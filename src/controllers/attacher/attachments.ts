import type { Cluster } from '../../cluster/cluster.ts';
import type { ServedCsiDriver } from '../../csi/served-driver.ts';
import { capabilityOfVolume } from '../../csi/volume-capability.ts';
import type { CSIPersistentVolumeSource, PersistentVolume } from '../../kube/api/core.ts';
import type { CSINode, VolumeAttachment } from '../../kube/api/storage.ts';
import { isReason } from '../../kube/api-error.ts';
import { persistentVolumes } from '../../kube/resources.ts';
import { unreachable } from '../../runtime/assert.ts';
import { csiSecrets } from '../csi-secrets.ts';
import type { AttachmentWrites } from './attachment-writes.ts';
import { decideAttachment, nodeIdAnnotation, nodeIdIn } from './decide-attachment.ts';

export interface AttachmentsOptions {
  readonly cluster: Cluster;
  readonly writes: AttachmentWrites;
  readonly csiNode: (name: string) => CSINode | undefined;
  readonly timeoutMs: number | undefined;
}

/**
 * Attaches and detaches volumes by calls to their driver, one attachment at a time.
 *
 * Safe to crash after any call or write. The finalizers of volume and attachment are written before the volume is published, and
 * removed after it was unpublished; in between, an attachment that is not attached is published again, which CSI makes
 * idempotent. So what was published is always recorded, and a lost reply costs another call.
 */
export class Attachments {
  readonly #options: AttachmentsOptions;

  constructor(options: AttachmentsOptions) {
    this.#options = options;
  }

  /** `attachment` was just read from the server. A failure is recorded in its status, and thrown. */
  async step(attachment: VolumeAttachment, driver: ServedCsiDriver, signal: AbortSignal): Promise<void> {
    const step = decideAttachment(attachment, driver.hasControllerCapability('PUBLISH_UNPUBLISH_VOLUME'));
    switch (step) {
      case 'nothing':
        return;
      case 'mark-attached':
        await this.#options.writes.markAttached(attachment, {}, signal);
        return;
      case 'attach':
        await this.#attach(attachment, driver, signal);
        return;
      case 'detach':
        await this.#detach(attachment, driver, signal);
        return;
      default:
        return unreachable(step);
    }
  }

  async #attach(attachment: VolumeAttachment, driver: ServedCsiDriver, signal: AbortSignal): Promise<void> {
    const { writes } = this.#options;
    let current = attachment;
    try {
      const volume = await this.#volumeOf(attachment, driver, signal);
      if (volume.metadata?.deletionTimestamp !== undefined)
        throw new Error(`PersistentVolume "${volume.metadata.name}" is being deleted`);
      // As much as possible is checked before the attachment gets a finalizer, which would delay its deletion.
      const request = await this.#publishRequest(attachment, volume, driver, signal);
      await writes.keepVolume(volume, driver.name, signal);
      current = await writes.prepare(attachment, request.nodeId, signal);
      const options = this.#callOptions(signal);
      const { publishContext } = await driver.call('ControllerPublishVolume', request, options);
      await writes.markAttached(current, publishContext, signal);
    } catch (error) {
      await this.#fail(current, 'attachError', error, signal);
    }
  }

  async #publishRequest(
    { spec }: VolumeAttachment,
    volume: PersistentVolume,
    driver: ServedCsiDriver,
    signal: AbortSignal,
  ) {
    const { nodeName = '' } = spec ?? {};
    const { volumeHandle = '', volumeAttributes, readOnly, controllerPublishSecretRef } = sourceOf(volume);
    const nodeId = nodeIdIn(this.#options.csiNode(nodeName), driver.name);
    if (nodeId === undefined) throw unregistered(nodeName, driver);
    return {
      volumeId: volumeHandle,
      nodeId,
      volumeCapability: capabilityOfVolume(volume.spec, driver),
      // CSI forbids the field for drivers without the capability.
      readonly: readOnly === true && driver.hasControllerCapability('PUBLISH_READONLY'),
      volumeContext: { ...volumeAttributes },
      secrets: await csiSecrets(this.#options.cluster, controllerPublishSecretRef, signal),
    };
  }

  async #detach(attachment: VolumeAttachment, driver: ServedCsiDriver, signal: AbortSignal): Promise<void> {
    try {
      const volume = await this.#volumeOf(attachment, driver, signal);
      const { volumeHandle = '', controllerPublishSecretRef } = sourceOf(volume);
      const { nodeName = '' } = attachment.spec ?? {};
      const recorded = attachment.metadata?.annotations?.[nodeIdAnnotation];
      const nodeId = nodeIdIn(this.#options.csiNode(nodeName), driver.name) ?? recorded;
      if (nodeId === undefined) throw unregistered(nodeName, driver);
      const secrets = await csiSecrets(this.#options.cluster, controllerPublishSecretRef, signal);
      const request = { volumeId: volumeHandle, nodeId, secrets };
      await driver.call('ControllerUnpublishVolume', request, this.#callOptions(signal));
      await this.#options.writes.markDetached(attachment, signal);
    } catch (error) {
      await this.#fail(attachment, 'detachError', error, signal);
    }
  }

  async #volumeOf(
    { spec }: VolumeAttachment,
    driver: ServedCsiDriver,
    signal: AbortSignal,
  ): Promise<PersistentVolume> {
    const name = spec?.source?.persistentVolumeName ?? '';
    if (name === '')
      throw new Error('spec.source.persistentVolumeName is empty; other sources are not supported');
    const volume = await this.#options.cluster.resource(persistentVolumes).get({ name }, { signal });
    if (volume.spec?.csi?.driver === driver.name) return volume;
    throw new Error(`PersistentVolume "${name}" is not a volume of CSI driver ${driver.name}`);
  }

  #callOptions(signal: AbortSignal) {
    const { timeoutMs } = this.#options;
    return timeoutMs === undefined ? { signal } : { signal, timeoutMs };
  }

  async #fail(
    attachment: VolumeAttachment,
    field: 'attachError' | 'detachError',
    error: unknown,
    signal: AbortSignal,
  ): Promise<never> {
    if (!signal.aborted && !isReason(error, 'Conflict'))
      await this.#options.writes.recordError(attachment, field, error, signal);
    throw error;
  }
}

function sourceOf({ spec }: PersistentVolume): CSIPersistentVolumeSource {
  return spec?.csi ?? {};
}

function unregistered(nodeName: string, { name }: ServedCsiDriver): Error {
  return new Error(`CSINode ${nodeName} does not contain driver ${name}`);
}
