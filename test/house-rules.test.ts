import { describe, expect, test } from 'vitest';
import {
  checkBannedGlobals,
  checkCycles,
  checkFloors,
  checkFolderHeaders,
  checkLocalPaths,
  checkManners,
  describeViolation,
  type Violation,
} from './house-rules.ts';
import {
  admits,
  checkDependenciesPage,
  checkEngines,
  checkInstallScripts,
  checkLockIsComplete,
  checkPins,
} from './package-rules.ts';
import { readSource, type TextFile } from './source-facts.ts';

/** Small made-up sources, by path; every rule must find what is wrong in one and nothing in its neighbour. */
type Sources = Readonly<Record<string, string>>;

function filesOf(sources: Sources): TextFile[] {
  return Object.entries(sources).map(([path, text]) => ({ path, text }));
}

function read(sources: Sources) {
  return filesOf(sources).map(readSource);
}

function places(violations: readonly Violation[]): string[] {
  return violations.map(({ file, line }) => `${file}:${line}`);
}

test('a violation is told with file, line, what is wrong and the remedy', () => {
  const [found] = checkFloors(read({ 'src/kube/pod.ts': "\nimport { plan } from '../engine/plan.ts';\n" }));
  expect(describeViolation(found!)).toBe(
    'src/kube/pod.ts:2: kube imports engine, which is not on a lower floor; move what both need down, or let the upper one pass it in',
  );
});

describe('the floors', () => {
  test.each([
    ['an upper floor', 'src/engine/plan.ts', "import { Store } from '../cluster/store.ts';"],
    ['an upper floor, for a type', 'src/kube/pod.ts', "import type { Plan } from '../engine/plan.ts';"],
    [
      'an upper floor, for a type in passing',
      'src/kube/pod.ts',
      "type P = import('../engine/plan.ts').Plan;",
    ],
    ['an upper floor, later', 'src/state/feed.ts', "await import('../controllers/queue.ts');"],
    ['an upper floor, to pass it on', 'src/engine/index.ts', "export * from '../state/feed.ts';"],
    ['an upper floor, to pass some on', 'src/engine/index.ts', "export { feed } from '../state/feed.ts';"],
    ['an upper floor, from a test', 'src/kube/pod.test.ts', "import { plan } from '../engine/plan.ts';"],
    ['a neighbour', 'src/csi/server.ts', "import { Store } from '../cluster/store.ts';"],
    ['the command line, from the console', 'src/console/page.ts', "import { table } from '../cli/table.ts';"],
    ['a room that does not exist', 'src/cli/main.ts', "import { x } from '../utilities/x.ts';"],
    [
      'more of runtime than assert, from kube',
      'src/kube/pod.ts',
      "import { Clock } from '../runtime/clock.ts';",
    ],
    [
      'more of runtime than assert, from the engine',
      'src/engine/plan.ts',
      "import { Clock } from '../runtime/clock.ts';",
    ],
    ['Node, from the engine', 'src/engine/plan.ts', "import { readFileSync } from 'node:fs';"],
    ['a package, from kube', 'src/kube/yaml.ts', "import { parse } from 'yaml';"],
    [
      'a rule, from the index',
      'src/engine/cluster-index/pods.ts',
      "import { x } from '../rules/taints/rule.ts';",
    ],
    ['the plan, from the index', 'src/engine/cluster-index/pods.ts', "import { x } from '../plan-order.ts';"],
    [
      'test code, from shipped code',
      'src/state/feed.ts',
      "import { fake } from '../cluster/testing/fake.ts';",
    ],
  ])('forbid importing %s', (_, path, text) => {
    expect(places(checkFloors(read({ [path]: `// one line\n${text}` })))).toEqual([`${path}:2`]);
  });

  test.each([
    ['lower floors', 'src/controllers/queue.ts', "import { plan } from '../engine/plan.ts';"],
    ['the own room', 'src/engine/rules/taints/rule.ts', "import { pods } from '../../index/pods.ts';"],
    ['assert, from kube', 'src/kube/pod.ts', "import { assert } from '../runtime/assert.ts';"],
    [
      'all of runtime, from a test of kube',
      'src/kube/pod.test.ts',
      "import { x } from '../runtime/random.ts';",
    ],
    ['Node, from a test of the engine', 'src/engine/plan.test.ts', "import { readFileSync } from 'node:fs';"],
    [
      'Node and packages, from above',
      'src/cluster/store.ts',
      "import { open } from 'lmdb'; import 'node:fs';",
    ],
    [
      'rules, from a test of the index',
      'src/engine/cluster-index/testing/x.ts',
      "import { x } from '../../rules/all.ts';",
    ],
    ['the console, from the command line', 'src/cli/up.ts', "import { serve } from '../console/serve.ts';"],
    [
      'nothing, and only talking of it',
      'src/kube/pod.ts',
      '/* import "node:fs" */ const s = `from "../engine/x.ts"`;',
    ],
  ])('allow importing %s', (_, path, text) => {
    expect(checkFloors(read({ [path]: text }))).toEqual([]);
  });

  test('have a place for every source', () => {
    const strays = read({ 'src/util.ts': '', 'src/helpers/x.ts': '' });
    expect(places(checkFloors(strays))).toEqual(['src/util.ts:1', 'src/helpers/x.ts:1']);
  });
});

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
    expect(places(checkBannedGlobals(read({ 'src/state/feed.ts': `// line\n${text}` })))).toContain(
      'src/state/feed.ts:2',
    );
    expect(
      checkBannedGlobals(read({ 'src/runtime/clock.ts': text, 'src/state/feed.test.ts': text })),
    ).toEqual([]);
  });

  test.each([
    'const t = new Date(clock.nowMs()); const u = Date.UTC(2025, 0, 1); const v = Date.parse(text);',
    'const m = Math.max(1, 2);',
    "// Date.now() is banned\nconst s = 'setTimeout(1)'; const r = /Math.random()/;",
    'interface Timers { setTimeout(ms: number): void } const x = { setInterval: 1 }; x.setInterval; fake.Date.now();',
    "import { createHash } from 'node:crypto';",
  ])('are left alone in: %s', (text) => {
    expect(checkBannedGlobals(read({ 'src/state/feed.ts': text }))).toEqual([]);
  });

  test('do not keep the command line from its process', () => {
    const text = 'const t = process.hrtime();';
    expect(checkBannedGlobals(read({ 'src/cli/main.ts': text }))).toEqual([]);
    expect(checkBannedGlobals(read({ 'src/console/page.ts': text }))).toHaveLength(1);
  });
});

describe('a folder', () => {
  const header = '/** What it is for. */\nexport {};\n';

  test.each([
    ['a room', 'src/state', { 'src/state/feed.ts': header }],
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
    ['a folder of folders', 'src/cluster', { 'src/apiserver/README.md': '' }],
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
      'test/house.test.ts': '',
    });
    expect(checkFolderHeaders(files)).toEqual([]);
  });
});

describe('manners', () => {
  test.each([
    ['a default export', 'export default 1;'],
    ['a default export by renaming', 'const a = 1; export { a as default };'],
    ['a cast to any', 'const a = JSON.parse(b) as any;'],
    ['a note to self', '// TODO: later'],
    ['a note to self in code', "throw new Error('FIXME');"],
  ])('forbid %s', (_, text) => {
    expect(places(checkManners(read({ 'src/state/feed.ts': `// línea\n${text}` })))).toEqual([
      'src/state/feed.ts:2',
    ]);
  });

  test('forbid files past 400 lines, unless they are generated', () => {
    const sources = read({
      'src/csi/long.ts': 'export {};\n'.repeat(401),
      'src/csi/full.ts': 'export {};\n'.repeat(400),
      'src/csi/generated/csi.ts': 'export {};\n'.repeat(9_000),
    });
    expect(checkManners(sources).map(describeViolation)).toEqual([
      'src/csi/long.ts:401: 401 lines; split it: 400 hold one concept',
    ]);
  });

  test('allow the rest', () => {
    const text =
      "const a = b as unknown as Map<string, 'any'>; export const defaults = { default: a }; // todos";
    expect(checkManners(read({ 'src/state/feed.ts': text }))).toEqual([]);
  });
});

describe('circles of imports', () => {
  test('are found with the way round, once each', () => {
    const sources = read({
      'src/engine/a.ts': "import './b.ts';",
      'src/engine/b.ts': "\nimport type { C } from './deep/c.ts';",
      'src/engine/deep/c.ts': "export * from '../b.ts';",
      'src/engine/d.ts': "import './a.ts'; import './d.ts';",
    });
    expect(checkCycles(sources).map(({ file, line, wrong }) => `${file}:${line}: ${wrong}`)).toEqual([
      'src/engine/deep/c.ts:1: a circle of imports: src/engine/b.ts -> src/engine/deep/c.ts -> src/engine/b.ts',
      'src/engine/d.ts:1: a circle of imports: src/engine/d.ts -> src/engine/d.ts',
    ]);
  });

  test('are not made of two ways to one file, or of tests', () => {
    const sources = read({
      'src/engine/a.ts': "import './b.ts'; import './c.ts';",
      'src/engine/b.ts': "import './c.ts';",
      'src/engine/c.ts': "import './c.test.ts';",
      'src/engine/c.test.ts': "import './a.ts';",
    });
    expect(checkCycles(sources)).toEqual([]);
  });
});

test('paths of one machine are found, and words that resemble them are not', () => {
  const [up, local] = [['..', 'shared', 'notes.md'].join('/'), ['', 'work', 'main'].join('/')];
  const files = filesOf({
    'docs/a.md': `See ${up}.\n\nBuilt in ${local}.`,
    'docs/b.md': 'shared work/life, network/x',
  });
  expect(places(checkLocalPaths(files))).toEqual(['docs/a.md:1', 'docs/a.md:3']);
});

describe('packages', () => {
  test.each(['^1.2.3', '~1.2.3', '1.2', '1.x', '*', 'latest', '>=1.2.3', 'github:a/b'])(
    'must be pinned: %s',
    (version) => {
      const manifest = { dependencies: { good: '1.2.3' }, devDependencies: { bad: version } };
      const text = JSON.stringify(manifest, undefined, 2);
      expect(checkPins(manifest, text).map(({ line, wrong }) => [line, wrong])).toEqual([
        [6, `bad is "${version}"`],
      ]);
    },
  );

  test.each(['1.2.3', '1.2.3-rc.1', '0.0.0-dev.20250101+build.5'])('may be pinned so: %s', (version) => {
    expect(checkPins({ dependencies: { good: version } }, '')).toEqual([]);
  });

  test('that we ship with must be named on the page, whole names only', () => {
    const manifest = { dependencies: { yaml: '1.0.0', '@grpc/grpc-js': '1.0.0', lmdb: '3.0.0' } };
    const page = '- `@grpc/grpc-js` speaks gRPC\n- lmdb-store and yaml-js are not what we use, lmdb is';
    expect(checkDependenciesPage(manifest, page).map(({ wrong }) => wrong)).toEqual([
      'it does not name yaml',
    ]);
    expect(checkDependenciesPage(manifest, '')).toHaveLength(3);
  });

  test('must be in the lock, also those that another platform may want', () => {
    const packages = {
      'node_modules/tool': { optionalDependencies: { 'tool-linux': '1.0.0', 'tool-darwin': '1.0.0' } },
      'node_modules/tool-linux': {},
    };
    expect(checkLockIsComplete({ packages }).map(({ wrong }) => wrong)).toEqual([
      'it has no entry for tool-darwin, which node_modules/tool may want',
    ]);
  });

  test('must not run scripts when installed, by the lock file or by what is installed', () => {
    const packages = {
      '': { hasInstallScript: true },
      'node_modules/marked': { hasInstallScript: true },
      'node_modules/a/node_modules/@scope/unmarked': {},
      'node_modules/fsevents': { hasInstallScript: true },
      'node_modules/harmless': {},
    };
    const installed = (folder: string) =>
      folder.endsWith('unmarked')
        ? { scripts: { postinstall: 'node fetch.js' } }
        : { scripts: { test: 'vitest' } };
    expect(checkInstallScripts({ packages }, installed).map(({ wrong }) => wrong)).toEqual([
      'marked runs a script when it is installed',
      '@scope/unmarked runs a script when it is installed',
    ]);
  });

  test('must run on the oldest Node that we promise', () => {
    const packages = {
      'node_modules/modern': { engines: { node: '>=22' } },
      'node_modules/fine': { engines: { node: '^18 || >=20' } },
      'node_modules/silent': {},
      'node_modules/ancient': { engines: ['node >= 0.6'] },
    };
    expect(checkEngines({ packages }, [20, 19, 0]).map(({ wrong }) => wrong)).toEqual([
      'modern wants Node ">=22", which does not admit 20.19.0',
    ]);
  });

  test.each([
    '>=20.19',
    '>= 12.0.0',
    '>=0.10.0',
    '20 || >=22',
    '^20.19.0 || ^22.13.0 || >=23.5.0',
    '^10 || ^12 || ^13.7 || ^14 || >=15.0.1',
    '>=18 <21',
    '~20.19',
    '20.x',
    '<=20',
    '>20.18',
    '*',
    '',
  ])('a range that admits Node 20.19: "%s"', (range) => {
    expect(admits(range, [20, 19, 0])).toBe(true);
  });

  test.each([
    '>=20.19.1',
    '^22 || >=24',
    '20.18.x',
    '<20',
    '>20',
    '~20.18.1',
    '>=18 <20',
    '^18.0.0',
    'lts',
    '18 - 21',
  ])('a range that does not, or cannot be read: "%s"', (range) => {
    expect(admits(range, [20, 19, 0])).toBe(false);
  });
});
