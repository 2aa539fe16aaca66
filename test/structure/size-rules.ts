import { posix } from 'node:path';
import { lineAt, type SourceFacts } from './source-facts.ts';
import { isGenerated, isTestCode, type Violation } from './violation.ts';

/** A longer file often holds a second concept, and in a larger folder a file is hard to find by its name. */
export const linesMax = 400;
export const filesPerFolderMax = 25;

/** Files and folders above the limit that hold one concept each, with the reason. */
export type LargeOnPurpose = Readonly<Record<string, string>>;

/** Finds what is above the limits and not named with a reason, and reasons for what is not above them any more. */
export function checkSizes(sources: readonly SourceFacts[], onPurpose: LargeOnPurpose): Violation[] {
  const large = new Map([...longFiles(sources), ...fullFolders(sources)]);
  const surprising = [...large].filter(([path]) => !Object.hasOwn(onPurpose, path));
  const outdated = Object.keys(onPurpose).filter((path) => !large.has(path));
  return [
    ...surprising.map(([path, wrong]) => ({
      file: path,
      line: 1,
      wrong,
      remedy:
        'split it by subject; if it holds one concept, name it with the reason in test/structure/large-on-purpose.ts',
    })),
    ...outdated.map((path) => ({
      file: path,
      line: 1,
      wrong: 'it is not large any more',
      remedy: 'remove it from test/structure/large-on-purpose.ts',
    })),
  ];
}

function longFiles(sources: readonly SourceFacts[]): readonly (readonly [string, string])[] {
  return sources
    .filter((source) => !isGenerated(source))
    .map(({ path, text }) => [path, lineAt(text.trimEnd(), text.length)] as const)
    .filter(([, lines]) => lines > linesMax)
    .map(([path, lines]) => [path, `${lines} lines, more than ${linesMax}`]);
}

function fullFolders(sources: readonly SourceFacts[]): readonly (readonly [string, string])[] {
  const counts = new Map<string, number>();
  for (const source of sources) {
    if (isTestCode(source.path) || isGenerated(source)) continue;
    const folder = posix.dirname(source.path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > filesPerFolderMax)
    .map(([folder, count]) => [folder, `${count} source files, more than ${filesPerFolderMax}`]);
}
