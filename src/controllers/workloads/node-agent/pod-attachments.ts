import type { CsiDriverSet } from '../../../csi/served-driver.ts';
import type { Pod } from '../../../kube/api/core.ts';
import type { VolumeAttachment } from '../../../kube/api/storage.ts';
import { volumeAttachments } from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { annotations, emptyDriver } from '../../../kube/well-known.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import type { AgentCaches } from './caches/agent-caches.ts';
import { NodeAgentPodWrites } from './pods/pod-writes.ts';

/**
 * Creates the attachments of pods, as an attach controller does. Volumes of drivers that attach them themselves wait for that; others are
 * attached immediately. Each write is made only if it is missing, so the next run completes what a crash interrupted.
 */
export class PodAttachments {
  readonly #context: ControllerContext;
  readonly #caches: AgentCaches;
  /** The drivers that attach their volumes themselves. */
  readonly #csiDrivers: CsiDriverSet;
  readonly #writes: NodeAgentPodWrites;

  constructor(context: ControllerContext, caches: AgentCaches, csiDrivers: CsiDriverSet) {
    this.#context = context;
    this.#caches = caches;
    this.#csiDrivers = csiDrivers;
    this.#writes = new NodeAgentPodWrites(context);
  }

  /** Reserves all slots together, then calls `prepare`, then attaches. */
  async attach(
    pod: Pod,
    wanted: readonly VolumeAttachment[],
    signal: AbortSignal,
    prepare: () => Promise<void>,
  ): Promise<void> {
    const { attached } = this.#caches;
    const fresh = wanted.filter(({ metadata }) => attached.get(metadata?.name ?? '') === undefined);
    for (const attachment of fresh) attached.put(attachment);
    try {
      await prepare();
      for (const attachment of wanted) await this.#attachOne(pod, attachment, signal);
    } catch (error) {
      for (const { metadata } of fresh) attached.giveUp(metadata?.name ?? '');
      throw error;
    }
  }

  async #attachOne(pod: Pod, wanted: VolumeAttachment, signal: AbortSignal): Promise<void> {
    const client = this.#context.cluster.resource(volumeAttachments);
    const name = wanted.metadata?.name ?? '';
    const known = this.#caches.attachments.get(name);
    if (known !== undefined && this.#caches.attached.isUsable(known)) return;
    const found = await undefinedIfNotFound(client.get({ name }, { signal }));
    const current =
      found === undefined ? await client.create(wanted, { signal }) : await this.#takeOver(found, signal);
    // The driver attaches it, and the write of `attached` leads back here by the node's report.
    if (current.status?.attached === true || this.#isAttachedByDriver(wanted)) return;
    const { uid, resourceVersion } = current.metadata ?? {};
    const body = { metadata: { uid, resourceVersion }, status: { attached: true } };
    await client.patch({ name }, { type: 'merge', body }, { subresource: 'status', signal });
    this.#writes.recordEvent(pod, attachedEvent(wanted));
  }

  /** A deletion that an earlier agent has requested either takes effect before this write, which then fails, or never. */
  async #takeOver(found: VolumeAttachment, signal: AbortSignal): Promise<VolumeAttachment> {
    if (!this.#caches.attached.isInherited(found)) return found;
    const { name = '', uid, resourceVersion = '' } = found.metadata ?? {};
    const inherited = { [annotations.inheritedVersion]: resourceVersion };
    const body = { metadata: { uid, resourceVersion, annotations: inherited } };
    const client = this.#context.cluster.resource(volumeAttachments);
    return await client.patch({ name }, { type: 'merge', body }, { signal });
  }

  /** A driver has attached a volume, or could not: the pods that wait for it get the Event of an attach controller. */
  report(attachment: VolumeAttachment, old: VolumeAttachment): void {
    const event = this.#isAttachedByDriver(attachment) ? attachmentEvent(attachment, old) : undefined;
    const { nodeName = '', source } = attachment.spec ?? {};
    if (event === undefined) return;
    for (const pod of this.#caches.usersOn(nodeName, source?.persistentVolumeName ?? ''))
      this.#writes.recordEvent(pod, event);
  }

  /** As long as the names of some drivers are not known, a volume of any foreign driver may be theirs. */
  #isAttachedByDriver({ spec }: VolumeAttachment): boolean {
    const { attacher = '' } = spec ?? {};
    if (this.#csiDrivers.get(attacher) !== undefined) return true;
    return this.#csiDrivers.isIncomplete === true && attacher !== emptyDriver;
  }
}

interface AttachmentEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: 'SuccessfulAttachVolume' | 'FailedAttachVolume';
  readonly action: string;
  readonly note: string;
}

const action = 'StartPod';

/** The Event on a pod whose volume was attached. */
function attachedEvent(attachment: VolumeAttachment): AttachmentEvent {
  const note = `AttachVolume.Attach succeeded for volume "${volumeOf(attachment)}" `;
  return { type: 'Normal', reason: 'SuccessfulAttachVolume', action, note };
}

/** The Event for a change of the status that the driver's attacher wrote; undefined for other changes. */
function attachmentEvent(attachment: VolumeAttachment, old: VolumeAttachment): AttachmentEvent | undefined {
  const { attached = false, attachError } = attachment.status ?? {};
  if (attached && old.status?.attached !== true) return attachedEvent(attachment);
  if (attachError === undefined || attachError.time === old.status?.attachError?.time) return undefined;
  const note = `AttachVolume.Attach failed for volume "${volumeOf(attachment)}" : ${attachError.message}`;
  return { type: 'Warning', reason: 'FailedAttachVolume', action, note };
}

function volumeOf({ spec }: VolumeAttachment): string | undefined {
  return spec?.source?.persistentVolumeName;
}
