import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { seededRandom } from '../../runtime/random.ts';
import { openLmdbStore } from './lmdb-store.ts';
import type { Store } from './store.ts';
import { withChecksum } from './testing/checksummed-text.ts';
import { delay, StoreChild } from './testing/store-child.ts';
import { entryText, putText } from './testing/store-driver.ts';

/**
 * A process that writes without end is killed, again and again, in the same directory. To be killed more often:
 *
 *     CRASH_ROUNDS=500 npx vitest run src/apiserver/store/crash.test.ts
 */
const rounds = Number(process.env.CRASH_ROUNDS ?? 10);

const folder = mkdtempSync(join(tmpdir(), 'stowage-crash-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('after a kill at any moment, the store contains all writes up to some revision, including all acknowledged ones', async () => {
  const directory = join(folder, 'data');
  const random = seededRandom(`${rounds} rounds`);
  const written = new Map<number, Write>();
  let acknowledgedCount = 0;
  for (let round = 0; round < rounds; round += 1) {
    const child = new StoreChild(folder, { what: 'storm', directory, seed: `round ${round}` });
    if (random.int(8) > 0) await child.firstOutput();
    await delay(random.int(250));
    await child.kill();
    const { writes, acknowledged } = readLines(child.lines);
    for (const write of writes) written.set(write.revision, write);
    acknowledgedCount += acknowledged.length;

    const store = await openLmdbStore(directory);
    expect(store.revision).toBeGreaterThanOrEqual(Math.max(1, ...acknowledged));
    forgetAfter(written, store.revision);
    expect(statesIn(store)).toEqual(statesAfter(written));
    const { revision } = putText(store, 'after the crash', `${round}`, 'rounds');
    expect(revision).toBeGreaterThan(Math.max(...acknowledged, ...written.keys(), 1));
    await store.close();
  }
  expect(acknowledgedCount).toBeGreaterThan(rounds);
}, 600_000);

interface Write {
  readonly type: string;
  readonly revision: number;
  readonly key: string;
}

function readLines(lines: readonly string[]) {
  const fields = lines.map((line) => line.split(' '));
  const errors = lines.filter((line) => line.startsWith('error'));
  expect(errors).toEqual([]);
  const writes = fields
    .filter(([type]) => type === 'put' || type === 'remove')
    .map(([type = '', revision, key = '']) => ({ type, revision: Number(revision), key }));
  const acknowledged = fields
    .filter(([type]) => type === 'acknowledged')
    .map(([, revision]) => Number(revision));
  return { writes, acknowledged };
}

/** Writes in flight when the process was killed; their revisions are issued again. */
function forgetAfter(written: Map<number, Write>, revision: number): void {
  for (const made of [...written.keys()]) if (made > revision) written.delete(made);
}

function statesAfter(written: ReadonlyMap<number, Write>): Map<string, number> {
  const inOrder = [...written.values()].sort((a, b) => a.revision - b.revision);
  const states = new Map<string, number>();
  for (const { type, revision, key } of inOrder) {
    if (type === 'put') states.set(key, revision);
    else states.delete(key);
  }
  return new Map([...states].sort());
}

/** The revision of each key, after checking that its bytes are complete and belong to that revision. */
function statesIn(store: Store): Map<string, number> {
  const states = store.list('pods').map((entry): [string, number] => {
    const text = entryText(entry).slice(41);
    expect(withChecksum(text).equals(entry.bytes)).toBe(true);
    expect(text.replace(/x+$/, '')).toBe(`${entry.revision}`);
    return [entry.key, entry.revision];
  });
  return new Map(states.sort());
}
