import { expect, test } from 'vitest';
import { runInSlices } from './run-in-slices.ts';
import { VirtualClock } from './virtual-clock.ts';

test('work whose signal aborts ends at its next turn, with the reason, after its steps have been undone', async () => {
  const abort = new AbortController();
  const log: string[] = [];
  function* steps(): Generator<void, string, void> {
    try {
      for (let at = 0; at < 1_000; at += 1) {
        log.push(`step ${at}`);
        yield;
      }
      return 'done';
    } finally {
      log.push('undone');
    }
  }
  const turn = async () => {
    if (log.length === 3) abort.abort(new Error('the viewer is gone'));
  };
  const options = { clock: new VirtualClock(), budgetMs: 0, turn, signal: abort.signal };
  await expect(runInSlices(steps(), options)).rejects.toThrow('the viewer is gone');
  expect(log).toEqual(['step 0', 'step 1', 'step 2', 'undone']);
  await expect(runInSlices(steps(), options)).rejects.toThrow('the viewer is gone');
  expect(log).toHaveLength(4);
});
