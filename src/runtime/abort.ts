import { assert } from './assert.ts';

/** The callbacks of a signal, in order; a signal without callbacks has no entry and no listener. */
const waiters = new WeakMap<AbortSignal, Waiters>();

interface Waiters {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

/**
 * Calls `callback` once when `signal` aborts; the returned function stops listening and may be called at any time,
 * any number of times. The caller must stop listening when its wait ends. Check `signal.aborted` first: a signal
 * that has already aborted would never call. The callback must not throw.
 *
 * One signal serves a whole controller, where hundreds may wait at the same time. `addEventListener` walks all listeners of
 * the signal, and Node treats the eleventh as a leak and warns; so each signal gets one listener from here, and
 * waiting costs the same for any number of callbacks.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  assert(!signal.aborted, 'the signal has already aborted; check signal.aborted before waiting for it');
  const { callbacks, listener } = waiters.get(signal) ?? listen(signal);
  const call = () => callback();
  callbacks.add(call);
  return () => {
    if (!callbacks.delete(call) || callbacks.size > 0) return;
    signal.removeEventListener('abort', listener);
    waiters.delete(signal);
  };
}

function listen(signal: AbortSignal): Waiters {
  const callbacks = new Set<() => void>();
  const listener = () => {
    for (const call of callbacks) call();
  };
  const added: Waiters = { callbacks, listener };
  waiters.set(signal, added);
  signal.addEventListener('abort', listener);
  return added;
}

/** Resolves when `signal` has aborted. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else onAbort(signal, resolve);
  });
}

/** Settles like `work`, or resolves when `signal` has aborted, if that is first. Then it no longer listens to the signal. */
export async function settledOrAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  let stopListening = () => {};
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else stopListening = onAbort(signal, resolve);
  });
  await Promise.race([work, aborted]).finally(stopListening);
}
