import { expect, test } from 'vitest';
import { VirtualTimeCluster } from '../controllers/testing/virtual-time-cluster.ts';
import { defineController, type LoopContext, type Reconciler } from './define-controller.ts';
import { rescuedCounter } from './sweep.ts';

/** Records the calls of the protocol; the key `a` is queued by `listen`. */
function recordingLoop(calls: string[], caches: Reconciler['caches'] = []) {
  return {
    workers: 1,
    create: ({ queue }: LoopContext): Reconciler => ({
      caches,
      listen: () => {
        calls.push('listen');
        queue.add('a');
        return [() => calls.push('unsubscribe')];
      },
      reconcile: async (key) => {
        calls.push(`reconcile ${key}`);
        return undefined;
      },
      close: async () => {
        calls.push('close');
      },
    }),
  };
}

test('a loop subscribes when its caches are synced, reconciles, and ends in the reverse order', async () => {
  const calls: string[] = [];
  let sync = (_: boolean) => {};
  const isSynced = new Promise<boolean>((resolve) => {
    sync = resolve;
  });
  const loop = recordingLoop(calls, [{ synced: async () => await isSynced }]);
  await using fixture = await VirtualTimeCluster.start();
  const run = fixture.run([defineController({ name: 'toy', ...loop })]);
  await fixture.settle();
  expect(calls).toEqual([]);
  sync(true);
  await fixture.settle();
  expect(calls).toEqual(['listen', 'reconcile a']);
  await run.close();
  expect(calls).toEqual(['listen', 'reconcile a', 'unsubscribe', 'close']);
});

test('a loop without a reconciler does not keep the loops beside it from running', async () => {
  const calls: string[] = [];
  const nothing = { workers: 1, create: () => undefined };
  const controller = defineController({ name: 'toy', ...nothing, beside: [recordingLoop(calls)] });
  await using fixture = await VirtualTimeCluster.start(controller);
  await fixture.settle();
  expect(calls).toEqual(['listen', 'reconcile a']);
});

test('a key that failed is retried and reported with the name of the controller', async () => {
  let failures = 0;
  const controller = defineController({
    name: 'toy',
    workers: 1,
    retry: { retryBaseMs: 100, retryMaxMs: 100 },
    create: ({ queue }) => ({
      caches: [],
      listen: () => [queue.add('a')].map(() => () => {}),
      reconcile: async () => {
        failures += 1;
        if (failures < 3) throw new Error('not yet');
        return undefined;
      },
    }),
  });
  await using fixture = await VirtualTimeCluster.start(controller);
  await fixture.settle();
  expect(failures).toBe(3);
  expect(fixture.errors.map(({ controller: name, key }) => `${name}: ${key}`)).toEqual(['toy: a', 'toy: a']);
});

test('a write that only the sweep has caused is counted for the controller', async () => {
  const controller = defineController({
    name: 'toy',
    workers: 1,
    create: ({ beforeWrite }) => ({
      caches: [],
      listen: () => [],
      reconcile: async () => {
        beforeWrite();
        return undefined;
      },
      sweepKeys: () => ['missed'],
    }),
  });
  const fixture = await VirtualTimeCluster.start(controller);
  await fixture.settle(6 * 60_000);
  expect(rescuedCounter(fixture.metrics).value({ controller: 'toy' })).toBe(1);
  await expect(fixture[Symbol.asyncDispose]()).rejects.toThrow('sweep');
});
