import { describe, expect, test } from 'vitest';
import { checkFileCycles, checkFolderCycles, checkImports, checkLayers } from './layer-rules.ts';
import { layersByFolder } from './layers.ts';
import { places, readSources } from './testing/made-up-sources.ts';
import { describeViolation } from './violation.ts';

const layers = layersByFolder.src!;

test('a violation names file, line, what is wrong and the remedy', () => {
  const sources = readSources({ 'src/kube/pod.ts': "\nimport { plan } from '../engine/plan.ts';\n" });
  expect(checkLayers('src', layers, sources).map(describeViolation)).toEqual([
    'src/kube/pod.ts:2: kube imports engine, which is not in a lower layer of src; move what both need down, or let the upper one pass it in',
  ]);
});

describe('layers', () => {
  test.each([
    ['an upper layer', 'src/engine/plan.ts', "import { Store } from '../cluster/store.ts';"],
    ['an upper layer, for a type', 'src/kube/pod.ts', "import type { Plan } from '../engine/plan.ts';"],
    ['an upper layer, for an inline type', 'src/kube/pod.ts', "type P = import('../engine/plan.ts').Plan;"],
    ['an upper layer, dynamically', 'src/state/feed.ts', "await import('../controllers/queue.ts');"],
    ['an upper layer, to re-export all', 'src/engine/index.ts', "export * from '../state/feed.ts';"],
    [
      'an upper layer, to re-export a name',
      'src/engine/index.ts',
      "export { feed } from '../state/feed.ts';",
    ],
    ['an upper layer, from a test', 'src/kube/pod.test.ts', "import { plan } from '../engine/plan.ts';"],
    ['the same layer', 'src/extender/server.ts', "import { bind } from '../binding/bind.ts';"],
    ['the command line, from the console', 'src/console/page.ts', "import { table } from '../cli/table.ts';"],
    ['a folder that does not exist', 'src/cli/main.ts', "import { x } from '../utilities/x.ts';"],
  ])('forbid importing %s', (_, path, text) => {
    const sources = readSources({ [path]: `// one line\n${text}` });
    expect(places(checkLayers('src', layers, sources))).toEqual([`${path}:2`]);
  });

  test.each([
    ['lower layers', 'src/controllers/queue.ts', "import { plan } from '../engine/plan.ts';"],
    ['the same folder', 'src/engine/rules/taints/rule.ts', "import { pods } from '../../index/pods.ts';"],
    ['upper fixtures, from a test', 'src/bind/x.test.ts', "import { x } from '../controllers/testing/x.ts';"],
    ['the console, from the command line', 'src/cli/up.ts', "import { serve } from '../console/serve.ts';"],
    ['nothing, and only mentioning it', 'src/kube/pod.ts', 'const s = `from "../engine/x.ts"`;'],
  ])('allow importing %s', (_, path, text) => {
    expect(checkLayers('src', layers, readSources({ [path]: text }))).toEqual([]);
  });

  test('have a place for every source', () => {
    const sources = readSources({ 'src/util.ts': '', 'src/helpers/x.ts': '' });
    expect(places(checkLayers('src', layers, sources))).toEqual(['src/util.ts:1', 'src/helpers/x.ts:1']);
  });

  test('keep controllers apart, but not their tests', () => {
    const sources = readSources({
      'src/controllers/attacher/attacher.ts': "import '../capacity/capacity-controller.ts';",
      'src/controllers/attacher/attacher.test.ts': "import '../capacity/capacity-controller.ts';",
    });
    const controllers = layersByFolder['src/controllers']!;
    expect(places(checkLayers('src/controllers', controllers, sources))).toEqual([
      'src/controllers/attacher/attacher.ts:1',
    ]);
  });

  test('hold inside a folder too', () => {
    const inner = [['tables'], ['rules', 'ledger.ts'], ['plan.ts']];
    const sources = readSources({
      'src/engine/tables/a.ts': "import '../plan.ts';",
      'src/engine/rules/b.ts': "import '../ledger.ts';",
      'src/engine/plan.ts': "import './rules/b.ts'; import './tables/a.ts'; import '../kube/pod.ts';",
      'src/engine/plan.test.ts': "import './plan.ts';",
    });
    expect(places(checkLayers('src/engine', inner, sources))).toEqual([
      'src/engine/tables/a.ts:1',
      'src/engine/rules/b.ts:1',
    ]);
  });
});

describe('imports', () => {
  test.each([
    ['more of runtime than assert, from kube', 'src/kube/pod.ts', "import { C } from '../runtime/clock.ts';"],
    [
      'more of runtime than assert, from engine',
      'src/engine/a.ts',
      "import { C } from '../runtime/clock.ts';",
    ],
    ['Node, from the engine', 'src/engine/plan.ts', "import { readFileSync } from 'node:fs';"],
    ['a package, from kube', 'src/kube/yaml.ts', "import { parse } from 'yaml';"],
    ['test code, from shipped code', 'src/state/feed.ts', "import { x } from '../cluster/testing/x.ts';"],
  ])('forbid %s', (_, path, text) => {
    expect(places(checkImports(readSources({ [path]: `// one line\n${text}` })))).toEqual([`${path}:2`]);
  });

  test.each([
    ['assert, from kube', 'src/kube/pod.ts', "import { assert } from '../runtime/assert.ts';"],
    ['runtime, from a test of kube', 'src/kube/pod.test.ts', "import { x } from '../runtime/random.ts';"],
    ['Node, from a test of the engine', 'src/engine/plan.test.ts', "import { readFileSync } from 'node:fs';"],
    ['Node and packages elsewhere', 'src/cluster/store.ts', "import { open } from 'lmdb'; import 'node:fs';"],
  ])('allow %s', (_, path, text) => {
    expect(checkImports(readSources({ [path]: text }))).toEqual([]);
  });
});

describe('import cycles', () => {
  test('between files are found with their path, once each', () => {
    const sources = readSources({
      'src/engine/a.ts': "import './b.ts';",
      'src/engine/b.ts': "\nimport type { C } from './deep/c.ts';",
      'src/engine/deep/c.ts': "export * from '../b.ts';",
    });
    expect(checkFileCycles(sources).map(({ file, line, wrong }) => `${file}:${line}: ${wrong}`)).toEqual([
      'src/engine/deep/c.ts:1: an import cycle: src/engine/b.ts -> src/engine/deep/c.ts -> src/engine/b.ts',
    ]);
  });

  test('are not two ways to one file, and tests do not count', () => {
    const sources = readSources({
      'src/engine/a.ts': "import './b.ts'; import './c.ts';",
      'src/engine/b.ts': "import './c.ts';",
      'src/engine/c.ts': "import './c.test.ts';",
      'src/engine/c.test.ts': "import './a.ts';",
    });
    expect(checkFileCycles(sources)).toEqual([]);
  });

  test('between folders are found although no two files form one', () => {
    const sources = readSources({
      'src/engine/x/a.ts': "import '../y/b.ts';",
      'src/engine/x/base.ts': '',
      'src/engine/y/b.ts': "import '../x/base.ts';",
    });
    expect(checkFileCycles(sources)).toEqual([]);
    expect(checkFolderCycles(sources).map(({ wrong }) => wrong)).toEqual([
      'an import cycle: src/engine/x -> src/engine/y -> src/engine/x',
    ]);
  });

  test('do not exist where a folder imports the base beside it and the list beside it imports the folder', () => {
    const sources = readSources({
      'src/engine/rules/framework/rule.ts': '',
      'src/engine/rules/ports/rule.ts': "import '../rule.ts';",
      'src/engine/rules/all.ts': "import './ports/rule.ts';",
    });
    expect(checkFolderCycles(sources)).toEqual([]);
  });
});
