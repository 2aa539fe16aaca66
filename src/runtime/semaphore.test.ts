import { expect, test } from 'vitest';
import { Semaphore } from './semaphore.ts';

const never = new AbortController().signal;

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

test('no more run at once than there are slots, and all get a slot in order', async () => {
  const slots = new Semaphore(2);
  const begun: number[] = [];
  const ends = Array.from({ length: 5 }, () => deferred());
  const runs = ends.map(({ promise }, at) =>
    slots.run(never, async () => {
      begun.push(at);
      await promise;
    }),
  );
  await Promise.resolve();
  expect(begun).toEqual([0, 1]);
  for (const { resolve } of ends) resolve();
  await Promise.all(runs);
  expect(begun).toEqual([0, 1, 2, 3, 4]);
});

test('a slot is released by work that fails', async () => {
  const slots = new Semaphore(1);
  await expect(slots.run(never, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await slots.run(never, async () => 'again')).toBe('again');
});

test('a caller that stops waiting takes no slot from those behind it', async () => {
  const slots = new Semaphore(1);
  const first = deferred();
  const held = slots.run(never, () => first.promise);
  const impatient = new AbortController();
  const left = slots.run(impatient.signal, async () => 'left');
  const patient = slots.run(never, async () => 'patient');
  impatient.abort(new Error('enough'));
  await expect(left).rejects.toThrow('enough');
  first.resolve();
  expect(await patient).toBe('patient');
  await held;
});
