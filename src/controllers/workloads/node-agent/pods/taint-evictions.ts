import type { Node, Pod, PodCondition } from '../../../../kube/api/core.ts';
import { getCondition, setCondition } from '../../../../kube/conditions.ts';
import { formatTimestamp } from '../../../../kube/go/timestamp.ts';
import { keyOf } from '../../../../kube/object-key.ts';
import type { Clock } from '../../../../runtime/clock.ts';
import type { NodeAgentPodWrites } from './pod-writes.ts';
import { toleratedTimeMs } from './tolerated-time.ts';

const disruptionTarget = 'DisruptionTarget';
const reason = 'DeletionByTaintManager';

type Eviction =
  /** The pod may stay: without limit, or until its time is over. */
  { readonly kind: 'stays'; readonly untilMs: number | undefined } | { readonly kind: 'evicted' };

/**
 * Deletes pods of simulated nodes that do not tolerate a NoExecute taint, or no longer, as the taint eviction controller of Kubernetes
 * does: whatever their phase, and the tolerated time starts when the taint is first observed on the pod's node.
 *
 * Those times are only in memory. After a restart they start again, but pods that are already marked are evicted immediately.
 */
export class TaintEvictions {
  readonly #clock: Clock;
  readonly #writes: NodeAgentPodWrites;
  /** When pods are to be deleted, by uid. */
  readonly #dueMs = new Map<string, number>();

  constructor(clock: Clock, writes: NodeAgentPodWrites) {
    this.#clock = clock;
    this.#writes = writes;
  }

  async evictIfDue(pod: Pod, node: Node, signal: AbortSignal): Promise<Eviction> {
    const toleratedMs = toleratedTimeMs(pod, node);
    if (toleratedMs === Number.POSITIVE_INFINITY) {
      this.#cancel(pod);
      return { kind: 'stays', untilMs: undefined };
    }
    if (toleratedMs === 0) this.#cancel(pod);
    const dueMs = this.#dueFor(pod, toleratedMs);
    if (this.#clock.nowMs() < dueMs) return { kind: 'stays', untilMs: dueMs };
    await this.#evict(pod, signal);
    return { kind: 'evicted' };
  }

  /** The caller reports that the pod no longer exists. */
  forget(pod: Pod): void {
    this.#cancel(pod);
  }

  /** A time that was set stays, whatever tolerations say later. */
  #dueFor(pod: Pod, toleratedMs: number): number {
    const nowMs = this.#clock.nowMs();
    const condition = getCondition(pod.status?.conditions, disruptionTarget);
    if (toleratedMs === 0 || (condition?.status === 'True' && condition.reason === reason)) return nowMs;
    const { uid = '' } = pod.metadata ?? {};
    const dueMs = this.#dueMs.get(uid) ?? nowMs + toleratedMs;
    this.#dueMs.set(uid, dueMs);
    return dueMs;
  }

  async #evict(pod: Pod, signal: AbortSignal): Promise<void> {
    this.#recordEvent(pod, `Marking for deletion Pod ${keyOf(pod)}`);
    const conditions = marked(pod, formatTimestamp(this.#clock.nowMs()));
    const isMarked = conditions === pod.status?.conditions;
    const current = isMarked ? pod : await this.#writes.status(pod, { conditions }, signal);
    if (current !== undefined) await this.#writes.delete(current, {}, signal);
    this.#dueMs.delete(pod.metadata?.uid ?? '');
  }

  #cancel(pod: Pod): void {
    if (!this.#dueMs.delete(pod.metadata?.uid ?? '')) return;
    this.#recordEvent(pod, `Cancelling deletion of Pod ${keyOf(pod)}`);
  }

  #recordEvent(pod: Pod, note: string): void {
    this.#writes.recordEvent(pod, {
      type: 'Normal',
      reason: 'TaintManagerEviction',
      action: 'EvictPod',
      note,
    });
  }
}

function marked({ metadata, status }: Pod, now: string): readonly PodCondition[] {
  const condition: PodCondition = {
    type: disruptionTarget,
    status: 'True',
    reason,
    message: 'Taint manager: deleting due to NoExecute taint',
    ...(metadata?.generation === undefined ? {} : { observedGeneration: metadata.generation }),
  };
  return setCondition(status?.conditions, condition, now);
}
