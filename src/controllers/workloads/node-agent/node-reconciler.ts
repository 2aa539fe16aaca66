import type { Lease } from '../../../kube/api/coordination.ts';
import type { Node } from '../../../kube/api/core.ts';
import type { VolumeAttachment } from '../../../kube/api/storage.ts';
import { isReason, isRefusal } from '../../../kube/api-error.ts';
import { leases, nodes, volumeAttachments } from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import type { AgentCaches } from './caches/agent-caches.ts';
import type { PluginRegistration } from './csi/plugin-registration.ts';
import type { NodePlugins } from './csi-records/node-plugins.ts';
import { isManagedAttachment } from './mounts/attachments.ts';
import { reportOf, reportPatch } from './nodes/node-volumes.ts';
import {
  allocatablePatch,
  leaseFor,
  nodeInfoPatch,
  readyConditions,
  renewalDueMs,
} from './nodes/simulated-nodes.ts';

export interface NodeReconcilerOptions {
  readonly context: ControllerContext;
  readonly caches: AgentCaches;
  readonly plugins: NodePlugins;
  readonly registration: PluginRegistration;
  /** Requests a write of the node's status. */
  readonly report: (nodeName: string) => void;
}

/**
 * Maintains simulated nodes: their lease, their Ready condition, and their attachments.
 *
 * Only this class writes a node's status, in one write for all changes; callers that need a write queue the node, and
 * since the queue holds each node once, many pods share one write.
 */
export class NodeReconciler {
  readonly #context: ControllerContext;
  readonly #caches: AgentCaches;
  readonly #plugins: NodePlugins;
  readonly #registration: PluginRegistration;
  readonly #report: (nodeName: string) => void;

  constructor({ context, caches, plugins, registration, report }: NodeReconcilerOptions) {
    this.#context = context;
    this.#caches = caches;
    this.#plugins = plugins;
    this.#registration = registration;
    this.#report = report;
  }

  /** Requeues the node when the lease has to be renewed. */
  async reconcileNode(nodeName: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const node = this.#caches.simulatedNode(nodeName);
    if (node === undefined) return undefined;
    const nowMs = this.#context.clock.nowMs();
    const current = this.#caches.leaseOf(nodeName);
    const lease = leaseFor(node, current, nowMs);
    if (lease !== undefined) await this.#writeLease(lease, signal);
    await this.#writeStatus(node, nowMs, signal);
    await this.#registration.removeUnconfigured(node, signal);
    return { afterMs: renewalDueMs(lease ?? current ?? {}) - nowMs };
  }

  async #writeStatus(node: Node, nowMs: number, signal: AbortSignal): Promise<void> {
    const { name = '', uid, resourceVersion } = node.metadata ?? {};
    const conditions = readyConditions(node, nowMs);
    const volumes = reportPatch(node, this.#caches.volumeReport(name));
    const status = {
      ...(conditions === undefined ? {} : { conditions }),
      ...volumes,
      ...nodeInfoPatch(node),
      ...allocatablePatch(node),
    };
    if (Object.keys(status).length === 0) return;
    const body = { metadata: { uid, resourceVersion }, status };
    const client = this.#context.cluster.resource(nodes);
    await undefinedIfNotFound(
      client.patch({ name }, { type: 'merge', body }, { subresource: 'status', signal }),
    );
  }

  /**
   * Detaches a volume that no pod on the node holds any more, once the node's status reports it neither as in use nor as attached; the write of that
   * status leads back here. For a pod that arrives at the same moment the attachment is created again: its deletion queues the pod. That
   * pod does not start with the old one: a deletion that was requested may still take effect when its response is lost, so it is repeated
   * until the attachment has another version.
   */
  async detachIfUnused(name: string, signal: AbortSignal): Promise<void> {
    const attachment = this.#caches.attachments.get(name);
    const { nodeName = '', source } = attachment?.spec ?? {};
    if (attachment === undefined || !this.#isOurs(nodeName)) return;
    // The driver's attacher is detaching it.
    if (attachment.metadata?.deletionTimestamp !== undefined) return;
    const volumeName = source?.persistentVolumeName ?? '';
    if (!isManagedAttachment(attachment, this.#caches.volumes.get(volumeName))) return;
    const isUsed =
      this.#caches.usersOn(nodeName, volumeName).length > 0 || this.#isReported(nodeName, volumeName);
    if (isUsed && !this.#caches.attached.isBeingDeleted(name)) return;
    await this.#deleteAttachment(attachment, signal);
  }

  /** After a refusal other than a conflict the attachment stays, and pods may use it again. */
  async #deleteAttachment(attachment: VolumeAttachment, signal: AbortSignal): Promise<void> {
    const { name = '', uid = '', resourceVersion = '' } = attachment.metadata ?? {};
    const client = this.#context.cluster.resource(volumeAttachments);
    this.#caches.attached.deletionRequested(attachment);
    try {
      await undefinedIfNotFound(client.delete({ name }, { preconditions: { uid, resourceVersion }, signal }));
    } catch (error) {
      if (isRefusal(error) && !isReason(error, 'Conflict')) {
        this.#caches.attached.deletionRefused(name);
        this.#report(attachment.spec?.nodeName ?? '');
      }
      throw error;
    }
  }

  /** A deleted node has no other component to detach its volumes. */
  #isOurs(nodeName: string): boolean {
    const { nodes: known } = this.#caches;
    return known.get(nodeName) === undefined || this.#caches.simulatedNode(nodeName) !== undefined;
  }

  #isReported(nodeName: string, volumeName: string): boolean {
    const { inUse, attached } = reportOf(this.#caches.nodes.get(nodeName) ?? {});
    const reported = this.#caches.reportedName(volumeName);
    if (reported !== undefined && this.#plugins.heldVolumes(nodeName).includes(reported)) return true;
    return reported !== undefined && (inUse.includes(reported) || attached.includes(reported));
  }

  async #writeLease(lease: Lease, signal: AbortSignal): Promise<void> {
    const client = this.#context.cluster.resource(leases);
    const { namespace, name = '', uid, resourceVersion, ownerReferences, annotations } = lease.metadata ?? {};
    if (uid === undefined) {
      await client.create(lease, { signal });
      return;
    }
    const metadata = { uid, resourceVersion, ownerReferences, annotations };
    const body = { metadata, spec: lease.spec };
    await client.patch({ namespace, name }, { type: 'merge', body }, { signal });
  }
}
