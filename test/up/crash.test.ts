import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { seededRandom } from '../../src/runtime/random.ts';
import { ApiClient, type ApiObject } from './api-client.ts';
import { delay, StowageProcess, temporaryFolder } from './stowage-process.ts';
import { configMaps, isWhole, newMemory, stateOf, type WriterMemory, writeUntilCut } from './write-storm.ts';

/**
 * Kills the whole program repeatedly while sixteen clients write to the same data. For more rounds:
 *
 *     CRASH_ROUNDS=100 npx vitest run test/up/crash.test.ts
 */
const rounds = Number(process.env.CRASH_ROUNDS ?? 4);
const writerCount = 16;

test('after a kill, every acknowledged write is stored, none is torn, and versions continue', async () => {
  const data = join(temporaryFolder(), 'data');
  const random = seededRandom(`${rounds} rounds`);
  const memories = Array.from({ length: writerCount }, newMemory);
  let newest = 0;
  for (let round = 0; ; round += 1) {
    const stowage = await StowageProcess.up(data);
    const client = new ApiClient(stowage.access);
    const before = newest;
    const { items, version } = await list(client);
    expect(version).toBeGreaterThanOrEqual(before);
    for (const [index, memory] of memories.entries()) checkMemory(`writer-${index}`, memory, items);
    if (round > 0) {
      await checkOldWatch(client);
      await checkNewWatch(client, version, before);
    }
    if (round === rounds) break;

    const storm = memories.map((memory, index) =>
      writeUntilCut(`writer-${index}`, memory, client, random.fork(`${round} ${index}`)),
    );
    const counted = () => memories.reduce((sum, { acknowledgedCount }) => sum + acknowledgedCount, 0);
    const begun = counted();
    while (counted() === begun) await delay(1);
    await delay(random.int(400));
    await stowage.kill();
    await Promise.all(storm);
    client.close();
    newest = Math.max(
      version,
      ...memories.flatMap(({ known }) => [...known.values()].map((one) => Number(one.version))),
    );
    expect(counted()).toBeGreaterThan(begun);
  }
}, 600_000);

/** Compares the stored objects with the acknowledged writes, and records which pending writes have arrived. */
function checkMemory(writer: string, memory: WriterMemory, items: ReadonlyMap<string, ApiObject>): void {
  const { known, pending } = memory;
  const names = new Set([...known.keys(), ...(pending === undefined ? [] : [pending.name])]);
  for (const name of names) {
    const found = items.get(name);
    const state = found === undefined ? 'absent' : stateOf(found);
    const acknowledged = known.get(name);
    const possible = [acknowledged?.state ?? 'absent', ...(pending?.name === name ? [pending.state] : [])];
    expect(possible, name).toContainEqual(state);
    const version = found?.metadata.resourceVersion ?? acknowledged?.version ?? '0';
    if (found !== undefined && pending?.name !== name)
      expect([name, version]).toEqual([name, acknowledged?.version]);
    known.set(name, { state, version });
  }
  const mine = [...items.keys()].filter((name) => name.startsWith(`${writer}-`));
  expect([...names]).toEqual(expect.arrayContaining(mine));
  memory.pending = undefined;
}

async function list(client: ApiClient): Promise<{ items: Map<string, ApiObject>; version: number }> {
  const { status, body } = await client.call('GET', configMaps);
  expect(status).toBe(200);
  // Every namespace has one object that the server itself creates.
  const items = (body.items ?? []).filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt');
  expect(items.filter((item) => !isWhole(item))).toEqual([]);
  return {
    items: new Map(items.map((item) => [item.metadata.name ?? '', item])),
    version: Number(body.metadata.resourceVersion),
  };
}

/** Events before the start are not kept: the server asks a client to list again. */
async function checkOldWatch(client: ApiClient): Promise<void> {
  const path = `${configMaps}?watch=true&resourceVersion=1&timeoutSeconds=5`;
  const { status, text } = await client.call('GET', path);
  expect([status, JSON.parse(text)]).toMatchObject([
    200,
    { type: 'ERROR', object: { code: 410, reason: 'Expired' } },
  ]);
}

/** From the version of a new list on, a watch reports later changes, with versions higher than all earlier ones. */
async function checkNewWatch(client: ApiClient, version: number, before: number): Promise<void> {
  const watch = await client.watch(`${configMaps}?watch=true&resourceVersion=${version}`);
  const { body: made } = await client.call('POST', configMaps, {
    body: { metadata: { name: 'after-the-crash' } },
  });
  expect(Number(made.metadata.resourceVersion)).toBeGreaterThan(Math.max(version, before));
  const [chunk] = await once(watch, 'data');
  expect(JSON.parse(String(chunk))).toMatchObject({ type: 'ADDED', object: { metadata: made.metadata } });
  watch.destroy();
  await client.call('DELETE', `${configMaps}/after-the-crash`);
}
