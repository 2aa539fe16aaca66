import type { Node, Pod, PodCondition } from '../../../../kube/api/core.ts';
import { getCondition, setCondition } from '../../../../kube/conditions.ts';
import { formatTimestamp } from '../../../../kube/go/timestamp.ts';
import { isFinished } from '../../../../kube/pods.ts';
import { nodes } from '../../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../../kube/undefined-if-not-found.ts';
import type { ControllerContext } from '../../../../reconcile/controller.ts';
import type { Requeue } from '../../../../reconcile/workers.ts';
import type { WrittenStatus } from './pod-status.ts';
import type { NodeAgentPodWrites } from './pod-writes.ts';

/** How long a node may be missing from the cache before the agent asks the server whether it still exists. */
const quarantineMs = 40_000;

const outOfServiceTaint = 'node.kubernetes.io/out-of-service';

/** Finished pods above this number are removed, as with kube-controller-manager's default `--terminated-pod-gc-threshold`. */
export const terminatedPodsMax = 12_500;

/**
 * Removes pods that no kubelet will ever end, as the pod garbage collector of Kubernetes does: those of deleted nodes, those that were
 * deleted before they had a node, those that are being deleted on a node that is out of service, and finished ones above a number. Each
 * becomes Failed first, so that its owner sees how it ended; after a crash behind that write, the next run deletes it.
 *
 * As upstream, a node that the cache lacks is in quarantine, and after it the server decides. All pods that are seen on the node meanwhile wait for
 * the same moment; one that is seen later begins another quarantine. This is only in memory: after a restart the time starts again. Upstream looks every
 * 20 seconds; here each pod is checked when it is due.
 */
export class PodGarbageCollector {
  readonly #context: ControllerContext;
  readonly #writes: NodeAgentPodWrites;
  /** When the quarantine of a missing node ends, by its name. */
  readonly #quarantinedUntilMs = new Map<string, number>();
  /** When the agent reads the node of a pod from the server. Key: the uid of the pod. */
  readonly #dueMs = new Map<string, number>();

  constructor(context: ControllerContext, writes: NodeAgentPodWrites) {
    this.#context = context;
    this.#writes = writes;
  }

  /** A pod on a node that the cache does not have. */
  async collectLost(pod: Pod, signal: AbortSignal): Promise<Requeue | undefined> {
    const { uid = '' } = pod.metadata ?? {};
    const name = pod.spec?.nodeName ?? '';
    const nowMs = this.#context.clock.nowMs();
    const dueMs = this.#dueMs.get(uid) ?? this.#quarantineEndMs(name, nowMs);
    this.#dueMs.set(uid, dueMs);
    if (nowMs < dueMs) return { afterMs: dueMs - nowMs };
    const node = await undefinedIfNotFound(this.#context.cluster.resource(nodes).get({ name }, { signal }));
    if (node === undefined) {
      await this.#collect(pod, lostCondition(pod), signal);
      return undefined;
    }
    // Only the cache is stale. The node may be deleted before the cache has it, and then no event reports that.
    this.forget(pod);
    return { afterMs: quarantineMs };
  }

  #quarantineEndMs(node: string, nowMs: number): number {
    for (const [name, endMs] of this.#quarantinedUntilMs)
      if (endMs <= nowMs) this.#quarantinedUntilMs.delete(name);
    const endMs = this.#quarantinedUntilMs.get(node) ?? nowMs + quarantineMs;
    this.#quarantinedUntilMs.set(node, endMs);
    return endMs;
  }

  async collectUnscheduled(pod: Pod, signal: AbortSignal): Promise<void> {
    if (pod.metadata?.deletionTimestamp !== undefined) await this.#collect(pod, undefined, signal);
  }

  /** A pod on a node whose kubelet does not answer, and that a person or a machine controller has tainted as out of service. */
  async collectOutOfService(pod: Pod, node: Node, signal: AbortSignal): Promise<boolean> {
    if (pod.metadata?.deletionTimestamp === undefined || !isOutOfService(node)) return false;
    await this.#collect(pod, undefined, signal);
    return true;
  }

  /** Evicted pods go first, then those that were created first. */
  async collectTerminated(all: Iterable<Pod>, max: number, signal: AbortSignal): Promise<void> {
    const terminated = [...all].filter(isFinished);
    const surplus = terminated.length - max;
    if (surplus <= 0) return;
    for (const pod of terminated.sort(byEvictionAndCreation).slice(0, surplus))
      await this.#collect(pod, undefined, signal);
  }

  /** The pod no longer exists, or its node exists. */
  forget({ metadata }: Pod): void {
    this.#dueMs.delete(metadata?.uid ?? '');
  }

  async #collect(pod: Pod, condition: PodCondition | undefined, signal: AbortSignal): Promise<void> {
    const now = formatTimestamp(this.#context.clock.nowMs());
    const failed = isFinished(pod)
      ? pod
      : await this.#writes.status(pod, failedStatus(pod, condition, now), signal);
    // Without grace the server has already done its part; finalizers do the rest.
    if (failed === undefined || failed.metadata?.deletionGracePeriodSeconds === 0) return;
    await this.#writes.delete(failed, { gracePeriodSeconds: 0 }, signal);
  }
}

/** A kubelet that runs ends its pods itself: the taint alone is not enough. */
export function isOutOfService({ spec, status }: Node): boolean {
  const isReady = getCondition(status?.conditions, 'Ready')?.status === 'True';
  return !isReady && (spec?.taints ?? []).some(({ key }) => key === outOfServiceTaint);
}

function byEvictionAndCreation(a: Pod, b: Pod): number {
  if (isEvicted(a) !== isEvicted(b)) return isEvicted(a) ? -1 : 1;
  const [first, second] = [a, b].map(({ metadata }) => `${metadata?.creationTimestamp} ${metadata?.name}`);
  return first === second ? 0 : first! < second! ? -1 : 1;
}

function isEvicted({ status }: Pod): boolean {
  return status?.phase === 'Failed' && status.reason === 'Evicted';
}

function failedStatus(
  { metadata, status }: Pod,
  condition: PodCondition | undefined,
  now: string,
): WrittenStatus {
  return {
    phase: 'Failed',
    ...(metadata?.generation === undefined ? {} : { observedGeneration: metadata.generation }),
    ...(condition === undefined ? {} : { conditions: setCondition(status?.conditions, condition, now) }),
  };
}

function lostCondition({ metadata }: Pod): PodCondition {
  return {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByPodGC',
    message: 'PodGC: node no longer exists',
    ...(metadata?.generation === undefined ? {} : { observedGeneration: metadata.generation }),
  };
}
