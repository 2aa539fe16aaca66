import { posix } from 'node:path';
import { isTestCode, type Violation } from './house-rules.ts';
import { lineAt, type TextFile } from './source-facts.ts';

/**
 * A README with a table of files is a map: it names every file and folder beside it, and nothing that isn't there. One with a table of
 * folders names the folders.
 */
export function checkMaps(files: readonly TextFile[]): Violation[] {
  const paths = files.map(({ path }) => path);
  const maps = files.filter(({ path }) => /^src\/.*README\.md$/.test(path) && !isTestCode(path));
  return maps.flatMap((map) => [...missingOn(map, paths), ...goneFrom(map, paths)]);
}

const tableHead = /^\| *(file|folder) *\|/m;

/** These stand for their folder, or for themselves. */
const unnamed = new Set(['README.md', 'index.ts', 'testing', 'generated']);

function missingOn(map: TextFile, paths: readonly string[]): Violation[] {
  const of = tableHead.exec(map.text)?.[1];
  if (of === undefined) return [];
  const named = namesIn(map.text).map(({ name }) => patternOf(name));
  const beside = besides(map, paths).filter((name) => of === 'file' || !name.includes('.'));
  return beside
    .filter((name) => !named.some((pattern) => pattern.test(name)))
    .map((name) => ({
      file: map.path,
      line: lineAt(map.text, tableHead.exec(map.text)?.index ?? 0),
      wrong: `${name} is not on the map`,
      remedy: 'say in the table what it is',
    }));
}

/** Only what is a file's plain name: others may be anywhere. */
function goneFrom(map: TextFile, paths: readonly string[]): Violation[] {
  const below = paths.filter((path) => path.startsWith(`${posix.dirname(map.path)}/`));
  return namesIn(map.text)
    .filter(({ name, isInTable }) => isInTable && /^[\w-]+(\.test)?\.ts$/.test(name))
    .filter(({ name }) => !below.some((path) => posix.basename(path) === name))
    .map(({ name, offset }) => ({
      file: map.path,
      line: lineAt(map.text, offset),
      wrong: `there is no ${name}`,
      remedy: 'take it off the map',
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

/** Shipped files, and folders that hold any. */
function besides(map: TextFile, paths: readonly string[]): string[] {
  const folder = `${posix.dirname(map.path)}/`;
  const names = paths
    .filter((path) => path.startsWith(folder) && path.endsWith('.ts') && !isTestCode(path))
    .map((path) => path.slice(folder.length).split('/')[0] ?? '');
  return [...new Set(names)].filter((name) => !unnamed.has(name));
}
