import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { largeOnPurpose } from './large-on-purpose.ts';
import { checkFileCycles, checkFolderCycles, checkImports, checkLayers } from './layer-rules.ts';
import { layersByFolder } from './layers.ts';
import {
  checkDependenciesPage,
  checkEngines,
  checkInstallScripts,
  checkLockIsComplete,
  checkPins,
  type Lock,
  type Manifest,
  type Version,
} from './package-rules.ts';
import { checkMentionedPaths, checkReadmeTables } from './readme-rules.ts';
import { sentenceCounts } from './sentence-counts.ts';
import { checkRiddles } from './sentence-rules.ts';
import { checkSizes } from './size-rules.ts';
import { readSource, type TextFile } from './source-facts.ts';
import {
  checkBannedGlobals,
  checkFolderHeaders,
  checkLocalPaths,
  checkSourceStyle,
  checkUniqueNames,
} from './source-rules.ts';
import { describeViolation, type Violation } from './violation.ts';
import { allowedUses } from './vocabulary.ts';
import { checkVocabulary } from './vocabulary-rules.ts';

/** The rules that no linter knows, on the files as they are. The tests beside each file of rules show that the rules can fail. */

const root = fileURLToPath(new URL('../..', import.meta.url));
const files = repositoryFiles();
const sources = files.filter(({ path }) => /^src\/.*\.ts$/.test(path)).map(readSource);

describe('the sources', () => {
  test.each(Object.entries(layersByFolder))('import lower layers only: %s', (folder, layers) => {
    expectNone(checkLayers(folder, layers, sources));
  });

  test('keep kube and engine free of Node, and test code out of what is shipped', () => {
    expectNone(checkImports(sources));
  });

  test('have no import cycles between files', () => {
    expectNone(checkFileCycles(sources));
  });

  test('have no import cycles between folders', () => {
    expectNone(checkFolderCycles(sources));
  });

  test('are as large as a concept, or larger for a reason', () => {
    expectNone(checkSizes(sources, largeOnPurpose));
  });

  test('take time, randomness and ids from src/runtime', () => {
    expectNone(checkBannedGlobals(sources));
  });

  test('say in every folder what it is for', () => {
    expectNone(checkFolderHeaders(files));
  });

  test('are all named in the tables of their READMEs', () => {
    expectNone(checkReadmeTables(files));
  });

  test('export each name once', () => {
    expectNone(checkUniqueNames(sources));
  });

  test('have no default exports, no casts to any and no notes to self', () => {
    expectNone(checkSourceStyle(sources));
  });
});

test('pages mention only files and folders that exist', () => {
  expectNone(checkMentionedPaths(files));
});

describe('texts and names', () => {
  const texts = files.filter(
    ({ path }) => /\.(ts|mjs|go|md)$/.test(path) && !/^test\/structure\/(vocabulary|sentence)/.test(path),
  );

  test('avoid the words that readers have to translate', () => {
    expectNone(checkVocabulary(texts, allowedUses));
  });

  test('gain no sentences that readers have to read twice', () => {
    expectNone(checkRiddles(texts, sentenceCounts));
  });
});

describe('the packages', () => {
  const manifestText = readText('package.json');
  const manifest: Manifest = JSON.parse(manifestText);
  const lock: Lock = JSON.parse(readText('package-lock.json'));

  test('are pinned', () => {
    expectNone(checkPins(manifest, manifestText));
  });

  test('are all in the lock, for every platform', () => {
    expectNone(checkLockIsComplete(lock));
  });

  test('that we ship are justified in docs/dependencies.md', () => {
    const page = 'docs/dependencies.md';
    expectNone(checkDependenciesPage(manifest, existsSync(join(root, page)) ? readText(page) : ''));
  });

  test('run nothing when they are installed', () => {
    expectNone(checkInstallScripts(lock, installedManifest));
  });

  test('run on the oldest Node that we support', () => {
    expectNone(checkEngines(lock, oldestNode(manifest)));
  });
});

test('the repository refers to nothing outside of itself', () => {
  expectNone(checkLocalPaths(files.filter(({ path }) => path !== 'package-lock.json')));
});

function expectNone(violations: readonly Violation[]): void {
  if (violations.length > 0)
    expect.fail(violations.map((found) => `\n  ${describeViolation(found)}`).join(''));
}

/** What is in the repository, and what would be with the next `git add`: text only. */
function repositoryFiles(): TextFile[] {
  const options = { cwd: root, encoding: 'utf8' } as const;
  const listed = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    options,
  );
  return (
    listed
      .split('\0')
      // A link to a folder, such as the definitions of the chart, has no text of its own.
      .filter((path) => path !== '' && existsSync(join(root, path)) && statSync(join(root, path)).isFile())
      .map((path) => ({ path, text: readText(path) }))
      .filter(({ text }) => !text.includes('\0'))
  );
}

function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

function installedManifest(folder: string): Manifest | undefined {
  const path = join(folder, 'package.json');
  return existsSync(join(root, path)) ? JSON.parse(readText(path)) : undefined;
}

/** `>=20.19` promises 20.19.0. */
function oldestNode(manifest: Manifest): Version {
  const [, major, minor = 0, patch = 0] =
    /^>=(\d+)(?:\.(\d+))?(?:\.(\d+))?$/.exec(manifest.engines?.node ?? '') ?? [];
  expect(major, 'engines.node of package.json must read ">=N.N"').toBeDefined();
  return [Number(major), Number(minor), Number(patch)];
}
