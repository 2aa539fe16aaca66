import { Agent } from 'node:https';
import { afterEach, expect, test } from 'vitest';
import { seededRandom } from '../../src/runtime/random.ts';
import { call } from './testing/attacked-server.ts';
import { waitUntil, watcherProblem } from './testing/storm-checks.ts';
import { type StormServer, stormServer } from './testing/storm-server.ts';
import { inProcess, overHttps } from './testing/storm-transports.ts';
import { StormWatcher, type Transport } from './testing/storm-watcher.ts';
import type { Interest } from './testing/watch-model.ts';

const everything: Interest = { plural: 'configmaps', namespace: 'default', matches: () => true };
const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function served(history?: { readonly changesMax: number }) {
  const server = await stormServer(history === undefined ? {} : { history });
  const agent = new Agent({ keepAlive: true, secureContext: server.access.secureContext });
  cleanups.push(async () => {
    agent.destroy();
    await server.close();
  });
  return { server, agent };
}

function watcherOver(transport: Transport, name: string): StormWatcher {
  const watcher = new StormWatcher({
    name,
    interest: everything,
    transport,
    start: 'list',
    bookmarks: false,
    random: seededRandom(name),
    disconnectsAfter: 0,
    pausesMs: 0,
  });
  cleanups.unshift(async () => watcher.stop());
  return watcher;
}

/** Reads one line, then nothing until `resume` resolves. */
function stalling(transport: Transport, resume: Promise<void>): Transport {
  return {
    list: transport.list,
    async *watch(request) {
      for await (const line of transport.watch(request)) {
        yield line;
        await resume;
      }
    },
  };
}

async function put({ access }: StormServer, agent: Agent, name: string, text: string): Promise<void> {
  const path = '/api/v1/namespaces/default/configmaps';
  const body = { metadata: { name }, data: { text } };
  const made = await call({ access, agent, method: 'PUT', path: `${path}/${name}`, options: { body } });
  if (made.status !== 404) return;
  await call({ access, agent, method: 'POST', path, options: { body } });
}

const fatBytes = 512 * 1024;
/** The server's limit for unsent data, plus the buffers of the two ends of a connection. */
const heldBytesMax = 8 * 1024 * 1024 + 16 * 1024 * 1024;

test('the server disconnects readers that stop reading at the limit, and they resume without losing events', async () => {
  const { server, agent } = await served();
  const transport = overHttps({ access: server.access, agent, form: 'object', timeoutSeconds: undefined });
  let resume = () => {};
  const released = new Promise<void>((resolve) => (resume = resolve));
  const stalled = [1, 2, 3].map((index) => watcherOver(stalling(transport, released), `stalled ${index}`));
  const others = [watcherOver(transport, 'steady'), watcherOver(inProcess(server.registry), 'near')];
  const all = [...stalled, ...others];
  const running = all.map((watcher) => watcher.run());
  await waitUntil(() => server.api.metrics.watchesOpen === 4);
  let writtenBytes = 0;
  while (server.api.metrics.watchesCut < stalled.length && writtenBytes < heldBytesMax) {
    await put(server, agent, `fat-${(writtenBytes / fatBytes) % 4}`, `${writtenBytes}`.padEnd(fatBytes, 'x'));
    writtenBytes += fatBytes;
  }
  expect(server.api.metrics).toMatchObject({ watchesCut: stalled.length, watchesOpen: 1 });
  resume();
  await waitUntil(() => all.every((watcher) => watcherProblem(server, watcher) === undefined));
  expect(all.map((watcher) => watcherProblem(server, watcher))).toEqual(all.map(() => undefined));
  expect(stalled.every(({ resumes, relists }) => resumes > 0 && relists === 1)).toBe(true);
  for (const watcher of all) watcher.stop();
  // Watchers must finish before the server closes: one that is still connecting then would be reset.
  await Promise.all(running);
});

test('watchers whose version is too old get 410 Gone, list again, and miss no event', async () => {
  const { server, agent } = await served({ changesMax: 40 });
  const forms = ['object', 'table', 'metadata'] as const;
  const transports = [
    ...forms.map((form) => overHttps({ access: server.access, agent, form, timeoutSeconds: undefined })),
    inProcess(server.registry),
  ];
  let resume = () => {};
  const released = new Promise<void>((resolve) => (resume = resolve));
  const watchers = transports.map(
    (transport, index) =>
      new StormWatcher({
        ...watcherOver(disconnecting(transport, released), `behind ${index}`).options,
        bookmarks: index % 2 === 0,
      }),
  );
  const running = watchers.map((watcher) => watcher.run());
  await waitUntil(() => watchers.every(({ startVersion }) => startVersion > 0));
  for (let count = 0; count < 200; count += 1) await put(server, agent, `o-${count % 50}`, String(count));
  resume();
  await waitUntil(() =>
    watchers.every((watcher) => watcher.relists > 1 && watcherProblem(server, watcher) === undefined),
  );
  expect(watchers.map((watcher) => watcherProblem(server, watcher))).toEqual(watchers.map(() => undefined));
  expect(watchers.every(({ relists }) => relists === 2)).toBe(true);
  expect(server.bugs).toEqual([]);
  for (const watcher of watchers) watcher.stop();
  await Promise.all(running);
});

/** Closes the watch after its first line, and opens the next one when `reconnect` resolves. */
function disconnecting(transport: Transport, reconnect: Promise<void>): Transport {
  let isFirst = true;
  return {
    list: transport.list,
    async *watch(request) {
      if (!isFirst) await reconnect;
      for await (const line of transport.watch(request)) {
        yield line;
        if (!isFirst) continue;
        isFirst = false;
        return;
      }
    },
  };
}
