import { describe, expect, test } from 'vitest';
import {
  checkBannedGlobals,
  checkFolderHeaders,
  checkLocalPaths,
  checkSourceStyle,
  checkUniqueNames,
} from './source-rules.ts';
import { filesOf, places, readSources, type Sources } from './testing/made-up-sources.ts';

describe('time, randomness and ids', () => {
  test.each([
    'const t = Date.now();',
    'const t = new Date();',
    'const t = Date();',
    'const r = Math.random();',
    "const r = Math['random']();",
    'const t = performance.now();',
    'const t = process.hrtime.bigint();',
    'const id = crypto.randomUUID();',
    'setTimeout(() => {}, 1);',
    'globalThis.setInterval(() => {}, 1);',
    'const wait = setImmediate;',
    "import { setTimeout as sleep } from 'node:timers/promises';",
    "import { randomUUID } from 'node:crypto';",
    "import { performance } from 'node:perf_hooks';",
    "import { hrtime } from 'node:process';",
  ])('come from runtime: %s', (text) => {
    expect(places(checkBannedGlobals(readSources({ 'src/state/feed.ts': `// line\n${text}` })))).toContain(
      'src/state/feed.ts:2',
    );
    expect(
      checkBannedGlobals(readSources({ 'src/runtime/clock.ts': text, 'src/state/feed.test.ts': text })),
    ).toEqual([]);
  });

  test.each([
    'const t = new Date(clock.nowMs()); const u = Date.UTC(2025, 0, 1); const v = Date.parse(text);',
    'const m = Math.max(1, 2);',
    "// Date.now() is banned\nconst s = 'setTimeout(1)'; const r = /Math.random()/;",
    'interface Timers { setTimeout(ms: number): void } const x = { setInterval: 1 }; x.setInterval; fake.Date.now();',
    "import { createHash } from 'node:crypto';",
  ])('are not found in: %s', (text) => {
    expect(checkBannedGlobals(readSources({ 'src/state/feed.ts': text }))).toEqual([]);
  });

  test('may be read from the process by the command line', () => {
    const text = 'const t = process.hrtime();';
    expect(checkBannedGlobals(readSources({ 'src/cli/main.ts': text }))).toEqual([]);
    expect(checkBannedGlobals(readSources({ 'src/console/page.ts': text }))).toHaveLength(1);
  });
});

describe('a folder', () => {
  const header = '/** What it is for. */\nexport {};\n';

  test.each([
    ['a folder of src', 'src/state', { 'src/state/feed.ts': header }],
    [
      'a part of the engine',
      'src/engine/ledger',
      { 'src/engine/README.md': '', 'src/engine/ledger/a.ts': header },
    ],
    [
      'a rule',
      'src/engine/rules/taints',
      { 'src/engine/rules/README.md': '', 'src/engine/rules/taints/rule.ts': '' },
    ],
    ['a folder of folders', 'src/cluster', { 'src/cluster/kubernetes/README.md': '' }],
  ])('that does not say what it is for is found: %s', (_, folder, sources: Sources) => {
    expect(checkFolderHeaders(filesOf(sources)).map(({ file }) => file)).toContain(folder);
  });

  test('may say so in a README, an index or a rule', () => {
    const files = filesOf({
      'src/state/README.md': '# state',
      'src/state/feed/informers.ts': '',
      'src/engine/index.ts': header,
      'src/engine/rules/README.md': '# rules',
      'src/engine/rules/taints/rule.ts': header,
      'test/structure/structure.test.ts': '',
    });
    expect(checkFolderHeaders(files)).toEqual([]);
  });
});

describe('source style', () => {
  test.each([
    ['a default export', 'export default 1;'],
    ['a default export by renaming', 'const a = 1; export { a as default };'],
    ['a cast to any', 'const a = JSON.parse(b) as any;'],
    ['a note to self', '// TODO: later'],
    ['a note to self in code', "throw new Error('FIXME');"],
  ])('forbid %s', (_, text) => {
    expect(places(checkSourceStyle(readSources({ 'src/state/feed.ts': `// línea\n${text}` })))).toEqual([
      'src/state/feed.ts:2',
    ]);
  });

  test('allow the rest', () => {
    const text =
      "const a = b as unknown as Map<string, 'any'>; export const defaults = { default: a }; // todos";
    expect(checkSourceStyle(readSources({ 'src/state/feed.ts': text }))).toEqual([]);
  });
});

test('paths of one machine are found, and text that resembles them are not', () => {
  const [up, local] = [['..', 'shared', 'notes.md'].join('/'), ['', 'work', 'main'].join('/')];
  const files = filesOf({
    'docs/a.md': `See ${up}.\n\nBuilt in ${local}.`,
    'docs/b.md': 'shared work/life, network/x',
  });
  expect(places(checkLocalPaths(files))).toEqual(['docs/a.md:1', 'docs/a.md:3']);
});

test('an exported name that exists twice is found; overloads, tests and generated types are not', () => {
  const files = filesOf({
    'src/a/step.ts': 'export interface Step {}\n',
    'src/b/step.ts': '\nexport class Step {}\n',
    'src/a/text.ts': 'export function text(a: string): string;\nexport function text(a: number): string;\n',
    'src/a/testing/step.ts': 'export const Step = 1;\n',
    'src/kube/api/step.ts': '// Generated from Go.\nexport interface Step {}\n',
  });
  expect(places(checkUniqueNames(files))).toEqual(['src/b/step.ts:2']);
});
