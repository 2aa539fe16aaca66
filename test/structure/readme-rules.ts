import { posix } from 'node:path';
import { lineAt, type TextFile } from './source-facts.ts';
import { isTestCode, type Violation } from './violation.ts';

/**
 * A README with a table of files names every file and folder beside it, and nothing that does not exist. A README with a table of folders
 * names every folder.
 */
export function checkReadmeTables(files: readonly TextFile[]): Violation[] {
  const paths = files.map(({ path }) => path);
  const readmes = files.filter(({ path }) => /^src\/.*README\.md$/.test(path) && !isTestCode(path));
  return readmes.flatMap((readme) => [...missingRows(readme, paths), ...staleRows(readme, paths)]);
}

const tableHead = /^\| *(file|folder) *\|/m;

/** Files and folders that need no row. */
const unnamed = new Set(['README.md', 'index.ts', 'testing', 'generated']);

/** Files in the folder of each command: the README of src/cli says once what they hold. */
const filesOfCommands = new Set(['command.ts', 'run.ts', 'render.ts']);

function missingRows(readme: TextFile, paths: readonly string[]): Violation[] {
  const of = tableHead.exec(readme.text)?.[1];
  if (of === undefined) return [];
  const named = namesIn(readme.text).map(({ name }) => patternOf(name));
  const beside = filesBeside(readme, paths).filter((name) => of === 'file' || !name.includes('.'));
  return beside
    .filter((name) => !named.some((pattern) => pattern.test(name)))
    .map((name) => ({
      file: readme.path,
      line: lineAt(readme.text, tableHead.exec(readme.text)?.index ?? 0),
      wrong: `${name} is not in the table`,
      remedy: 'add a row that says what it is',
    }));
}

/** Checks plain file names only: a path may point anywhere. */
function staleRows(readme: TextFile, paths: readonly string[]): Violation[] {
  const below = paths.filter((path) => path.startsWith(`${posix.dirname(readme.path)}/`));
  return namesIn(readme.text)
    .filter(({ name, isInTable }) => isInTable && /^[\w-]+(\.test)?\.ts$/.test(name))
    .filter(({ name }) => !below.some((path) => posix.basename(path) === name))
    .map(({ name, offset }) => ({
      file: readme.path,
      line: lineAt(readme.text, offset),
      wrong: `there is no ${name}`,
      remedy: 'remove it from the table',
    }));
}

interface Named {
  readonly name: string;
  readonly offset: number;
  readonly isInTable: boolean;
}

function namesIn(text: string): Named[] {
  return [...text.matchAll(/`([\w./*-]+)`/g)].map(({ 1: name = '', index: offset }) => {
    const lineStart = text.lastIndexOf('\n', offset) + 1;
    return { name, offset, isInTable: text[lineStart] === '|' };
  });
}

/** `openapi-v2-*.ts` names several; `rules/` and `rules` are one folder. */
function patternOf(name: string): RegExp {
  const escaped = name.replace(/\/$/, '').replaceAll('.', '\\.').replaceAll('*', '.*');
  return new RegExp(`^${escaped}$`);
}

/** Shipped files in the README's folder, and folders that contain any. */
function filesBeside(readme: TextFile, paths: readonly string[]): string[] {
  const folder = `${posix.dirname(readme.path)}/`;
  const names = paths
    .filter((path) => path.startsWith(folder) && path.endsWith('.ts') && !isTestCode(path))
    .map((path) => path.slice(folder.length).split('/')[0] ?? '');
  const isCommand = folder.startsWith('src/cli/');
  return [...new Set(names)].filter(
    (name) => !unnamed.has(name) && !(isCommand && filesOfCommands.has(name)),
  );
}

/** Every path of this repository that a page mentions exists, so that a moved file takes its mentions along. */
export function checkMentionedPaths(files: readonly TextFile[]): Violation[] {
  const paths = new Set(files.flatMap(({ path }) => [path, ...foldersOf(path)]));
  const pages = files.filter(({ path }) => path.endsWith('.md') && path !== 'CHANGELOG.md');
  return pages.flatMap((page) =>
    [...page.text.matchAll(/`((?:src|test|scripts|bench|deploy|examples)\/[\w./-]+)`/g)]
      .filter(({ 1: mentioned = '' }) => !paths.has(mentioned.replace(/\/$/, '')))
      .map(({ 1: mentioned = '', index }) => ({
        file: page.path,
        line: lineAt(page.text, index),
        wrong: `there is no ${mentioned}`,
        remedy: 'name the file or folder that it is now',
      })),
  );
}

function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
