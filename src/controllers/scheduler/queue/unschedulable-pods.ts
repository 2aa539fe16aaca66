import type { ClusterChange } from '../../../engine/cluster-index/cluster-change.ts';
import { assert } from '../../../runtime/assert.ts';
import { Heap } from './heap.ts';
import { isDueBefore, type QueueEntry, type WakeCondition } from './queued-pod.ts';

/**
 * Refused pods, ordered by when they are due and grouped by their wake condition. Pods that share one condition object are checked once: a
 * thousand replicas with the same refusal cost as much for each change as one.
 */
export class UnschedulablePods {
  readonly #byDue = new Heap<QueueEntry>(isDueBefore);
  readonly #byCondition = new Map<WakeCondition, Set<QueueEntry>>();

  get size(): number {
    return this.#byDue.size;
  }

  /** The pod that is due first. */
  get first(): QueueEntry | undefined {
    return this.#byDue.first;
  }

  add(entry: QueueEntry): void {
    const { wakeCondition } = entry;
    assert(wakeCondition !== undefined, 'an unschedulable pod must have a wake condition');
    this.#byDue.add(entry);
    const group = this.#byCondition.get(wakeCondition);
    if (group === undefined) this.#byCondition.set(wakeCondition, new Set([entry]));
    else group.add(entry);
  }

  delete(entry: QueueEntry): void {
    const { wakeCondition } = entry;
    const group = wakeCondition && this.#byCondition.get(wakeCondition);
    assert(group?.delete(entry) === true, 'the wake condition of a pod must not change while it waits');
    this.#byDue.delete(entry);
    if (wakeCondition !== undefined && group?.size === 0) this.#byCondition.delete(wakeCondition);
  }

  /** All pods that the change wakes, in no particular order. */
  wokenBy(change: ClusterChange): readonly QueueEntry[] {
    const woken: QueueEntry[] = [];
    for (const [wakeCondition, entries] of this.#byCondition)
      if (wakeCondition.wokenBy(change)) for (const entry of entries) woken.push(entry);
    return woken;
  }
}
