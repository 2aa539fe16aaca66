import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../../../src/runtime/random.ts';
import { builtProgram } from '../../built-program.ts';
import { damageFile } from './damage.ts';

export interface DamagedCopies {
  /** How many copies were opened with all data, and how many were refused. */
  readonly complete: number;
  readonly refused: number;
  readonly problems: readonly string[];
  /** The directory of a store that was refused; for a start of the whole server. */
  readonly refusedStore: string | undefined;
}

/** Damages copies of a store that no process uses, and opens each: it must have all data, or be refused with a remedy. */
export async function tryDamagedCopies(
  store: string,
  folder: string,
  count: number,
  random: Random,
): Promise<DamagedCopies> {
  rmSync(folder, { recursive: true, force: true });
  const whole = copyOf(store, join(folder, 'whole'));
  const copies = Array.from({ length: count }, (_, index) => {
    const directory = copyOf(store, join(folder, `copy-${index}`));
    return { directory, damage: damageFile(join(directory, 'store.mdb'), random) };
  });
  const results = await openAll([whole, ...copies.map(({ directory }) => directory)]);
  const expected = results[0] ?? '';
  const problems = expected.startsWith('data ') ? [] : [`the undamaged copy was not opened: ${expected}`];
  let refusedStore: string | undefined;
  for (const [index, { directory, damage }] of copies.entries()) {
    const result = results[index + 1] ?? 'the process ended';
    if (isClearRefusal(result, directory)) refusedStore = directory;
    else if (result !== expected)
      problems.push(`a store with damage (${damage}) was opened: ${result}, expected ${expected}`);
  }
  const complete = results.slice(1).filter((result) => result === expected).length;
  return { complete, refused: count - complete - problems.length, problems, refusedStore };
}

/** The message names the file or the directory, and what to do. */
function isClearRefusal(result: string, directory: string): boolean {
  return (
    result.startsWith('error the data directory ') && result.includes(directory) && result.includes('--data')
  );
}

function copyOf(store: string, directory: string): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // Not the files of locks, which no backup would have.
  for (const file of readdirSync(store)) {
    if (!file.endsWith('-lock')) copyFileSync(join(store, file), join(directory, file));
  }
  return directory;
}

/** One line for each directory. If opening one ends the process, another process continues with the next. */
async function openAll(directories: readonly string[]): Promise<string[]> {
  const results: string[] = [];
  while (results.length < directories.length) {
    const { lines, exit } = await openSome(directories.slice(results.length));
    results.push(...lines);
    if (results.length < directories.length) results.push(`the process ended (${exit})`);
  }
  return results;
}

function openSome(directories: readonly string[]): Promise<{ lines: string[]; exit: string }> {
  const script = builtProgram(new URL('../../../src/apiserver/store/testing/child.ts', import.meta.url));
  const child = spawn(process.execPath, [script, 'read', ...directories], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  return new Promise((resolve) => {
    child.once('close', (status, signal) => {
      resolve({ lines: output.split('\n').slice(0, -1), exit: signal ?? `status ${status}` });
    });
  });
}
