import { type CsiDriverSet, noCsiDrivers, type ServedCsiDriver } from '../../csi/served-driver.ts';
import type { PersistentVolume } from '../../kube/api/core.ts';
import type { CSINode, VolumeAttachment } from '../../kube/api/storage.ts';
import { isReason } from '../../kube/api-error.ts';
import { csiNodes, persistentVolumes, volumeAttachments } from '../../kube/resources.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import type { Controller } from '../../reconcile/controller.ts';
import { defineController, type LoopContext, type Reconciler } from '../../reconcile/define-controller.ts';
import type { Informer } from '../../reconcile/informer/informer.ts';
import { removeFinalizer } from '../../reconcile/remove-finalizer.ts';
import type { WorkQueue } from '../../reconcile/work-queue.ts';
import type { Requeue } from '../../reconcile/workers.ts';
import type { CsiSettings } from '../csi-settings.ts';
import { ServedNode } from '../served-node.ts';
import { AttachmentWrites } from './attachment-writes.ts';
import { Attachments } from './attachments.ts';
import { attacherFinalizer, decideAttachment, isRelevantChange, nodeIdIn } from './decide-attachment.ts';

/** The defaults of external-attacher. */
const workers = 10;
const retryBaseMs = 1_000;
const retryMaxMs = 5 * 60_000;
/** Another client changed the object meanwhile; the caches follow soon. */
const conflictRetryMs = 20;

export interface AttacherControllerSettings {
  readonly csiDrivers?: CsiDriverSet | undefined;
  /** If `nodeName` is set, the controller attaches and detaches only volumes of that node, with its driver. */
  readonly csi?: Pick<CsiSettings, 'timeoutMs' | 'nodeName'> | undefined;
}

/**
 * Attaches volumes of the CSI drivers that this process serves to nodes, and detaches them, as the VolumeAttachments ask for. Others create
 * and delete those: the attach controller of kube-controller-manager, or the node agent of an embedded cluster.
 */
export function attacherController(settings: AttacherControllerSettings = {}): Controller {
  return defineController({
    name: 'attacher',
    workers,
    retry: { retryBaseMs, retryMaxMs },
    create: (context) => new Attacher(context, settings),
  });
}

/** Keys are `attachment NAME` and `volume NAME`. */
class Attacher implements Reconciler {
  readonly caches: Reconciler['caches'];
  readonly #context: LoopContext;
  readonly #drivers: CsiDriverSet;
  readonly #attachments: Informer<VolumeAttachment>;
  readonly #volumes: Informer<PersistentVolume>;
  readonly #csiNodes: Informer<CSINode>;
  readonly #servedNode: ServedNode | undefined;
  readonly #steps: Attachments;
  readonly #queue: WorkQueue;

  constructor(context: LoopContext, { csiDrivers = noCsiDrivers, csi }: AttacherControllerSettings) {
    const { cluster, clock, informers } = context;
    this.#context = context;
    this.#drivers = csiDrivers;
    this.#attachments = informers.of(volumeAttachments);
    this.#volumes = informers.of(persistentVolumes);
    this.#csiNodes = informers.of(csiNodes);
    this.#servedNode = ServedNode.of(csi, context);
    this.#queue = context.queue;
    const caches = [this.#attachments, this.#volumes, this.#csiNodes, this.#servedNode];
    this.caches = caches.filter((cache) => cache !== undefined);
    this.#steps = new Attachments({
      cluster,
      writes: new AttachmentWrites({ cluster, clock, onWrite: context.beforeWrite }),
      csiNode: (nodeName) => this.#csiNodes.get(nodeName),
      timeoutMs: csi?.timeoutMs,
    });
  }

  listen(): readonly (() => void)[] {
    const volume = (object: PersistentVolume) => this.#considerVolume(object);
    const considerOverdue = () => {
      for (const key of this.sweepKeys()) this.#queue.add(key);
    };
    const stopNodes = this.#servedNode?.onChange(considerOverdue);
    return [
      this.#attachments.addHandler({
        added: (attachment) => this.#considerAttachment(attachment),
        updated: (attachment, old) => {
          if (isRelevantChange(attachment, old)) this.#considerAttachment(attachment);
        },
        deleted: (attachment) => {
          this.#queue.forget(keyOfAttachment(attachment));
          const found = this.#volumes.get(attachment.spec?.source?.persistentVolumeName ?? '');
          if (found !== undefined) this.#considerVolume(found);
        },
      }),
      this.#volumes.addHandler({ added: volume, updated: volume }),
      this.#csiNodes.addHandler({
        added: (csiNode) => this.#driversRegistered(csiNode, undefined),
        updated: (csiNode, old) => this.#driversRegistered(csiNode, old),
      }),
      this.#drivers.onJoin(considerOverdue),
      ...(stopNodes === undefined ? [] : [stopNodes]),
    ];
  }

  #considerAttachment(attachment: VolumeAttachment): void {
    if (this.#needsStep(attachment)) this.#queue.add(keyOfAttachment(attachment));
  }

  #considerVolume(volume: PersistentVolume): void {
    if (this.#isReleasable(volume)) this.#queue.add(`volume ${volume.metadata?.name}`);
  }

  /** A node plugin has started: attachments that failed for the lack of it need not wait for their next attempt. */
  #driversRegistered(csiNode: CSINode, old: CSINode | undefined): void {
    const registered = (csiNode.spec?.drivers ?? []).filter(
      ({ name: driver = '', nodeID }) => nodeIdIn(old, driver) !== nodeID,
    );
    if (registered.length === 0) return;
    for (const attachment of this.#attachments.values())
      if (attachment.spec?.nodeName === csiNode.metadata?.name) this.#considerAttachment(attachment);
  }

  *sweepKeys(): Iterable<string> {
    for (const attachment of this.#attachments.values())
      if (this.#needsStep(attachment)) yield keyOfAttachment(attachment);
    for (const volume of this.#volumes.values())
      if (this.#isReleasable(volume)) yield `volume ${volume.metadata?.name}`;
  }

  /** Undefined for attachments that another process serves, too. */
  #driverOf(attachment: VolumeAttachment): ServedCsiDriver | undefined {
    return this.#isServed(attachment) ? this.#drivers.get(attachment.spec?.attacher ?? '') : undefined;
  }

  /**
   * Where each node has its process, that of the attachment's node attaches and detaches. A node that was deleted has none any more: then
   * every process whose node reaches the volume may detach it.
   */
  #isServed({ spec }: VolumeAttachment): boolean {
    const node = this.#servedNode;
    if (node === undefined || spec?.nodeName === node.name) return true;
    const volume = this.#volumes.get(spec?.source?.persistentVolumeName ?? '');
    return node.isGone(spec?.nodeName ?? '') && volume !== undefined && node.reaches(volume);
  }

  #needsStep(attachment: VolumeAttachment): boolean {
    const driver = this.#driverOf(attachment);
    if (driver === undefined) return false;
    const publishes = driver.hasControllerCapability('PUBLISH_UNPUBLISH_VOLUME');
    return decideAttachment(attachment, publishes) !== 'nothing';
  }

  /** Whether the volume is being deleted, and waits for nothing but our finalizer. */
  #isReleasable({ metadata, spec }: PersistentVolume): boolean {
    const driver = spec?.csi?.driver ?? '';
    const isKept = (metadata?.finalizers ?? []).includes(attacherFinalizer(driver));
    if (metadata?.deletionTimestamp === undefined || !isKept) return false;
    return this.#drivers.get(driver) !== undefined && !this.#hasAttachment(metadata.name);
  }

  #hasAttachment(volumeName: string | undefined): boolean {
    for (const { spec } of this.#attachments.values())
      if (spec?.source?.persistentVolumeName === volumeName) return true;
    return false;
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const [what, objectName = ''] = key.split(' ');
    try {
      if (what === 'attachment') await this.#reconcileAttachment(objectName, signal);
      else await this.#reconcileVolume(objectName, signal);
      return undefined;
    } catch (error) {
      if (isReason(error, 'Conflict')) return { afterMs: conflictRetryMs };
      throw error;
    }
  }

  /** Read from the server: a stale attachment could be published again after it was detached. */
  async #reconcileAttachment(attachmentName: string, signal: AbortSignal): Promise<void> {
    const client = this.#context.cluster.resource(volumeAttachments);
    const found = await undefinedIfNotFound(client.get({ name: attachmentName }, { signal }));
    const driver = found && this.#driverOf(found);
    if (found !== undefined && driver !== undefined) await this.#steps.step(found, driver, signal);
  }

  /** A volume that is being deleted gets no attachment any more, so the finalizer cannot be needed again. */
  async #reconcileVolume(volumeName: string, signal: AbortSignal): Promise<void> {
    const volume = this.#volumes.get(volumeName);
    if (volume === undefined || !this.#isReleasable(volume)) return;
    this.#context.beforeWrite();
    const client = this.#context.cluster.resource(persistentVolumes);
    await removeFinalizer(client, volume, attacherFinalizer(volume.spec?.csi?.driver ?? ''), signal);
  }
}

function keyOfAttachment({ metadata }: VolumeAttachment): string {
  return `attachment ${metadata?.name}`;
}
