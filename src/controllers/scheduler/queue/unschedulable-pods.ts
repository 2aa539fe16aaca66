import type { ClusterChange } from '../../../engine/cluster-index/cluster-change.ts';
import { assert } from '../../../runtime/assert.ts';
import { Heap } from './heap.ts';
import { isDueBefore, type QueueEntry, type WakeCondition } from './queued-pod.ts';

/**
 * Refused pods, by when they are due and by what they wait for. Those that wait for the same thing, the very same object,
 * are asked about once: a thousand replicas that were refused alike cost a change as much as one.
 */
export class UnschedulablePods {
  readonly #byDue = new Heap<QueueEntry>(isDueBefore);
  readonly #byWaiting = new Map<WakeCondition, Set<QueueEntry>>();

  get size(): number {
    return this.#byDue.size;
  }

  /** The one that is due first. */
  get first(): QueueEntry | undefined {
    return this.#byDue.first;
  }

  add(entry: QueueEntry): void {
    const { wakeCondition: waiting } = entry;
    assert(waiting !== undefined, 'a pod that waits must wait for something');
    this.#byDue.add(entry);
    const alike = this.#byWaiting.get(waiting);
    if (alike === undefined) this.#byWaiting.set(waiting, new Set([entry]));
    else alike.add(entry);
  }

  delete(entry: QueueEntry): void {
    const { wakeCondition: waiting } = entry;
    const alike = waiting && this.#byWaiting.get(waiting);
    assert(alike?.delete(entry) === true, 'a pod waits for the same until it leaves');
    this.#byDue.delete(entry);
    if (waiting !== undefined && alike?.size === 0) this.#byWaiting.delete(waiting);
  }

  /** All that a change wakes, in no particular order. */
  wokenBy(change: ClusterChange): readonly QueueEntry[] {
    const woken: QueueEntry[] = [];
    for (const [waiting, entries] of this.#byWaiting)
      if (waiting.wokenBy(change)) for (const entry of entries) woken.push(entry);
    return woken;
  }
}
