import type { ClusterChange } from '../../../../engine/cluster-index/cluster-change.ts';
import { assert } from '../../../../runtime/assert.ts';
import { VirtualClock } from '../../../../runtime/virtual-clock.ts';
import type { QueuedPod, SchedulingAttempt, WakeCondition } from '../queued-pod.ts';
import { SchedulingQueue, type SchedulingQueueOptions } from '../scheduling-queue.ts';

/** A queue with a virtual clock, and short methods for what a scheduler does with it. */
export class QueueRun {
  readonly clock = new VirtualClock();
  readonly queue: SchedulingQueue;

  constructor(options: Partial<SchedulingQueueOptions> = {}) {
    this.queue = new SchedulingQueue(this.clock, options);
  }

  /** The next pod if there is one, without waiting. */
  async takeNow(): Promise<SchedulingAttempt | undefined> {
    const stop = new AbortController();
    const taken = this.queue.take(stop.signal);
    stop.abort();
    return await taken;
  }

  async take(): Promise<SchedulingAttempt> {
    const taken = await this.takeNow();
    assert(taken !== undefined, 'the queue has no pod to take');
    return taken;
  }

  /** All pods that can be taken now, in order. */
  async takeAll(): Promise<SchedulingAttempt[]> {
    const all: SchedulingAttempt[] = [];
    for (let taken = await this.takeNow(); taken !== undefined; taken = await this.takeNow()) all.push(taken);
    return all;
  }

  /** Takes the next pod, and refuses it. */
  async refuse(waiting: WakeCondition = waitingFor()): Promise<void> {
    this.queue.refused(await this.take(), waiting);
  }

  async fail(): Promise<void> {
    this.queue.failed(await this.take());
  }

  async decide(): Promise<SchedulingAttempt> {
    const taken = await this.take();
    this.queue.done(taken);
    return taken;
  }

  /** The states that have pods, with their number; without it for a single pod. */
  states(): string {
    const { loggedChanges: _, ...places } = this.queue.counts;
    return Object.entries(places)
      .filter(([, count]) => count > 0)
      .map(([place, count]) => (count === 1 ? place : `${count} ${place}`))
      .join(', ');
  }
}

export function podOf(name: string, given: Partial<Omit<QueuedPod, 'key'>> = {}): QueuedPod {
  return { key: `default/${name}`, uid: `uid-${name}`, priority: 0, isGated: false, ...given };
}

/** Woken by the changes with these names, and by no others. */
export function waitingFor(...names: readonly string[]): WakeCondition {
  return { wokenBy: (change) => change.kind === 'Release' && names.includes(change.nodeName) };
}

export function changeOf(name: string): ClusterChange {
  return { kind: 'Release', volumes: [], pools: [], nodeName: name };
}
