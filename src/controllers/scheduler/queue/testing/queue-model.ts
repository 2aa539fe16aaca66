import type { QueuedPod, SchedulingAttempt } from '../queued-pod.ts';

/** A pod in the model. `queued` stands for all states from which it will be taken without any further change. */
interface ModelPod {
  pod: QueuedPod;
  state: 'queued' | 'waiting' | 'gated' | 'inFlight' | 'decided';
  taken: SchedulingAttempt | undefined;
  /** The change that it waits for. */
  waitsFor: string;
  /** The changes that came while it was in flight. */
  readonly seen: Set<string>;
  wasUpdated: boolean;
}

/**
 * The queue without order and time: only which pods will be taken sooner or later, and which wait. Slow and obvious. Each method has the
 * name of the queue's method.
 */
export class QueueModel {
  readonly #pods = new Map<string, ModelPod>();

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

  /** Keys and uids of the pods in a state, sorted. */
  all(state: ModelPod['state']): string[] {
    const found = [...this.#pods.values()].filter((known) => known.state === state);
    return found.map(({ pod }) => `${pod.key} ${pod.uid}`).sort();
  }

  #queue(known: ModelPod): void {
    known.state = known.pod.isGated ? 'gated' : 'queued';
  }

  #held(taken: SchedulingAttempt): ModelPod | undefined {
    const known = this.#pods.get(taken.pod.key);
    const isHeld = known?.state === 'inFlight' || known?.state === 'decided';
    return isHeld && known.taken === taken ? known : undefined;
  }
}
