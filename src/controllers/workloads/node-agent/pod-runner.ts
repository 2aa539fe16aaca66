import { isReason } from '../../../cluster/api-error.ts';
import type { Requeue } from '../../../cluster/controller-loop.ts';
import { referenceTo } from '../../../cluster/event-recorder.ts';
import { persistentVolumeClaims, pods, volumeAttachments } from '../../../cluster/resources.ts';
import type { Node, Pod } from '../../../kube/core.ts';
import type { VolumeAttachment } from '../../../kube/storage.ts';
import { annotations } from '../../../kube/well-known.ts';
import { assert, unreachable } from '../../../runtime/assert.ts';
import type { ControllerContext } from '../../controller.ts';
import { orAbsent } from '../../or-absent.ts';
import type { AgentCaches } from './agent-caches.ts';
import { markOf } from './claim-marks.ts';
import { growFileSystem } from './file-systems.ts';
import { nextStep } from './lifecycle.ts';
import { type Block, checkMounts, type Mount } from './mount-check.ts';
import { claimKeysOf, podKey } from './pod-places.ts';
import {
  finishedStatus,
  runningConditions,
  runningStatus,
  type WrittenStatus,
  waitingStatus,
} from './pod-status.ts';

/**
 * Brings one pod a step further. Every write says which version of its object it was decided on.
 *
 * Starting takes several: the marks on the claims, the attachments, their status, the pod's. Each is made only where it is not there,
 * so whoever dies in between leaves a start half done that the next one completes; the pod runs only after all of them.
 */
export class PodRunner {
  /** Pods that can't be started yet. */
  readonly waiting = new Set<string>();
  readonly #context: ControllerContext;
  readonly #caches: AgentCaches;

  constructor(context: ControllerContext, caches: AgentCaches) {
    this.#context = context;
    this.#caches = caches;
  }

  async run(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    this.waiting.delete(key);
    const pod = this.#caches.pods.get(key);
    const nodeName = pod?.spec?.nodeName ?? '';
    if (pod === undefined || nodeName === '') return undefined;
    const node = this.#caches.simulatedNode(nodeName);
    if (node !== undefined) return await this.#step(pod, node, signal);
    // Of a node that is gone nobody else will say that its pods have ended.
    const isLost = this.#caches.nodes.get(nodeName) === undefined;
    if (isLost && pod.metadata?.deletionTimestamp !== undefined) await this.#remove(pod, signal);
    return undefined;
  }

  async #step(pod: Pod, node: Node, signal: AbortSignal): Promise<Requeue | undefined> {
    const nowMs = this.#context.clock.nowMs();
    const step = nextStep(pod, nowMs);
    switch (step.kind) {
      case 'nothing':
        return undefined;
      case 'start':
        await this.#start(pod, node, signal);
        return undefined;
      case 'keep':
        await this.#keep(pod, signal);
        return step.finishMs === undefined ? undefined : { afterMs: step.finishMs - nowMs };
      case 'finish':
        await this.#writeStatus(pod, finishedStatus(pod, nowMs), signal);
        return undefined;
      case 'wait':
        return { afterMs: step.untilMs - nowMs };
      case 'remove':
        await this.#remove(pod, signal);
        return undefined;
      default:
        return unreachable(step);
    }
  }

  async #start(pod: Pod, node: Node, signal: AbortSignal): Promise<void> {
    const check = checkMounts(this.#caches.mountView(pod, node));
    if (check.kind === 'blocked') {
      await this.#refuse(pod, check.block, signal);
      return;
    }
    const missing = check.mounts.flatMap(({ attachment }) => attachment ?? []);
    await this.#attach(pod, missing, signal, () => this.#mark(pod, check.mounts, signal));
    const address = this.#caches.addresses.take(pod);
    assert(address !== undefined, 'there are no addresses left for pods');
    await this.#writeStatus(pod, runningStatus(pod, node, address, this.#context.clock.nowMs()), signal);
  }

  async #refuse(pod: Pod, { reason, note }: Block, signal: AbortSignal): Promise<void> {
    this.waiting.add(podKey(pod));
    this.#tell(pod, 'Warning', reason, note);
    if (pod.status?.containerStatuses !== undefined) return;
    await this.#writeStatus(pod, waitingStatus(pod, this.#context.clock.nowMs()), signal);
  }

  /** On the versions that were judged: a rollback that began meanwhile, or another pod that was first, makes it fail. */
  async #mark(pod: Pod, mounts: readonly Mount[], signal: AbortSignal): Promise<void> {
    const value = markOf({ nodeName: pod.spec?.nodeName ?? '', podUid: pod.metadata?.uid ?? '' });
    const client = this.#context.cluster.resource(persistentVolumeClaims);
    const unmarked = new Map(
      mounts.flatMap(({ claim, needsMark }) => (needsMark ? [[claim.metadata?.name, claim]] : [])),
    );
    for (const { metadata } of unmarked.values()) {
      const { namespace, name = '', uid, resourceVersion } = metadata ?? {};
      const marks = { [annotations.mounted]: value };
      const body = { metadata: { uid, resourceVersion, annotations: marks } };
      await client.patch({ namespace, name }, { type: 'merge', body }, { signal });
    }
  }

  /** Takes the slots at once, then does `prepare`, then attaches. */
  async #attach(
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
    if (known?.status?.attached === true && known.metadata?.deletionTimestamp === undefined) return;
    const found = await orAbsent(client.get({ name }, { signal }));
    const current = found ?? (await client.create(wanted, { signal }));
    if (current.status?.attached === true) return;
    const { uid, resourceVersion } = current.metadata ?? {};
    const body = { metadata: { uid, resourceVersion }, status: { attached: true } };
    await client.patch({ name }, { type: 'merge', body }, { subresource: 'status', signal });
    const volumeName = wanted.spec?.source?.persistentVolumeName;
    const note = `AttachVolume.Attach succeeded for volume "${volumeName}" `;
    this.#tell(pod, 'Normal', 'SuccessfulAttachVolume', note);
  }

  /** What a running pod needs to go on: its attachments, room in its file systems, and conditions that follow its readiness gates. */
  async #keep(pod: Pod, signal: AbortSignal): Promise<void> {
    const mounts = claimKeysOf(pod).flatMap((key) => {
      const claim = this.#caches.claims.get(key);
      const volume = this.#caches.volumes.get(claim?.spec?.volumeName ?? '');
      return claim === undefined || volume === undefined ? [] : [{ claim, volume }];
    });
    const nodeName = pod.spec?.nodeName ?? '';
    const wanted = mounts.flatMap(({ volume }) => this.#caches.attachmentFor(volume, nodeName) ?? []);
    await this.#attach(pod, wanted, signal, async () => {});
    for (const mount of mounts) await growFileSystem(this.#context, pod, mount, signal);
    const conditions = runningConditions(pod, this.#context.clock.nowMs());
    if (conditions !== pod.status?.conditions) await this.#writeStatus(pod, { conditions }, signal);
  }

  async #writeStatus(pod: Pod, status: WrittenStatus, signal: AbortSignal): Promise<void> {
    const { namespace, name = '', uid, resourceVersion } = pod.metadata ?? {};
    const body = { metadata: { uid, resourceVersion }, status };
    const client = this.#context.cluster.resource(pods);
    await orAbsent(
      client.patch({ namespace, name }, { type: 'merge', body }, { subresource: 'status', signal }),
    );
  }

  async #remove({ metadata }: Pod, signal: AbortSignal): Promise<void> {
    const { namespace, name = '', uid } = metadata ?? {};
    const preconditions = uid === undefined ? {} : { uid };
    try {
      await this.#context.cluster
        .resource(pods)
        .delete({ namespace, name }, { gracePeriodSeconds: 0, preconditions, signal });
    } catch (error) {
      // It is gone, or another pod has its name.
      if (!isReason(error, 'NotFound') && !isReason(error, 'Conflict')) throw error;
    }
  }

  #tell(pod: Pod, type: 'Normal' | 'Warning', reason: string, note: string): void {
    const regarding = referenceTo(pod, { apiVersion: 'v1', kind: 'Pod' });
    this.#context.events.record({ regarding, type, reason, action: 'StartPod', note });
  }
}
