import type { KubeObject } from '../kube/api/meta.ts';
import { keyOf } from '../kube/object-key.ts';
import { onAbort } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Informer } from './informer/informer.ts';

/** The next change of one object. */
export interface NextChange {
  /** Resolves when the object has changed since `next` was called, after `maxMs`, or when `signal` aborts, whichever is first. */
  within(maxMs: number, signal: AbortSignal): Promise<void>;
  /** Ends the subscription; may be called at any time. */
  stop(): void;
}

/**
 * Waits for changes of single objects, by the events of an informer. A caller subscribes, then reads the object from the server, then waits: a
 * change after the read has an event after the subscription. Events of changes before the read may arrive too, and cost another read.
 */
export class ObjectChanges<T extends KubeObject> {
  readonly #informer: Informer<T>;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Set<() => void>>();
  #stopListening: (() => void) | undefined;

  constructor(informer: Informer<T>, clock: Clock) {
    this.#informer = informer;
    this.#clock = clock;
  }

  /** The key is that of `keyOf`. */
  next(key: string): NextChange {
    this.#stopListening ??= this.#listen();
    let hasChanged = false;
    let wake = () => {};
    const changed = () => {
      hasChanged = true;
      wake();
    };
    const stop = () => this.#remove(key, changed);
    this.#add(key, changed);
    const within = async (maxMs: number, signal: AbortSignal) => {
      if (!hasChanged && !signal.aborted)
        await new Promise<void>((resolve) => {
          const timer = this.#clock.after(maxMs, () => wake());
          const stopListening = onAbort(signal, () => wake());
          wake = () => {
            timer.cancel();
            stopListening();
            resolve();
          };
        });
      stop();
    };
    return { within, stop };
  }

  close(): void {
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  #listen(): () => void {
    const changed = (object: T) => {
      for (const call of this.#waiting.get(keyOf(object)) ?? []) call();
    };
    return this.#informer.addHandler({ added: changed, updated: changed, deleted: changed });
  }

  #add(key: string, call: () => void): void {
    const calls = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, calls.add(call));
  }

  #remove(key: string, call: () => void): void {
    const calls = this.#waiting.get(key);
    calls?.delete(call);
    if (calls?.size === 0) this.#waiting.delete(key);
  }
}
