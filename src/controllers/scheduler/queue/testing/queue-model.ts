import type { QueuedPod, SchedulingAttempt } from '../queued-pod.ts';

/** What the model knows of a pod. `queued` is wherever it will be taken from without anything else happening. */
interface Known {
  pod: QueuedPod;
  state: 'queued' | 'waiting' | 'gated' | 'inFlight' | 'decided';
  taken: SchedulingAttempt | undefined;
  /** The change that it waits for. */
  waitsFor: string;
  /** What came while it was in flight. */
  readonly seen: Set<string>;
  wasUpdated: boolean;
}

/**
 * The queue without order and without time: only who will be taken sooner or later, and who waits. Slow and obvious; each
 * method is named as that of the queue.
 */
export class QueueModel {
  readonly #pods = new Map<string, Known>();

  put(pod: QueuedPod, mayHelp: boolean): void {
    const known = this.#pods.get(pod.key);
    if (known?.pod.uid !== pod.uid) {
      const state = pod.isGated ? 'gated' : 'queued';
      this.#pods.set(pod.key, {
        pod,
        state,
        taken: undefined,
        waitsFor: '',
        seen: new Set(),
        wasUpdated: false,
      });
      return;
    }
    known.pod = pod;
    if (known.state === 'inFlight') known.wasUpdated ||= mayHelp;
    else if (known.state === 'waiting' && (mayHelp || pod.isGated)) this.#queue(known);
    else if (known.state === 'queued' || known.state === 'gated') this.#queue(known);
  }

  remove(key: string): void {
    this.#pods.delete(key);
  }

  took(taken: SchedulingAttempt): void {
    const known = this.#pods.get(taken.pod.key);
    if (known?.state !== 'queued') throw new Error(`${taken.pod.key} was taken, but is ${known?.state}`);
    known.state = 'inFlight';
    known.taken = taken;
    known.seen.clear();
    known.wasUpdated = false;
  }

  refused(taken: SchedulingAttempt, waitsFor: string): void {
    const known = this.#held(taken);
    if (known === undefined) return;
    const isWoken = known.state === 'decided' || known.wasUpdated || known.seen.has(waitsFor);
    known.state = 'waiting';
    known.waitsFor = waitsFor;
    if (isWoken || known.pod.isGated) this.#queue(known);
  }

  failed(taken: SchedulingAttempt): void {
    const known = this.#held(taken);
    if (known !== undefined) this.#queue(known);
  }

  done(taken: SchedulingAttempt): void {
    const known = this.#held(taken);
    if (known !== undefined) known.state = 'decided';
  }

  changed(name: string): void {
    for (const known of this.#pods.values()) {
      known.seen.add(name);
      if (known.state === 'waiting' && known.waitsFor === name) this.#queue(known);
    }
  }

  /** Keys and uids of those in a state, sorted. */
  all(state: Known['state']): string[] {
    const found = [...this.#pods.values()].filter((known) => known.state === state);
    return found.map(({ pod }) => `${pod.key} ${pod.uid}`).sort();
  }

  #queue(known: Known): void {
    known.state = known.pod.isGated ? 'gated' : 'queued';
  }

  #held(taken: SchedulingAttempt): Known | undefined {
    const known = this.#pods.get(taken.pod.key);
    const isHeld = known?.state === 'inFlight' || known?.state === 'decided';
    return isHeld && known.taken === taken ? known : undefined;
  }
}
