import { posix } from 'node:path';
import { lineAt, type Mention, type SourceFacts, type TextFile } from './source-facts.ts';

/** A broken rule, told so that whoever broke it can mend it without asking. */
export interface Violation {
  readonly file: string;
  readonly line: number;
  readonly wrong: string;
  readonly remedy: string;
}

export function describeViolation({ file, line, wrong, remedy }: Violation): string {
  return `${file}:${line}: ${wrong}; ${remedy}`;
}

/** The folders of src/, floor by floor from the ground up. A folder may import what is on lower floors. */
const floors: readonly (readonly string[])[] = [
  ['runtime'],
  ['kube'],
  ['engine'],
  ['csi', 'cluster'],
  ['state'],
  ['controllers'],
  ['simulation'],
  ['cli', 'console'],
];

/** The one way along a floor: `stowage up` serves the console. */
const neighbourly = new Set(['cli to console']);

/** Folders that run anywhere, also in a browser: nothing of Node, no packages. */
const pureRooms = new Set(['kube', 'engine']);

/** Code that is not shipped. */
export function isTestCode(path: string): boolean {
  return path.endsWith('.test.ts') || path.includes('/testing/');
}

/** `engine` for `src/engine/plan.ts`; undefined for a file that lies in no folder of src/. */
function roomOf(path: string): string | undefined {
  const [top, room, ...rest] = path.split('/');
  return top === 'src' && rest.length > 0 ? room : undefined;
}

function floorOf(room: string | undefined): number {
  return floors.findIndex((rooms) => room !== undefined && rooms.includes(room));
}

export function checkFloors(sources: readonly SourceFacts[]): Violation[] {
  return sources.flatMap((source) => {
    if (floorOf(roomOf(source.path)) < 0) return [homeless(source)];
    return source.imports.flatMap((imported) => {
      const complaint = complaintAboutImport(source.path, imported.name);
      return complaint === undefined ? [] : [violation(source, imported, complaint)];
    });
  });
}

interface Complaint {
  readonly wrong: string;
  readonly remedy: string;
}

function complaintAboutImport(path: string, specifier: string): Complaint | undefined {
  const isShipped = !isTestCode(path);
  const room = roomOf(path);
  if (!specifier.startsWith('.')) {
    if (!isShipped || room === undefined || !pureRooms.has(room)) return undefined;
    return {
      wrong: `${room} imports ${specifier}`,
      remedy: `${room} imports nothing of Node and no package: let the caller pass in what it needs`,
    };
  }
  const target = resolveImport(path, specifier);
  return complaintAboutFloor(room, roomOf(target)) ?? (isShipped ? complaintWithin(path, target) : undefined);
}

function complaintAboutFloor(room = '', targetRoom: string | undefined): Complaint | undefined {
  if (targetRoom === undefined || targetRoom === room || neighbourly.has(`${room} to ${targetRoom}`))
    return undefined;
  const targetFloor = floorOf(targetRoom);
  if (targetFloor >= 0 && targetFloor < floorOf(room)) return undefined;
  return {
    wrong: `${room} imports ${targetRoom}, which is not on a lower floor`,
    remedy: 'move what both need down, or let the upper one pass it in',
  };
}

/** The finer rules, for shipped code. */
function complaintWithin(path: string, target: string): Complaint | undefined {
  if (isTestCode(target)) {
    return { wrong: `shipped code imports ${target}`, remedy: 'move what it needs out of the test code' };
  }
  const room = roomOf(path) ?? '';
  if (pureRooms.has(room) && roomOf(target) === 'runtime' && target !== 'src/runtime/assert.ts') {
    return { wrong: `${room} imports ${target}`, remedy: `of runtime, ${room} may import assert.ts only` };
  }
  if (path.startsWith('src/engine/cluster-index/') && /^src\/engine\/(rules\/|plan)/.test(target)) {
    return {
      wrong: `the index imports ${target}`,
      remedy: 'rules read the index, never the other way round',
    };
  }
  return undefined;
}

function homeless({ path }: SourceFacts): Violation {
  const known = floors.flat().join(', ');
  return {
    file: path,
    line: 1,
    wrong: 'it is in none of the rooms',
    remedy: `move it to one of src/: ${known}`,
  };
}

/** What makes two runs differ; each with what to use instead. */
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
  const bound = sources.filter(({ path }) => roomOf(path) !== 'runtime' && !isTestCode(path));
  return bound.flatMap((source) => {
    const timers = source.imports.filter(({ name }) => /^(node:)?timers(\/|$)/.test(name));
    const globals = source.references.filter(
      ({ name }) =>
        bannedGlobals.has(name) && !(roomOf(source.path) === 'cli' && name.startsWith('process.')),
    );
    return [...timers, ...globals].map((mention) =>
      violation(source, mention, {
        wrong: `${mention.name} outside src/runtime`,
        remedy: `take ${bannedGlobals.get(mention.name) ?? 'a Clock'} of src/runtime as an argument`,
      }),
    );
  });
}

/** Files that may introduce a folder: a README, or the file that is its face when it opens with a header comment. */
export function checkFolderHeaders(files: readonly TextFile[]): Violation[] {
  const folders = new Set(files.flatMap(({ path }) => foldersInNeedOfHeader(path)));
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

function foldersInNeedOfHeader(path: string): string[] {
  const folder = posix.dirname(path);
  const patterns = [/^src\/[^/]+/, /^src\/engine\/[^/]+/, /^src\/engine\/rules\/[^/]+/];
  return patterns.flatMap((pattern) => pattern.exec(folder)?.[0] ?? []);
}

/** Past this, look for the second concept in the file. */
const linesMax = 400;

export function checkManners(sources: readonly SourceFacts[]): Violation[] {
  return sources.flatMap((source) => [
    ...source.defaultExports.map((mention) =>
      violation(source, mention, { wrong: 'a default export', remedy: 'export it by its name' }),
    ),
    ...source.anyCasts.map((mention) =>
      violation(source, mention, { wrong: 'a cast to any', remedy: 'parse it, or cast to the type it has' }),
    ),
    ...matchesOf(/\b(TODO|FIXME)\b/g, source).map((mention) =>
      violation(source, mention, {
        wrong: mention.name,
        remedy: 'do it, or write it down where work is planned',
      }),
    ),
    ...overlong(source),
  ]);
}

function overlong({ path, text }: TextFile): Violation[] {
  const lines = lineAt(text.trimEnd(), text.length);
  if (lines <= linesMax || path.includes('/generated/')) return [];
  return [
    {
      file: path,
      line: linesMax + 1,
      wrong: `${lines} lines`,
      remedy: `split it: ${linesMax} hold one concept`,
    },
  ];
}

/** Types count too: files that need each other's types are one concept in two files. */
export function checkCycles(sources: readonly SourceFacts[]): Violation[] {
  const shipped = new Map(
    sources.filter(({ path }) => !isTestCode(path)).map((source) => [source.path, source]),
  );
  const finished = new Set<string>();
  const trail: string[] = [];
  const violations: Violation[] = [];
  const visit = (source: SourceFacts): void => {
    trail.push(source.path);
    for (const imported of source.imports) {
      const target = shipped.get(resolveImport(source.path, imported.name));
      if (target === undefined || finished.has(target.path)) continue;
      const start = trail.indexOf(target.path);
      if (start < 0) visit(target);
      else violations.push(violation(source, imported, circular([...trail.slice(start), target.path])));
    }
    trail.pop();
    finished.add(source.path);
  };
  for (const source of shipped.values()) if (!finished.has(source.path)) visit(source);
  return violations;
}

function circular(cycle: readonly string[]): Complaint {
  return {
    wrong: `a circle of imports: ${cycle.join(' -> ')}`,
    remedy: 'move what both need into a third file',
  };
}

/** Paths that mean something only where a line was written; in parts, so that this file passes its own check. */
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
      violation(file, mention, {
        wrong: `it mentions ${mention.name}, which others do not have`,
        remedy: 'say the thing itself, or refer to a file of this repository',
      }),
    ),
  );
}

function violation({ path, text }: TextFile, { offset }: Mention, complaint: Complaint): Violation {
  return { file: path, line: lineAt(text, offset), ...complaint };
}

function matchesOf(pattern: RegExp, { text }: TextFile): Mention[] {
  return [...text.matchAll(pattern)].map((match) => ({ name: match[0], offset: match.index }));
}

function resolveImport(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier);
}
