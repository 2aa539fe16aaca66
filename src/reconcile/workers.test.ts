import { expect, test } from 'vitest';
import { VirtualClock } from '../runtime/virtual-clock.ts';
import { WorkQueue } from './work-queue.ts';
import { runWorkers } from './workers.ts';

test('workers that are stopped leave no delayed key behind, whose timer would keep the process alive', async () => {
  const queue = new WorkQueue({ clock: new VirtualClock() });
  const stop = new AbortController();
  queue.add('a');
  const reconcile = async () => {
    stop.abort();
    return { afterMs: 200_000 };
  };
  await runWorkers(queue, reconcile, { workers: 1, signal: stop.signal, onError: () => {} });
  expect(queue.metrics()).toMatchObject({ delayed: 0, processing: 0 });
});
