import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const reporter = fileURLToPath(new URL('./tally-reporter.ts', import.meta.url));
const settings = {
  globals: true,
  include: ['*.test.ts'],
  pool: 'threads',
  isolate: false,
  maxWorkers: 1,
  reporters: ['default', reporter],
};

interface Run {
  readonly exitCode: number | null;
  readonly lastLine: string | undefined;
  /** Tests that passed only when they were retried, each with the following line. */
  readonly retried: readonly string[];
}

/** Runs the real vitest on a folder, with piped output. */
async function runVitest(files: Readonly<Record<string, string>>): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-tally-'));
  try {
    await writeFile(
      join(folder, 'vitest.config.mjs'),
      `export default ${JSON.stringify({ test: settings })};`,
    );
    for (const [name, source] of Object.entries(files)) await writeFile(join(folder, name), source);
    const child = spawn(process.execPath, [vitest, 'run', '--root', folder], {
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
    const output = await text(child.stdout);
    const lines = output.trimEnd().split('\n');
    const retried = lines.flatMap((line, at) =>
      line.startsWith('passed when') ? lines.slice(at, at + 2) : [],
    );
    return { exitCode: await exited, lastLine: lines.at(-1), retried };
  } finally {
    await rm(folder, { recursive: true });
  }
}

test.concurrent('a run that passes ends with its tally, without skipped tests', async () => {
  const run = await runVitest({
    'a.test.ts': "test('one', () => {}); test('two', () => {}); test.skip('three', () => {});",
    'b.test.ts': "test('four', () => {});",
  });
  expect(run).toEqual({ exitCode: 0, lastLine: '3 passed, 0 failed', retried: [] });
});

test.concurrent('everything that fails a run is counted: tests, hooks, files that do not load, uncaught errors', async () => {
  const run = await runVitest({
    'test.test.ts': "test('one', () => {}); test('two', () => { expect(1).toBe(2); });",
    'hook.test.ts':
      "describe('group', () => { beforeAll(() => { throw new Error(); }); test('three', () => {}); });",
    'load.test.ts': "import './missing.ts'; test('four', () => {});",
    'stray.test.ts':
      "test('five', async () => { void Promise.reject(new Error()); await new Promise(setImmediate); });",
  });
  expect(run).toEqual({ exitCode: 1, lastLine: '2 passed, 4 failed', retried: [] });
});

test.concurrent('a test that passes when retried passes, and is listed with its first error; a test that fails twice counts as one failure', async () => {
  const run = await runVitest({
    'a.test.ts': `
      let tries = 0;
      describe('group', () => {
        test('one', { retry: 1 }, () => { tries += 1; if (tries === 1) throw new Error('not yet'); });
      });
      test('two', { retry: 1 }, () => { throw new Error('never'); });`,
  });
  expect(run).toEqual({
    exitCode: 1,
    lastLine: '1 passed, 1 failed',
    retried: ['passed when tried again: a.test.ts > group > one', 'not yet'],
  });
});

test.concurrent('a run without tests is not a success', async () => {
  expect(await runVitest({})).toEqual({ exitCode: 1, lastLine: '0 passed, 1 failed', retried: [] });
});
