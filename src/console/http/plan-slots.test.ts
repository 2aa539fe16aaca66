import { expect, test } from 'vitest';
import { BusyError, PlanSlots } from './plan-slots.ts';

/** Plans that end when `end` is called. */
function plans() {
  const slots = new PlanSlots();
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = async (viewer: string, name: string, signal = new AbortController().signal) =>
    await slots.run(viewer, signal, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
    });
  return { begun, ask, end: (name: string) => ends.get(name)?.() };
}

test('two plans are computed at a time; one whose viewer is gone is not begun', async () => {
  const { begun, ask, end } = plans();
  const first = ask('a', 'a1');
  const second = ask('a', 'a2');
  const gone = new AbortController();
  const third = ask('b', 'b1', gone.signal);
  const fourth = ask('b', 'b2');
  await new Promise(setImmediate);
  expect(begun).toEqual(['a1', 'a2']);
  gone.abort(new Error('gone'));
  await expect(third).rejects.toThrow('gone');
  end('a1');
  await first;
  await new Promise(setImmediate);
  expect(begun).toEqual(['a1', 'a2', 'b2']);
  end('a2');
  end('b2');
  await Promise.all([second, fourth]);
});

test('one viewer has at most three plans, and all together twenty', async () => {
  const { ask, end } = plans();
  const asked = Array.from({ length: 3 }, (_, at) => ask('a', `a${at}`));
  await expect(ask('a', 'more')).rejects.toBeInstanceOf(BusyError);
  for (let viewer = 0; viewer < 17; viewer += 1) asked.push(ask(`v${viewer}`, `v${viewer}`));
  await expect(ask('other', 'more')).rejects.toBeInstanceOf(BusyError);
  end('a0');
  await asked[0];
  const last = ask('other', 'now');
  for (const name of ['a1', 'a2', ...Array.from({ length: 17 }, (_, at) => `v${at}`), 'now']) {
    end(name);
    await new Promise(setImmediate);
  }
  await Promise.all([...asked, last]);
});
