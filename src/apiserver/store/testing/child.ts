import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { type Random, seededRandom } from '../../../runtime/random.ts';
import { openLmdbStore } from '../lmdb-store.ts';
import type { Store } from '../store.ts';
import { withChecksum } from './checksummed-text.ts';

/**
 * A process with a store in a directory: `child.js <what> <directory> <seed>`, or `child.js read <directory>...`. Every line is written synchronously, so
 * the output is what the process knew when it was killed.
 */
const [what, directory = '', seed = ''] = process.argv.slice(2);

try {
  if (what === 'read') {
    for (const one of process.argv.slice(3)) await read(one);
    process.exit();
  }
  if (what === 'open-unprivileged') dropPrivileges();
  const store = await openLmdbStore(directory);
  print('open', store.revision);
  if (what === 'storm') await storm(store, seededRandom(seed));
  else if (what === 'fill') await fill(store);
  else if (what === 'hold') setInterval(() => {}, 1000);
  else await store.close();
} catch (error) {
  print('error', error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

/** Only now, after all modules are loaded: another user may not be able to read the folder of the sources. */
function dropPrivileges(): void {
  process.setgroups?.([]);
  process.setgid?.(65_534);
  process.setuid?.(65_534);
}

function print(...fields: readonly (string | number)[]): void {
  writeSync(1, `${fields.join(' ')}\n`);
}

/** Prints the revision and a digest of all data in one line, or the error. */
async function read(path: string): Promise<void> {
  try {
    const store = await openLmdbStore(path);
    const digest = createHash('sha256');
    let count = 0;
    for (const { key, revision, createRevision, bytes } of store.list('configmaps')) {
      digest.update(`${key} ${revision} ${createRevision} `).update(bytes);
      count += 1;
    }
    print('data', store.revision, count, digest.digest('hex').slice(0, 16));
    await store.close();
  } catch (error) {
    print('error', error instanceof Error ? error.message : String(error));
  }
}

/** Sixteen endless writers. Prints each write when it is made, and again when it is acknowledged. */
async function storm(store: Store, random: Random): Promise<void> {
  const writers = Array.from({ length: 16 }, async () => {
    for (;;) {
      const revision = writeSomething(store, random);
      await store.whenDurable(revision);
      print('acknowledged', revision);
    }
  });
  await Promise.all(writers);
}

function writeSomething(store: Store, random: Random): number {
  const key = `key-${random.int(300)}`;
  const replaces = store.get('pods', key)?.revision ?? 0;
  if (replaces > 0 && random.int(4) === 0) {
    const { revision } = store.remove('pods', key, replaces, () => Buffer.from('gone'));
    print('remove', revision, key);
    return revision;
  }
  const size = random.int(50) === 0 ? random.int(300_000) : random.int(6000);
  const { revision } = store.put('pods', key, replaces, (made) => withChecksum(`${made}`.padEnd(size, 'x')));
  print('put', revision, key);
  return revision;
}

/** Writes until a write fails, then a little more. */
async function fill(store: Store): Promise<void> {
  for (let index = 0; ; index += 1) {
    const replaces = store.get('pods', `${index}`)?.revision ?? 0;
    const { revision } = store.put('pods', `${index}`, replaces, () => Buffer.alloc(20_000, 'x'));
    try {
      await store.whenDurable(revision);
      print('acknowledged', revision, index);
    } catch (error) {
      print('failed', revision, error instanceof Error ? error.message : String(error));
      break;
    }
  }
  print('count', store.count('pods'), store.revision);
  const first = store.get('pods', '0');
  const { revision } = store.remove('pods', '0', first?.revision ?? 0, () => Buffer.from('gone'));
  await Promise.resolve(store.whenDurable(revision)).then(
    () => print('removed', revision),
    () => print('not removed', revision),
  );
  await store.close();
}
