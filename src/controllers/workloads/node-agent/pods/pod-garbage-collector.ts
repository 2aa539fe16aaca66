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

/** How long a node may be missing from the cache before the agent asks the server whether it is gone. */
const quarantineMs = 40_000;

const outOfServiceTaint = 'node.kubernetes.io/out-of-service';

/** Finished pods above this number are removed, as with kube-controller-manager's default `--terminated-pod-gc-threshold`. */
export const terminatedPodsMax = 12_500;

/**
 * Removes pods that no kubelet will ever end, as the pod garbage collector of Kubernetes does: those of deleted nodes, those that were
 * deleted before they had a node, those that are being deleted on a node that is out of service, and finished ones above a number. Each
 * becomes Failed first, so that its owner sees how it ended; after a crash behind that write, the next run deletes it.
 *
 * Since when a node is missing is only in memory: after a restart the time starts again.
 */
export class PodGarbageCollector {
  readonly #context: ControllerContext;
  readonly #writes: NodeAgentPodWrites;
  /** Since when pods are known to have no node, by uid. */
  readonly #lostSinceMs = new Map<string, number>();

  constructor(context: ControllerContext, writes: NodeAgentPodWrites) {
    this.#context = context;
    this.#writes = writes;
  }

  /** A pod on a node that the cache does not have. */
  async collectLost(pod: Pod, signal: AbortSignal): Promise<Requeue | undefined> {
    const { uid = '' } = pod.metadata ?? {};
    const nowMs = this.#context.clock.nowMs();
    const sinceMs = this.#lostSinceMs.get(uid) ?? nowMs;
    this.#lostSinceMs.set(uid, sinceMs);
    if (nowMs < sinceMs + quarantineMs) return { afterMs: sinceMs + quarantineMs - nowMs };
    const client = this.#context.cluster.resource(nodes);
    const node = await undefinedIfNotFound(client.get({ name: pod.spec?.nodeName ?? '' }, { signal }));
    // Only the cache is stale: the pod is reconciled when the cache has the node.
    if (node !== undefined) this.forget(pod);
    else await this.#collect(pod, lostCondition(pod), signal);
    return undefined;
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

  /** The pods that finished first go first, evicted ones before all others. */
  async collectTerminated(all: Iterable<Pod>, max: number, signal: AbortSignal): Promise<void> {
    const terminated = [...all].filter(isFinished);
    const surplus = terminated.length - max;
    if (surplus <= 0) return;
    for (const pod of terminated.sort(byEvictionAndCreation).slice(0, surplus))
      await this.#collect(pod, undefined, signal);
  }

  /** The pod is gone, or its node exists. */
  forget({ metadata }: Pod): void {
    this.#lostSinceMs.delete(metadata?.uid ?? '');
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
  const order = ({ metadata }: Pod) => `${metadata?.creationTimestamp} ${metadata?.name}`;
  return order(a) < order(b) ? -1 : 1;
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
