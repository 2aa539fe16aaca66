import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { onAbort, settledOrAborted } from './abort.ts';

test('the callback runs once, when the signal aborts', () => {
  const controller = new AbortController();
  let calls = 0;
  onAbort(controller.signal, () => {
    calls += 1;
  });
  expect(calls).toBe(0);
  controller.abort();
  controller.abort();
  expect(calls).toBe(1);
});

test('a callback that stops listening is not called, and leaves nothing on the signal', () => {
  const controller = new AbortController();
  const stopListening = onAbort(controller.signal, () => expect.unreachable('it stopped listening'));
  stopListening();
  stopListening();
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  controller.abort();
});

test('callbacks are called in order, and one that stops others keeps them from being called', () => {
  const controller = new AbortController();
  const calls: string[] = [];
  const stops: (() => void)[] = [];
  const waitAs = (name: string) => onAbort(controller.signal, () => calls.push(name));
  onAbort(controller.signal, () => {
    calls.push('first');
    for (const stop of stops) stop();
  });
  stops.push(waitAs('second'));
  waitAs('third');
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
  controller.abort();
  expect(calls).toEqual(['first', 'third']);
});

test('one callback may be registered twice, and each registration stops separately', () => {
  const controller = new AbortController();
  let calls = 0;
  const callback = () => {
    calls += 1;
  };
  const stopListening = onAbort(controller.signal, callback);
  onAbort(controller.signal, callback);
  stopListening();
  stopListening();
  controller.abort();
  expect(calls).toBe(1);
});

test('a signal can be listened to again after all have stopped', () => {
  const controller = new AbortController();
  let calls = 0;
  onAbort(controller.signal, () => {})();
  onAbort(controller.signal, () => {
    calls += 1;
  });
  controller.abort();
  expect(calls).toBe(1);
});

test('a signal that has already aborted is refused, because it would never call', () => {
  expect(() => onAbort(AbortSignal.abort(), () => {})).toThrow('already aborted');
});

test('a wait for work or the signal ends with the first of them, and leaves nothing on the signal', async () => {
  const controller = new AbortController();
  const never = new Promise<void>(() => {});
  await settledOrAborted(Promise.resolve(), controller.signal);
  await expect(
    settledOrAborted(Promise.reject(new Error('the work failed')), controller.signal),
  ).rejects.toThrow('the work failed');
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  const waiting = settledOrAborted(never, controller.signal);
  controller.abort();
  await waiting;
  await settledOrAborted(never, controller.signal);
});
