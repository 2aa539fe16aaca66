import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../../runtime/random.ts';
import { formatMetaKey, openLmdbDatabase, revisionMetaKey } from './lmdb-database.ts';
import { openLmdbStore } from './lmdb-store.ts';
import type { Store } from './store.ts';
import { StoreError } from './store-error.ts';

const root = mkdtempSync(join(tmpdir(), 'stowage-damaged-'));
const whole = join(root, 'whole');
const random = seededRandom('damaged data');

/** Some are larger than half a page and get pages of their own. */
const textOf = (index: number) => `${index}:`.padEnd(1 + ((index * 97) % 9000), 'x');

/** Enough for a tree of several levels, with free pages. */
async function fill(store: Store): Promise<void> {
  const encode = (index: number) => () => new TextEncoder().encode(textOf(index));
  for (let index = 0; index < 400; index++) store.put('pods', `ns/${index}`, 0, encode(index));
  await store.whenDurable(store.revision);
  for (let index = 0; index < 400; index += 3) {
    const { revision } = store.get('pods', `ns/${index}`)!;
    if (index % 2 === 0) store.remove('pods', `ns/${index}`, revision, () => new Uint8Array());
    else store.put('pods', `ns/${index}`, revision, encode(index));
    if (index % 30 === 0) await store.whenDurable(store.revision);
  }
}

beforeAll(async () => {
  const store = await openLmdbStore(whole);
  await fill(store);
  await store.close();
});
afterAll(() => rmSync(root, { recursive: true }));

let copies = 0;

function copyOfWhole(): { readonly directory: string; readonly file: string } {
  const directory = join(root, `copy-${copies++}`);
  mkdirSync(directory);
  const file = join(directory, 'store.mdb');
  copyFileSync(join(whole, 'store.mdb'), file);
  return { directory, file };
}

/** `as it was`, or the error message. */
async function opened(directory: string): Promise<string> {
  let store: Store;
  try {
    store = await openLmdbStore(directory);
  } catch (error) {
    if (error instanceof StoreError && (error.code === 'Unusable' || error.code === 'Damaged'))
      return error.message;
    throw error;
  }
  const isSame = store.list('pods').every(({ key, bytes }) => {
    return Buffer.from(bytes).toString() === textOf(Number(key.slice('ns/'.length)));
  });
  const count = store.count('pods');
  await store.close();
  return isSame && count === 333 ? 'as it was' : `not as it was: ${count}`;
}

test('an unchanged file is opened', async () => {
  expect(await opened(copyOfWhole().directory)).toBe('as it was');
});

describe('a damaged file is refused, or complete if only free pages are damaged', () => {
  const size = () => statSync(join(whole, 'store.mdb')).size;
  const damages: readonly (readonly [string, (file: string) => void])[] = [
    ['truncated', (file) => truncateSync(file, 16_384 + random.int(size() - 16_384))],
    [
      'with a page of zeros',
      (file) => overwrite(file, Buffer.alloc(8192), 8192 * (2 + random.int(size() / 8192 - 2))),
    ],
    [
      'with a changed byte',
      (file) => overwrite(file, Buffer.from([1 + random.int(254)]), 16_384 + random.int(size() - 16_384)),
    ],
    ['with garbage', (file) => overwrite(file, Buffer.from(garbage()), 16_384 + random.int(size() - 17_000))],
  ];
  const garbage = () => Array.from({ length: 200 }, () => random.int(256));

  test.each(damages)('%s', async (_name, damage) => {
    const outcomes: string[] = [];
    for (let round = 0; round < 25; round++) {
      const { directory, file } = copyOfWhole();
      damage(file);
      outcomes.push(await opened(directory));
      rmSync(directory, { recursive: true });
    }
    const refused = /^the data directory .* cannot be used: .*; choose another with --data$/;
    expect(outcomes.filter((outcome) => outcome !== 'as it was' && !refused.test(outcome))).toEqual([]);
    expect(outcomes.filter((outcome) => outcome !== 'as it was').length).toBeGreaterThan(5);
  });
});

describe('a damaged meta page never leads to an older state', () => {
  // LMDB takes the state with the higher number of a transaction, and the state before the newest is still complete.
  const fields = [
    ['number of the transaction', 152],
    ['root of the main tree', 136],
    ['last page', 144],
  ] as const;
  const flips = fields.flatMap(([name, offset]) =>
    [0, 1].map((page) => ({ name, page, at: page * 8192 + offset })),
  );

  test.each(flips)('$name in page $page', async ({ at }) => {
    for (let bit = 0; bit < 16; bit++) {
      const { directory, file } = copyOfWhole();
      const byte = readFileSync(file)[at + (bit >> 3)]!;
      overwrite(file, Buffer.from([byte ^ (1 << (bit & 7))]), at + (bit >> 3));
      expect(await opened(directory)).toMatch(/^as it was$|is damaged/);
      rmSync(directory, { recursive: true });
    }
  });
});

test.each([
  ['empty', (file: string) => truncateSync(file, 0)],
  ['missing', (file: string) => rmSync(file)],
])('a file that is %s is not treated as a new one', async (_name, damage) => {
  const { directory, file } = copyOfWhole();
  expect(await opened(directory)).toBe('as it was');
  damage(file);
  expect(await opened(directory)).toContain(`${file} is missing or empty (restore it from a backup)`);
});

test('records without their format are not treated as a new file', async () => {
  const { directory } = copyOfWhole();
  const { root: environment, meta } = await openLmdbDatabase(directory, undefined);
  await meta.remove(formatMetaKey);
  await environment.close();
  expect(await opened(directory)).toContain('is damaged: its format is missing');
});

test('a changed revision is found', async () => {
  const { directory } = copyOfWhole();
  const { root: environment, meta } = await openLmdbDatabase(directory, undefined);
  await meta.put(revisionMetaKey, Buffer.from('7'));
  await environment.close();
  expect(await opened(directory)).toContain('the checksum of its 333 objects does not match');
});

function overwrite(file: string, bytes: Buffer, at: number): void {
  const all = readFileSync(file);
  bytes.copy(all, at);
  writeFileSync(file, all);
}
