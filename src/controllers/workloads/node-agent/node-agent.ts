import { grpcNumberOf } from '../../../csi/grpc-codes.ts';
import { type CsiDriverSet, noCsiDrivers } from '../../../csi/served-driver.ts';
import type { Lease } from '../../../kube/api/coordination.ts';
import type { Node, PersistentVolume, Pod } from '../../../kube/api/core.ts';
import type { KubeObject } from '../../../kube/api/meta.ts';
import type { VolumeAttachment } from '../../../kube/api/storage.ts';
import { isReason } from '../../../kube/api-error.ts';
import { keyOf } from '../../../kube/object-key.ts';
import { isFinished } from '../../../kube/pods.ts';
import { annotations } from '../../../kube/well-known.ts';
import type { Controller } from '../../../reconcile/controller.ts';
import { defineController, type LoopContext, type Reconciler } from '../../../reconcile/define-controller.ts';
import type { WorkQueue } from '../../../reconcile/work-queue.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import { AgentCaches } from './caches/agent-caches.ts';
import { claimKeysOf } from './caches/pods-by-node-and-claim.ts';
import { NodePluginLoops } from './csi/node-plugin-loops.ts';
import { type RequestToken, VolumeTokens } from './csi/volume-tokens.ts';
import { type CsiNodeSources, NodePlugins } from './csi-records/node-plugins.ts';
import { NodeReconciler } from './node-reconciler.ts';
import { isSameReport, reportOf } from './nodes/node-volumes.ts';
import { leaseNamespace } from './nodes/simulated-nodes.ts';
import { PodRunner } from './pod-runner.ts';
import { isOutOfService, terminatedPodsMax } from './pods/pod-garbage-collector.ts';
import { holdsVolumes, needsVolumes } from './pods/pod-lifecycle.ts';

/** How long a node's volume report is delayed, to combine changes into one write. */
const reportDelayMs = 20;

/**
 * Simulates the kubelet of all nodes that have none, and the attach controller: starts pods once all their volumes exist and may
 * be mounted, keeps them running, and ends them.
 *
 * Safe to run twice and to crash anywhere: progress is read from the objects, each write carries the version that was read,
 * and a pod runs only after its claims are annotated and its volumes attached.
 */
export function nodeAgentController(settings: NodeAgentControllerSettings = {}): Controller {
  return defineController({
    name: 'node-agent',
    workers: 8,
    create: (context) => new NodeAgent(context, settings),
  });
}

export interface NodeAgentControllerSettings {
  /** The feature gate of that name; on by default. Off: volumes are mounted without a check of their node affinity. */
  readonly volumeScheduling?: boolean | undefined;
  /** Volumes of these drivers are attached by the controller `attacher`. */
  readonly csiDrivers?: CsiDriverSet | undefined;
  /** The CSI node plugins of simulated nodes; volumes of other drivers are simulated. */
  readonly csiNodes?: CsiNodeSources | undefined;
  /** For drivers with `tokenRequests`; without it, their volumes are not published. */
  readonly requestToken?: RequestToken | undefined;
  /** Finished pods above this number are removed; 12500 by default, and 0 keeps all, as in kube-controller-manager. */
  readonly terminatedPodsMax?: number | undefined;
}

/** How often finished pods are counted while pods finish, as in kube-controller-manager. */
const terminatedDelayMs = 20_000;
const terminatedKey = 'terminated pods';

/** The code of an attachment that failed because the node has no slot left. */
const resourceExhausted = grpcNumberOf('ResourceExhausted');

/** Keys are `pod NAMESPACE/NAME`, `node NAME`, `attachment NAME` and `terminated pods`. */
class NodeAgent implements Reconciler {
  readonly caches: Reconciler['caches'];
  readonly #context: LoopContext;
  readonly #caches: AgentCaches;
  readonly #pods: PodRunner;
  readonly #nodes: NodeReconciler;
  readonly #queue: WorkQueue;
  readonly #csiDrivers: CsiDriverSet;
  readonly #plugins: NodePlugins;
  readonly #pluginLoops: NodePluginLoops;
  readonly #terminatedPodsMax: number;

  constructor(context: LoopContext, settings: NodeAgentControllerSettings) {
    const { volumeScheduling = true, csiDrivers = noCsiDrivers, csiNodes } = settings;
    this.#context = context;
    this.#terminatedPodsMax = settings.terminatedPodsMax ?? terminatedPodsMax;
    this.#csiDrivers = csiDrivers;
    this.#plugins = new NodePlugins(csiNodes);
    this.#caches = new AgentCaches(context, volumeScheduling, this.#plugins);
    this.caches = [this.#plugins, this.#caches];
    this.#queue = context.queue;
    const report = (nodeName: string) => this.#report(nodeName);
    const wakePod = (key: string) => this.#queue.add(`pod ${key}`);
    const shared = { context, caches: this.#caches, plugins: this.#plugins };
    const wakeNode = (nodeName: string) => this.#wakeNode(nodeName);
    const reportNode = (nodeName: string) => this.#volumesReleased(nodeName);
    const tokens = new VolumeTokens(settings.requestToken, context.clock);
    this.#pluginLoops = new NodePluginLoops({ ...shared, tokens, wakePod, wakeNode, reportNode });
    const podOptions = { csiDrivers, plugins: this.#plugins, pluginLoops: this.#pluginLoops, report };
    this.#pods = new PodRunner(context, this.#caches, podOptions);
    this.#nodes = new NodeReconciler({ ...shared, registration: this.#pluginLoops.registration, report });
  }

  async close(): Promise<void> {
    await this.#pluginLoops.ended();
  }

  listen(): readonly (() => void)[] {
    return [...this.#caches.follow(), ...this.#pluginLoops.start(this.#context.signal), ...this.#subscribe()];
  }

  /** Conflicts are normal: the caches catch up, and the key is retried. */
  async reconcile(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    try {
      return await this.#turn(key, signal);
    } catch (error) {
      if (isReason(error, 'Conflict') || isReason(error, 'AlreadyExists')) return {};
      throw error;
    }
  }

  async #turn(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const [what, object = ''] = key.split(' ');
    if (what === 'pod') return await this.#pods.run(object, signal);
    if (key === terminatedKey) {
      await this.#pods.collectTerminated(this.#terminatedPodsMax, signal);
      return undefined;
    }
    if (what === 'node') return await this.#nodes.reconcileNode(object, signal);
    await this.#nodes.detachIfUnused(object, signal);
    return undefined;
  }

  #subscribe(): readonly (() => void)[] {
    const { pods, nodes, leases, claims, volumes, csiNodes, drivers, attachments } = this.#caches;
    const { secrets, configMaps } = this.#caches;
    const usersOfVolume = (volume: PersistentVolume) => {
      const { namespace, name } = volume.spec?.claimRef ?? {};
      this.#wakeUsers(`${namespace}/${name}`);
    };
    const waiting = () => {
      for (const key of [...this.#pods.waiting, ...this.#pods.unreported]) this.#queue.add(`pod ${key}`);
    };
    const driver = ({ metadata }: KubeObject) => {
      waiting();
      this.#pluginLoops.driverChanged(metadata?.name ?? '');
    };
    const csiNode = ({ metadata }: KubeObject) => this.#csiNodeChanged(metadata?.name ?? '');
    const claim = (object: KubeObject) => this.#wakeUsers(keyOf(object));
    const config = ({ metadata }: KubeObject) => this.#wakeWaiting(metadata?.namespace ?? '');
    return [
      pods.addHandler({
        added: (pod) => this.#podChanged(pod),
        updated: (pod) => this.#podChanged(pod),
        deleted: (pod) => {
          this.#pods.forget(pod);
          this.#pluginLoops.release(pod);
          this.#podReleased(pod);
        },
      }),
      nodes.addHandler({
        added: (node) => this.#nodeChanged(node, undefined),
        updated: (node, old) => this.#nodeChanged(node, old),
        deleted: (node) => this.#nodeGone(node),
      }),
      leases.addHandler({
        updated: (lease, old) => this.#leaseChanged(lease, old),
        deleted: (lease) => this.#leaseChanged(lease, undefined),
      }),
      claims.addHandler({ added: claim, updated: claim, deleted: claim }),
      volumes.addHandler({ added: usersOfVolume, updated: usersOfVolume, deleted: usersOfVolume }),
      secrets.addHandler({ added: config, updated: config }),
      configMaps.addHandler({ added: config, updated: config }),
      csiNodes.addHandler({ added: csiNode, updated: csiNode, deleted: csiNode }),
      this.#csiDrivers.onJoin(waiting),
      drivers.addHandler({ added: driver, updated: driver, deleted: driver }),
      attachments.addHandler({
        added: (attachment) => this.#attachmentChanged(attachment),
        updated: (attachment, old) => {
          this.#attachmentChanged(attachment);
          this.#limitReached(attachment, old);
          this.#pods.attachments.report(attachment, old);
        },
        deleted: (attachment) => this.#attachmentGone(attachment),
      }),
    ];
  }

  /** A pod without a node is left to the scheduler, unless it was deleted. */
  #podChanged(pod: Pod): void {
    const isScheduled = (pod.spec?.nodeName ?? '') !== '';
    if (isFinished(pod) && this.#terminatedPodsMax > 0)
      this.#queue.addAfter(terminatedKey, terminatedDelayMs);
    if (!isScheduled && pod.metadata?.deletionTimestamp === undefined) return;
    this.#queue.add(`pod ${keyOf(pod)}`);
    if (isScheduled && !needsVolumes(pod)) this.#pluginLoops.release(pod);
    if (isScheduled && !holdsVolumes(pod)) this.#podReleased(pod);
  }

  /** Its volumes can be detached, and other pods may use its claims. */
  #podReleased(pod: Pod): void {
    const nodeName = pod.spec?.nodeName ?? '';
    for (const key of claimKeysOf(pod)) {
      this.#wakeUsers(key);
      if (nodeName !== '') this.#report(nodeName);
      const volume = this.#caches.volumes.get(this.#caches.claims.get(key)?.spec?.volumeName ?? '');
      const attachment = volume && this.#caches.attachmentFor(volume, nodeName);
      if (attachment !== undefined) this.#queue.add(`attachment ${attachment.metadata?.name}`);
    }
    // A node that was deleted has no status whose change would lead to this, and a claim of the pod may be gone already.
    if (nodeName !== '' && this.#caches.nodes.get(nodeName) === undefined) this.#reported(nodeName);
  }

  #nodeChanged(node: Node, old: Node | undefined): void {
    const name = node.metadata?.name ?? '';
    this.#queue.add(`node ${name}`);
    if (old === undefined || isMoved(node, old)) {
      this.#wakeNode(name);
      this.#pluginLoops.registerAgain(name);
    }
    if (old !== undefined && !isSameReport(reportOf(node), reportOf(old))) this.#reported(name);
  }

  /** Pods that waited for the report start, and unused volumes can be detached. */
  #reported(nodeName: string): void {
    for (const key of this.#caches.podIndex.onNode(nodeName))
      if (this.#pods.unreported.has(key)) this.#queue.add(`pod ${key}`);
    for (const { metadata, spec } of this.#caches.attached.onNode(nodeName))
      if (this.#caches.usersOn(nodeName, spec?.source?.persistentVolumeName ?? '').length === 0)
        this.#queue.add(`attachment ${metadata?.name}`);
  }

  /** A plugin has released volumes. A node that was deleted has no status, so its attachments are checked here, too. */
  #volumesReleased(nodeName: string): void {
    this.#report(nodeName);
    this.#reported(nodeName);
  }

  #csiNodeChanged(nodeName: string): void {
    this.#wakeNode(nodeName);
    this.#queue.add(`node ${nodeName}`);
    this.#pluginLoops.registerAgain(nodeName);
  }

  /** Another process attaches the volume, and its driver has counted more volumes on the node than its limit says. */
  #limitReached({ spec, status }: VolumeAttachment, old: VolumeAttachment): void {
    const { errorCode, time } = status?.attachError ?? {};
    if (errorCode !== resourceExhausted || time === old.status?.attachError?.time) return;
    this.#pluginLoops.slotsExhausted(spec?.nodeName ?? '', spec?.attacher ?? '');
  }

  #nodeGone({ metadata }: Node): void {
    const name = metadata?.name ?? '';
    this.#wakeNode(name);
    for (const attachment of this.#caches.attached.onNode(name))
      this.#queue.add(`attachment ${attachment.metadata?.name}`);
  }

  /** Whether a kubelet appeared or disappeared. */
  #leaseChanged({ metadata, spec }: Lease, old: Lease | undefined): void {
    if (metadata?.namespace !== leaseNamespace) return;
    if (old !== undefined && spec?.holderIdentity === old.spec?.holderIdentity) return;
    this.#queue.add(`node ${metadata.name}`);
    this.#wakeNode(metadata.name ?? '');
  }

  #attachmentChanged({ metadata, spec }: VolumeAttachment): void {
    const { nodeName = '', source } = spec ?? {};
    this.#queue.add(`attachment ${metadata?.name}`);
    this.#report(nodeName);
    // A pod may wait for the end of a deletion, and the node's report need not change for it.
    for (const pod of this.#caches.usersOn(nodeName, source?.persistentVolumeName ?? ''))
      if (this.#pods.unreported.has(keyOf(pod))) this.#queue.add(`pod ${keyOf(pod)}`);
  }

  /** Its users attach it again; other pods on the node may get its slot, and other nodes the volume. */
  #attachmentGone({ spec }: VolumeAttachment): void {
    this.#report(spec?.nodeName ?? '');
    const volume = this.#caches.volumes.get(spec?.source?.persistentVolumeName ?? '');
    const { namespace, name } = volume?.spec?.claimRef ?? {};
    this.#wakeUsers(`${namespace}/${name}`);
    for (const key of this.#caches.podIndex.onNode(spec?.nodeName ?? ''))
      if (this.#pods.waiting.has(key)) this.#queue.add(`pod ${key}`);
  }

  #report(nodeName: string): void {
    this.#queue.addAfter(`node ${nodeName}`, reportDelayMs);
  }

  #wakeUsers(claimKey: string): void {
    for (const key of this.#caches.podIndex.ofClaim(claimKey)) this.#queue.add(`pod ${key}`);
  }

  /** Pods that may wait for a Secret or a ConfigMap. */
  #wakeWaiting(namespace: string): void {
    for (const key of this.#pods.waiting) if (key.startsWith(`${namespace}/`)) this.#queue.add(`pod ${key}`);
  }

  #wakeNode(nodeName: string): void {
    for (const key of this.#caches.podIndex.onNode(nodeName)) this.#queue.add(`pod ${key}`);
  }
}

/** Whether its pods have to be reconciled again. */
function isMoved(node: Node, old: Node): boolean {
  const { metadata, spec } = node;
  const [now, before] = [metadata?.labels ?? {}, old.metadata?.labels ?? {}];
  const keys = new Set([...Object.keys(now), ...Object.keys(before)]);
  const isRelabelled = [...keys].some((key) => now[key] !== before[key]);
  return (
    isRelabelled ||
    isOutOfService(node) !== isOutOfService(old) ||
    JSON.stringify(spec?.taints) !== JSON.stringify(old.spec?.taints) ||
    metadata?.annotations?.[annotations.simulated] !== old.metadata?.annotations?.[annotations.simulated]
  );
}
