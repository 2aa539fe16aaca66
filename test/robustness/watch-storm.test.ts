import { Agent } from 'node:https';
import { expect, onTestFinished, test } from 'vitest';
import { type Random, seededRandom } from '../../src/runtime/random.ts';
import { waitUntil, watcherProblem } from './testing/storm-checks.ts';
import { type StormServer, stormServer } from './testing/storm-server.ts';
import { inProcess, overHttps, type WatchFormat } from './testing/storm-transports.ts';
import { StormWatcher } from './testing/storm-watcher.ts';
import { phases, StormWriter, tiers } from './testing/storm-writer.ts';
import type { Interest } from './testing/watch-model.ts';

const namespaces = ['default', 'kube-system', 'kube-public'];
const watchersCount = 200;
const writersCount = 6;
const writesEach = 200;
/** A minute of the server passes in 1.5 seconds. */
const speedup = 40;

function anyInterest(random: Random): Interest {
  const [tier, phase] = [random.pick(tiers), random.pick(phases)];
  const { name, plural, ...interest } = random.pick<
    Omit<Interest, 'plural'> & { plural?: Interest['plural']; name: string }
  >([
    { name: 'everything', matches: () => true },
    {
      name: 'one label',
      labelSelector: `tier=${tier}`,
      matches: ({ metadata }) => metadata.labels?.tier === tier,
    },
    {
      name: 'not a label',
      labelSelector: `tier!=${tier}`,
      matches: ({ metadata }) => metadata.labels?.tier !== tier,
    },
    {
      name: 'two labels',
      labelSelector: 'tier in (a,b)',
      matches: ({ metadata }) => metadata.labels?.tier !== 'c',
    },
    {
      name: 'one name',
      fieldSelector: 'metadata.name=w0-1',
      matches: ({ metadata }) => metadata.name === 'w0-1',
    },
    {
      name: 'a phase',
      plural: 'pods',
      fieldSelector: `status.phase=${phase}`,
      matches: ({ status }) => status?.phase === phase,
    },
    {
      name: 'not a phase',
      plural: 'pods',
      fieldSelector: `status.phase!=${phase}`,
      matches: ({ status }) => status?.phase !== phase,
    },
  ]);
  const place = random.int(3) === 0 ? {} : { namespace: random.pick(namespaces) };
  return { ...interest, ...place, plural: plural ?? random.pick(['configmaps', 'pods'] as const) };
}

function anyWatcher(server: StormServer, agent: Agent, index: number): StormWatcher {
  const random = seededRandom(`watcher ${index}`);
  const form = random.pick<WatchFormat>(['object', 'object', 'table', 'metadata']);
  const timeoutSeconds = random.pick([undefined, 60, 120]);
  const isInProcess = index % 8 === 0;
  const transport = isInProcess
    ? inProcess(server.registry)
    : overHttps({ access: server.access, agent, form, timeoutSeconds });
  return new StormWatcher({
    name: `watcher ${index}, ${isInProcess ? 'in process' : form}`,
    interest: anyInterest(random),
    transport,
    start: random.pick(['list', 'initial events']),
    bookmarks: random.int(2) === 0,
    random,
    disconnectsAfter: random.pick([0, 3, 10, 60]),
    pausesMs: random.pick([0, 0, 5, 30]),
  });
}

test('200 watchers that connect, disconnect, resume and pause see each event once and in order', {
  timeout: 900_000,
}, async () => {
  const server = await stormServer({ speedup });
  const agent = new Agent({ keepAlive: true, secureContext: server.access.secureContext, maxSockets: 24 });
  const writers = Array.from({ length: writersCount }, (_, index) => {
    const name = `w${index}`;
    return new StormWriter({ name, access: server.access, agent, namespaces, random: seededRandom(name) });
  });
  await Promise.all(writers.map((writer) => writer.write(20)));
  const watchers = Array.from({ length: watchersCount }, (_, index) => anyWatcher(server, agent, index));
  const running = watchers.map((watcher) => watcher.run());
  onTestFinished(async () => {
    for (const watcher of watchers) watcher.stop();
    await Promise.allSettled(running);
    agent.destroy();
    await server.close();
    expect(server.api.metrics.watchesOpen).toBe(0);
  });
  await Promise.all(writers.map((writer) => writer.write(writesEach)));
  for (const watcher of watchers) watcher.stopFaults();
  // A comparison costs as much as many events, so watchers that have caught up are not compared again and again.
  let behind: readonly StormWatcher[] = watchers;
  const haveCaughtUp = () => {
    const first = behind.findIndex((watcher) => watcherProblem(server, watcher) !== undefined);
    behind = first < 0 ? [] : behind.slice(first);
    return behind.length === 0;
  };
  await Promise.race([
    Promise.all(running),
    waitUntil(() => haveCaughtUp() && bookmarksOf(watchers) > watchersCount),
  ]);
  const problems = watchers.map((watcher) => watcherProblem(server, watcher));
  expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
  expect(server.bugs).toEqual([]);
  // Checks that the test was effective: streams ended in every way, and bookmarks were sent.
  expect(watchers.reduce((sum, { resumes }) => sum + resumes, 0)).toBeGreaterThan(watchersCount);
  expect(bookmarksOf(watchers)).toBeGreaterThan(watchersCount);
});

function bookmarksOf(watchers: readonly StormWatcher[]): number {
  return watchers.reduce((sum, { bookmarks }) => sum + bookmarks, 0);
}
