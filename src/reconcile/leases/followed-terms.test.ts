import { expect, test } from 'vitest';
import { untilAborted } from '../../runtime/abort.ts';
import { FollowedTerms } from './followed-terms.ts';

/** Lets everything happen that needs no time. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

function start() {
  const terms = new FollowedTerms();
  const history: string[] = [];
  const stop = new AbortController();
  const follower = terms.follow(async (signal) => {
    history.push('starts');
    await untilAborted(signal);
    history.push('ends');
  }, stop.signal);
  const lead = () => {
    const term = new AbortController();
    return { term, work: terms.lead(untilAborted)(term.signal) };
  };
  return { terms, history, stop, follower, lead };
}

test('the follower works during each term', async () => {
  const { history, stop, follower, lead } = start();
  await settle();
  expect(history).toEqual([]);
  const first = lead();
  await settle();
  expect(history).toEqual(['starts']);
  first.term.abort();
  await first.work;
  await settle();
  expect(history).toEqual(['starts', 'ends']);
  lead();
  await settle();
  expect(history).toEqual(['starts', 'ends', 'starts']);
  stop.abort();
  await follower;
  expect(history).toEqual(['starts', 'ends', 'starts', 'ends']);
});

test('a follower that is stopped between terms never starts', async () => {
  const { history, stop, follower, lead } = start();
  stop.abort();
  await follower;
  lead();
  await settle();
  expect(history).toEqual([]);
});

test('a term ends with the work of its leader, also if that fails', async () => {
  const { terms, history } = start();
  await expect(
    terms.lead(() => Promise.reject(new Error('the work failed')))(new AbortController().signal),
  ).rejects.toThrow('the work failed');
  await settle();
  expect(history.filter((line) => line === 'starts').length).toBe(
    history.filter((line) => line === 'ends').length,
  );
});

test('work that ends by itself is not started again', async () => {
  const terms = new FollowedTerms();
  void terms.lead(untilAborted)(new AbortController().signal);
  let runs = 0;
  await terms.follow(async () => {
    runs += 1;
  }, new AbortController().signal);
  expect(runs).toBe(1);
});
