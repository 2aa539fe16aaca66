import { posix } from 'node:path';
import type { Mention, SourceFacts, TextFile } from './source-facts.ts';
import { isGenerated, isTestCode, type Violation, violationAt } from './violation.ts';

/** What makes two runs of the same seed differ, and what to use instead. */
const bannedGlobals = new Map([
  ['Date.now', 'Clock.nowMs'],
  ['new Date()', 'new Date(clock.nowMs())'],
  ['performance.now', 'Clock.monotonicMs'],
  ['perf_hooks.performance', 'Clock.monotonicMs'],
  ['process.hrtime', 'Clock.monotonicMs'],
  ['setTimeout', 'Clock.after or Clock.sleep'],
  ['setInterval', 'a loop of Clock.sleep on a Supervisor'],
  ['setImmediate', 'Clock.after(0, ...)'],
  ['Math.random', 'Random'],
  ['crypto.randomUUID', 'Ids.uid'],
]);

export function checkBannedGlobals(sources: readonly SourceFacts[]): Violation[] {
  // What runs in a browser has the browser's clock.
  const checked = sources.filter(
    ({ path }) => !/^src\/(runtime|console\/page)\//.test(path) && !isTestCode(path),
  );
  return checked.flatMap((source) => {
    const timers = source.imports.filter(({ name }) => /^(node:)?timers(\/|$)/.test(name));
    const globals = source.references.filter(
      ({ name }) =>
        bannedGlobals.has(name) && !(source.path.startsWith('src/cli/') && name.startsWith('process.')),
    );
    return [...timers, ...globals].map((mention) =>
      violationAt(source, mention, {
        wrong: `${mention.name} outside src/runtime`,
        remedy: `take ${bannedGlobals.get(mention.name) ?? 'a Clock'} of src/runtime as an argument`,
      }),
    );
  });
}

/** A README introduces a folder; so does an index.ts or rule.ts that opens with a header comment. */
export function checkFolderHeaders(files: readonly TextFile[]): Violation[] {
  const folders = new Set(files.flatMap(({ path }) => foldersThatNeedHeaders(path)));
  const introduced = new Set(
    files
      .filter(({ path, text }) => {
        const name = posix.basename(path);
        return name === 'README.md' || (/^(index|rule)\.ts$/.test(name) && text.startsWith('/**'));
      })
      .map(({ path }) => posix.dirname(path)),
  );
  return [...folders]
    .filter((folder) => !introduced.has(folder))
    .map((folder) => ({
      file: folder,
      line: 1,
      wrong: 'the folder does not say what it is for',
      remedy:
        'add a README.md, or open its index.ts or rule.ts with a header comment: purpose, invariants, costs',
    }));
}

function foldersThatNeedHeaders(path: string): string[] {
  const folder = posix.dirname(path);
  const patterns = [/^src\/[^/]+/, /^src\/engine\/[^/]+/, /^src\/engine\/rules\/[^/]+/];
  return patterns.flatMap((pattern) => pattern.exec(folder)?.[0] ?? []);
}

export function checkSourceStyle(sources: readonly SourceFacts[]): Violation[] {
  return sources.flatMap((source) => [
    ...source.defaultExports.map((mention) =>
      violationAt(source, mention, { wrong: 'a default export', remedy: 'export it by its name' }),
    ),
    ...source.anyCasts.map((mention) =>
      violationAt(source, mention, {
        wrong: 'a cast to any',
        remedy: 'parse it, or cast to the type it has',
      }),
    ),
    ...matchesOf(/\b(TODO|FIXME)\b/g, source).map((mention) =>
      violationAt(source, mention, {
        wrong: mention.name,
        remedy: 'do it now, or record it where work is planned',
      }),
    ),
  ]);
}

/** Paths that exist only on the author's machine. They are assembled from parts, so that this file passes its own check. */
const localPaths = new RegExp(
  [
    ['\\.\\.', 'shared(?![-\\w])'],
    ['', 'work', ''],
  ]
    .map((parts) => parts.join('/'))
    .join('|'),
  'g',
);

export function checkLocalPaths(files: readonly TextFile[]): Violation[] {
  return files.flatMap((file) =>
    matchesOf(localPaths, file).map((mention) =>
      violationAt(file, mention, {
        wrong: `it mentions ${mention.name}, which exists only on one machine`,
        remedy: 'explain it here, or refer to a file of this repository',
      }),
    ),
  );
}

function matchesOf(pattern: RegExp, { text }: TextFile): Mention[] {
  return [...text.matchAll(pattern)].map((match) => ({ name: match[0], offset: match.index }));
}

/**
 * Exported names are unique in src/, so that a name on its own says what it is. The two generated views of Kubernetes' types share their
 * names on purpose, and test code is not checked.
 */
export function checkUniqueNames(sources: readonly TextFile[]): Violation[] {
  const first = new Map<string, string>();
  return sources
    .filter((source) => !isTestCode(source.path) && !isGenerated(source))
    .flatMap((source) =>
      exportedNames(source).flatMap(({ name, offset }) => {
        const other = first.get(name) ?? source.path;
        first.set(name, other);
        if (other === source.path) return [];
        const remedy = 'give one of them a qualified name, or use the existing one';
        return [
          violationAt(source, { name, offset }, { wrong: `${name} is also exported by ${other}`, remedy }),
        ];
      }),
    );
}

function exportedNames({ text }: TextFile): Mention[] {
  const declaration =
    /^export (?:declare )?(?:abstract )?(?:async )?(?:interface|type|class|function\*?|const) (\w+)/gm;
  return [...text.matchAll(declaration)].map(({ 1: name = '', index: offset }) => ({ name, offset }));
}
