import type { CsiDriverSet } from '../../../csi/served-driver.ts';
import type { Node, PersistentVolumeClaim, Pod, PodStatus } from '../../../kube/api/core.ts';
import type { VolumeAttachment } from '../../../kube/api/storage.ts';
import { conflict } from '../../../kube/api-error.ts';
import { keyOf } from '../../../kube/object-key.ts';
import { isFinished } from '../../../kube/pods.ts';
import { nodes, persistentVolumeClaims } from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { annotations } from '../../../kube/well-known.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import { assert, unreachable } from '../../../runtime/assert.ts';
import type { AgentCaches } from './caches/agent-caches.ts';
import { claimKeysOf } from './caches/pods-by-node-and-claim.ts';
import type { NodePluginLoops } from './csi/node-plugin-loops.ts';
import type { NodePlugins } from './csi-records/node-plugins.ts';
import { growFileSystem } from './mounts/grow-file-system.ts';
import { checkMounts, type Mount, type MountBlock } from './mounts/mount-check.ts';
import { MountWarningDelay } from './mounts/mount-warning-delay.ts';
import { mountedAnnotationValue } from './mounts/mounted-annotation.ts';
import { missingEnvironment } from './mounts/referenced-config.ts';
import { reportOf, type VolumeReport } from './nodes/node-volumes.ts';
import { PodAttachments } from './pod-attachments.ts';
import { type AdmissionFailure, admissionFailure } from './pods/admission.ts';
import { PodGarbageCollector } from './pods/pod-garbage-collector.ts';
import { nextLifecycleStep } from './pods/pod-lifecycle.ts';
import {
  deadlineMessage,
  expiredStatus,
  finishedStatus,
  refreshedStatus,
  rejectedStatus,
  restartStatus,
  runningStatus,
  type WrittenStatus,
  waitingStatus,
} from './pods/pod-status.ts';
import { PodTime } from './pods/pod-time.ts';
import { NodeAgentPodWrites } from './pods/pod-writes.ts';
import { TaintEvictions } from './pods/taint-evictions.ts';

export interface PodRunnerOptions {
  /** The drivers that attach their volumes themselves. */
  readonly csiDrivers: CsiDriverSet;
  readonly plugins: NodePlugins;
  readonly pluginLoops: NodePluginLoops;
  /** Requests a write of the node's status. */
  readonly report: (nodeName: string) => void;
}

/**
 * Executes the next step for one pod. Every write carries the version of the object that was read.
 *
 * Starting takes several writes: the node reports the volumes as in use, the claims are annotated, the attachments created and attached, the
 * node reports them as attached, the pod's status changes. Each is made only if it is missing,
 * so a start that was interrupted by a crash is completed by the next run; the pod runs only after all of them.
 */
export class PodRunner {
  /** Pods that cannot start yet. */
  readonly waiting = new Set<string>();
  /** Pods that start once their node's status reports their volumes. */
  readonly unreported = new Set<string>();
  readonly attachments: PodAttachments;
  readonly #context: ControllerContext;
  readonly #caches: AgentCaches;
  readonly #options: PodRunnerOptions;
  readonly #writes: NodeAgentPodWrites;
  readonly #evictions: TaintEvictions;
  readonly #collector: PodGarbageCollector;
  readonly #warningDelay: MountWarningDelay;
  readonly #time: PodTime;
  /** Uids of pods that their node has admitted, although nothing was written yet. */
  readonly #admitted = new Set<string>();

  constructor(context: ControllerContext, caches: AgentCaches, options: PodRunnerOptions) {
    this.#context = context;
    this.#caches = caches;
    this.#options = options;
    this.#writes = new NodeAgentPodWrites(context);
    this.attachments = new PodAttachments(context, caches, options.csiDrivers);
    this.#evictions = new TaintEvictions(context.clock, this.#writes);
    this.#collector = new PodGarbageCollector(context, this.#writes);
    this.#warningDelay = new MountWarningDelay(context.clock);
    this.#time = new PodTime(context.clock);
  }

  /** The caller reports that the pod no longer exists. */
  forget(pod: Pod): void {
    this.waiting.delete(keyOf(pod));
    this.unreported.delete(keyOf(pod));
    this.#evictions.forget(pod);
    this.#collector.forget(pod);
    this.#warningDelay.forget(pod);
    this.#time.forget(pod);
    this.#admitted.delete(pod.metadata?.uid ?? '');
  }

  async run(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    this.waiting.delete(key);
    this.unreported.delete(key);
    const pod = this.#caches.pods.get(key);
    if (pod === undefined) return undefined;
    const nodeName = pod.spec?.nodeName ?? '';
    if (nodeName === '') {
      await this.#collector.collectUnscheduled(pod, signal);
      return undefined;
    }
    if (this.#caches.nodes.get(nodeName) === undefined) return await this.#collector.collectLost(pod, signal);
    this.#collector.forget(pod);
    const known = this.#caches.nodes.get(nodeName)!;
    if (await this.#collector.collectOutOfService(pod, known, signal)) return undefined;
    const node = this.#caches.simulatedNode(nodeName);
    return node === undefined ? undefined : await this.#runPod(pod, node, signal);
  }

  /** Removes finished pods above the number that may stay. */
  async collectTerminated(max: number, signal: AbortSignal): Promise<void> {
    await this.#collector.collectTerminated(this.#caches.pods.values() as Iterable<Pod>, max, signal);
  }

  /** A pod on a simulated node: admitted or rejected once, then kept until its end or an eviction. */
  async #runPod(pod: Pod, node: Node, signal: AbortSignal): Promise<Requeue | undefined> {
    if (pod.metadata?.deletionTimestamp !== undefined) return await this.#step(pod, node, signal);
    const rejection = await this.#admit(pod, node, signal);
    if (rejection !== undefined) {
      await this.#refuse(pod, rejection, signal);
      return undefined;
    }
    const eviction = await this.#evictions.evictIfDue(pod, node, signal);
    if (eviction.kind === 'evicted') return undefined;
    return soonest(
      await this.#step(pod, node, signal),
      eviction.untilMs === undefined ? undefined : eviction.untilMs - this.#context.clock.nowMs(),
    );
  }

  /** A pod with a start time was already admitted. Labels may be newer than the cache, which alone must not fail a pod. */
  async #admit(pod: Pod, node: Node, signal: AbortSignal): Promise<AdmissionFailure | undefined> {
    const { uid = '' } = pod.metadata ?? {};
    if (isFinished(pod) || this.#isAdmitted(pod)) return undefined;
    let rejection = admissionFailure(pod, node, this.#othersOn(pod));
    if (rejection?.reason === 'NodeAffinity') {
      const { name = '' } = node.metadata ?? {};
      const fresh = await undefinedIfNotFound(
        this.#context.cluster.resource(nodes).get({ name }, { signal }),
      );
      rejection = admissionFailure(pod, fresh ?? node, this.#othersOn(pod));
    }
    if (rejection === undefined) this.#admitted.add(uid);
    return rejection;
  }

  async #refuse(pod: Pod, rejection: AdmissionFailure, signal: AbortSignal): Promise<void> {
    const { reason, message: note } = rejection;
    this.#writes.recordEvent(pod, { type: 'Warning', reason, action: 'AdmitPod', note });
    await this.#writes.status(pod, rejectedStatus(pod, rejection, this.#context.clock.nowMs()), signal);
  }

  #isAdmitted({ metadata, status }: Pod): boolean {
    return (
      status?.startTime !== undefined ||
      status?.phase === 'Running' ||
      this.#admitted.has(metadata?.uid ?? '')
    );
  }

  #othersOn({ metadata, spec }: Pod): readonly Pod[] {
    const holders = this.#caches.holdersOn(spec?.nodeName ?? '');
    return holders.filter((other) => other.metadata?.uid !== metadata?.uid && this.#isAdmitted(other));
  }

  async #step(pod: Pod, node: Node, signal: AbortSignal): Promise<Requeue | undefined> {
    const nowMs = this.#time.nowMs(pod);
    const step = nextLifecycleStep(pod, nowMs);
    switch (step.kind) {
      case 'nothing':
        return undefined;
      case 'start':
        return soonest(
          await this.#start(pod, node, signal),
          step.untilMs === undefined ? undefined : step.untilMs - nowMs,
        );
      case 'keep':
        await this.#keep(pod, signal);
        return step.untilMs === undefined ? undefined : { afterMs: step.untilMs - nowMs };
      case 'finish':
        await this.#writes.status(pod, finishedStatus(pod, nowMs, step.exitCode), signal);
        return undefined;
      case 'back-off':
      case 'restart': {
        const { exitCode, kind } = step;
        const status = restartStatus(pod, nowMs, { exitCode, isDelayed: kind === 'back-off' });
        await this.#writes.status(pod, status, signal);
        return undefined;
      }
      case 'expire':
        return await this.#expire(pod, signal);
      case 'wait':
        return { afterMs: step.untilMs - nowMs };
      case 'remove':
        // The end of the last volume wakes the pod.
        if (!this.#options.plugins.hasVolumesOf(pod.spec?.nodeName ?? '', pod.metadata?.uid ?? ''))
          await this.#writes.remove(pod, signal);
        return undefined;
      default:
        return unreachable(step);
    }
  }

  async #expire(pod: Pod, signal: AbortSignal): Promise<undefined> {
    const event = {
      type: 'Normal',
      reason: 'DeadlineExceeded',
      action: 'StopPod',
      note: deadlineMessage,
    } as const;
    this.#writes.recordEvent(pod, event);
    await this.#writes.status(pod, expiredStatus(pod, this.#time.nowMs(pod)), signal);
  }

  async #start(pod: Pod, node: Node, signal: AbortSignal): Promise<Requeue | undefined> {
    const isInUse = this.#awaitReport(pod, ({ inUse }) => inUse);
    const check = checkMounts(this.#caches.mountView(pod, node));
    if (check.kind === 'blocked') return await this.#reportBlock(pod, check.block, signal);
    this.#warningDelay.forget(pod);
    if (isInUse) await this.#startMounting(pod, node, { mounts: check.mounts, signal });
    return undefined;
  }

  async #startMounting(
    pod: Pod,
    node: Node,
    { mounts, signal }: { readonly mounts: readonly Mount[]; readonly signal: AbortSignal },
  ): Promise<void> {
    const missing = mounts.flatMap(({ attachment }) => attachment ?? []);
    await this.attachments.attach(pod, missing, signal, () => this.#annotateClaims(pod, mounts, signal));
    if (!this.#awaitReport(pod, ({ attached }) => attached) || this.#awaitDeletion(pod, missing)) return;
    if (!this.#options.pluginLoops.publish(pod)) {
      // The plugin wakes the pod.
      await this.#writeWaiting(pod, signal);
      return;
    }
    if (await this.#reportConfigErrors(pod, signal)) return;
    const address = this.#caches.addresses.take(pod);
    assert(address !== undefined, 'there are no addresses left for pods');
    await this.#writes.status(pod, runningStatus(pod, node, address, this.#context.clock.nowMs()), signal);
  }

  /** Whether containers cannot be created; the object that they lack wakes the pod. */
  async #reportConfigErrors(pod: Pod, signal: AbortSignal): Promise<boolean> {
    const lookup = this.#caches.configOf(pod);
    const errors = new Map<string, string>();
    for (const container of [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])]) {
      const message = missingEnvironment(lookup, pod, container);
      if (message !== undefined) errors.set(container.name ?? '', message);
    }
    if (errors.size === 0) return false;
    this.waiting.add(keyOf(pod));
    for (const message of new Set(errors.values()))
      this.#writes.recordEvent(pod, {
        type: 'Warning',
        reason: 'Failed',
        action: 'StartPod',
        note: `Error: ${message}`,
      });
    const status = waitingStatus(pod, this.#context.clock.nowMs(), errors);
    if (!isSameWaiting(pod, status)) await this.#writes.status(pod, status, signal);
    return true;
  }

  /** Whether the node reports all the pod's volumes; if not, the report is requested, and the pod is reconciled again after it. */
  #awaitReport(pod: Pod, listOf: (report: VolumeReport) => readonly string[]): boolean {
    const { nodeName = '' } = pod.spec ?? {};
    const reported = listOf(reportOf(this.#caches.nodes.get(nodeName) ?? {}));
    if (this.#caches.attachableNames(pod).every((name) => reported.includes(name))) return true;
    this.unreported.add(keyOf(pod));
    this.#options.report(nodeName);
    return false;
  }

  /** Whether one of the attachments is about to be removed, although the node reports it: the pod starts with the next one. */
  #awaitDeletion(pod: Pod, wanted: readonly VolumeAttachment[]): boolean {
    const isAwaited = wanted.some(({ metadata }) =>
      this.#caches.attached.isBeingDeleted(metadata?.name ?? ''),
    );
    if (isAwaited) this.unreported.add(keyOf(pod));
    return isAwaited;
  }

  async #reportBlock(pod: Pod, block: MountBlock, signal: AbortSignal): Promise<Requeue | undefined> {
    const { reason, note } = block;
    this.waiting.add(keyOf(pod));
    const delayMs = this.#warningDelay.remainingMs(pod, block);
    if (delayMs === 0) this.#writes.recordEvent(pod, { type: 'Warning', reason, action: 'StartPod', note });
    await this.#writeWaiting(pod, signal);
    return delayMs === 0 ? undefined : { afterMs: delayMs };
  }

  async #writeWaiting(pod: Pod, signal: AbortSignal): Promise<void> {
    const status = waitingStatus(pod, this.#context.clock.nowMs());
    if (!isSameWaiting(pod, status)) await this.#writes.status(pod, status, signal);
  }

  /** To the versions that were read: a concurrent rollback, or another pod that was first, makes it fail. */
  async #annotateClaims(pod: Pod, mounts: readonly Mount[], signal: AbortSignal): Promise<void> {
    const value = mountedAnnotationValue({
      nodeName: pod.spec?.nodeName ?? '',
      podUid: pod.metadata?.uid ?? '',
    });
    const client = this.#context.cluster.resource(persistentVolumeClaims);
    const byName = new Map(mounts.map((mount) => [mount.claim.metadata?.name, mount]));
    for (const { claim, needsAnnotation } of byName.values()) {
      if (!needsAnnotation) {
        await this.#confirmClaim(claim, signal);
        continue;
      }
      const { namespace, name = '', uid, resourceVersion } = claim.metadata ?? {};
      const mounted = { [annotations.mounted]: value };
      const body = { metadata: { uid, resourceVersion, annotations: mounted } };
      await client.patch({ namespace, name }, { type: 'merge', body }, { signal });
    }
  }

  /**
   * Nothing is written to a claim that an earlier pod has annotated, so it is read: the cache may show a deleted one of the same name. What is
   * read stays true, because the claims of a pod that has a node are protected.
   */
  async #confirmClaim({ metadata, spec }: PersistentVolumeClaim, signal: AbortSignal): Promise<void> {
    const { namespace, name = '', uid } = metadata ?? {};
    const client = this.#context.cluster.resource(persistentVolumeClaims);
    const now = await client.get({ namespace, name }, { signal });
    if (now.metadata?.uid !== uid || now.spec?.volumeName !== spec?.volumeName)
      throw conflict(persistentVolumeClaims, name, 'it is another claim than the cache shows');
  }

  /** Maintains a running pod: its attachments, the size of its file systems, and a status that follows its probes and readiness gates. */
  async #keep(pod: Pod, signal: AbortSignal): Promise<void> {
    const mounts = claimKeysOf(pod).flatMap((key) => {
      const claim = this.#caches.claims.get(key);
      const volume = this.#caches.volumes.get(claim?.spec?.volumeName ?? '');
      return claim === undefined || volume === undefined ? [] : [{ claim, volume }];
    });
    const nodeName = pod.spec?.nodeName ?? '';
    const wanted = mounts.flatMap(({ volume }) => this.#caches.attachmentFor(volume, nodeName) ?? []);
    await this.attachments.attach(pod, wanted, signal, async () => {});
    this.#options.pluginLoops.publish(pod);
    for (const mount of mounts) {
      const driver = mount.volume.spec?.csi?.driver ?? '';
      if (!this.#caches.isOfPlugin(nodeName, driver)) await growFileSystem(this.#context, pod, mount, signal);
    }
    const changes = refreshedStatus(pod, this.#time.nowMs(pod));
    if (changes !== undefined) await this.#writes.status(pod, changes, signal);
  }
}

/** Whether the containers of the pod wait for the reasons in the status. */
function isSameWaiting(pod: Pod, { containerStatuses, observedGeneration }: WrittenStatus): boolean {
  const reasons = (statuses: PodStatus['containerStatuses']) =>
    JSON.stringify((statuses ?? []).map(({ state }) => [state?.waiting?.reason, state?.waiting?.message]));
  return (
    reasons(pod.status?.containerStatuses) === reasons(containerStatuses) &&
    pod.status?.observedGeneration === observedGeneration
  );
}

function soonest(requeue: Requeue | undefined, afterMs: number | undefined): Requeue | undefined {
  if (afterMs === undefined) return requeue;
  return { afterMs: Math.min(requeue?.afterMs ?? afterMs, afterMs) };
}
