import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { openLmdbStore } from './lmdb-store.ts';
import { MemoryStore } from './memory-store.ts';
import { storeContract } from './testing/store.contract.ts';

const root = mkdtempSync(join(tmpdir(), 'stowage-store-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

storeContract('a store in memory', (history) => Promise.resolve(new MemoryStore({ history })));
storeContract('a store in a directory', (history) =>
  openLmdbStore(mkdtempSync(join(root, 'data-')), { history }),
);
