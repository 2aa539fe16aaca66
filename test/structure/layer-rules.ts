import { posix } from 'node:path';
import { pureFolders, testedTogether, testHarnesses } from './layers.ts';
import type { Mention, SourceFacts } from './source-facts.ts';
import { type Complaint, isTestCode, type Violation, violationAt } from './violation.ts';

type Layers = readonly (readonly string[])[];

/** An import between two files of the repository. */
interface Dependency {
  readonly source: SourceFacts;
  readonly mention: Mention;
  readonly target: string;
}

/**
 * Checks the layers of one folder: every file belongs to a layer, and imports go to lower layers only. Test code may also import
 * fixtures (`testing/` folders) and harnesses of upper layers, and tests of controllers run several of them together.
 */
export function checkLayers(folder: string, layers: Layers, sources: readonly SourceFacts[]): Violation[] {
  const levelOf = (path: string): number => {
    const child = childOf(folder, path);
    return child === undefined ? -1 : layers.findIndex((row) => row.includes(child));
  };
  const inFolder = sources.filter(({ path }) => path.startsWith(`${folder}/`));
  const unplaced = inFolder.filter(
    ({ path }) => levelOf(path) < 0 && !(isTestCode(path) && isDirectChild(folder, path)),
  );
  const upward = inFolder.flatMap(dependenciesOf).filter(({ source, target }) => {
    const child = childOf(folder, target);
    if (child === undefined || child === childOf(folder, source.path)) return false;
    if (isTestCode(source.path) && (isTestCode(target) || isDirectChild(folder, source.path))) return false;
    if (isTestCode(source.path) && (testHarnesses.has(child) || testedTogether.has(folder))) return false;
    const targetLevel = levelOf(target);
    return targetLevel < 0 || targetLevel >= levelOf(source.path);
  });
  return [
    ...unplaced.map(({ path }) => notInALayer(folder, path, layers)),
    ...upward.map(({ source, mention, target }) =>
      violationAt(source, mention, {
        wrong: `${childOf(folder, source.path)} imports ${childOf(folder, target)}, which is not in a lower layer of ${folder}`,
        remedy: 'move what both need down, or let the upper one pass it in',
      }),
    ),
  ];
}

function notInALayer(folder: string, path: string, layers: Layers): Violation {
  return {
    file: path,
    line: 1,
    wrong: `it belongs to no layer of ${folder}`,
    remedy: `move it below one of ${layers.flat().join(', ')}, or add its folder to test/structure/layers.ts`,
  };
}

/** The rules of single imports: pure folders stay pure, and shipped code does not use test code. */
export function checkImports(sources: readonly SourceFacts[]): Violation[] {
  return sources
    .filter(({ path }) => !isTestCode(path))
    .flatMap((source) =>
      source.imports.flatMap((mention) => {
        const complaint = complaintAboutImport(source.path, mention.name);
        return complaint === undefined ? [] : [violationAt(source, mention, complaint)];
      }),
    );
}

function complaintAboutImport(path: string, specifier: string): Complaint | undefined {
  const folder = childOf('src', path) ?? '';
  const isPure = pureFolders.has(folder);
  if (!specifier.startsWith('.')) {
    if (!isPure) return undefined;
    const remedy = `${folder} imports no Node module and no package: let the caller pass in what it needs`;
    return { wrong: `${folder} imports ${specifier}`, remedy };
  }
  const target = posix.join(posix.dirname(path), specifier);
  if (isTestCode(target)) {
    return { wrong: `shipped code imports ${target}`, remedy: 'move what it needs out of the test code' };
  }
  if (isPure && target.startsWith('src/runtime/') && target !== 'src/runtime/assert.ts') {
    return { wrong: `${folder} imports ${target}`, remedy: `${folder} may import only assert.ts of runtime` };
  }
  return undefined;
}

/** Type imports count too: two files that need each other's types are one concept in two files. */
export function checkFileCycles(sources: readonly SourceFacts[]): Violation[] {
  return findCycles(shippedDependencies(sources), (path) => path);
}

/**
 * Within every folder, its files and its subfolders (each taken as one) form no cycle. This is what lets a reader understand one folder
 * without opening all of its neighbours.
 */
export function checkFolderCycles(sources: readonly SourceFacts[]): Violation[] {
  const dependencies = shippedDependencies(sources);
  const folders = new Set(sources.flatMap(({ path }) => parentsOf(path)));
  return [...folders].flatMap((folder) =>
    findCycles(dependencies, (path) => {
      const child = childOf(folder, path);
      return child === undefined ? undefined : `${folder}/${child}`;
    }),
  );
}

/** Finds one violation for each import that closes a cycle between units; `unitOf` says which unit a path belongs to. */
function findCycles(
  dependencies: readonly Dependency[],
  unitOf: (path: string) => string | undefined,
): Violation[] {
  const outgoing = new Map<string, Map<string, Dependency>>();
  for (const dependency of dependencies) {
    const from = unitOf(dependency.source.path);
    const to = unitOf(dependency.target);
    if (from === undefined || to === undefined || from === to) continue;
    const edges = outgoing.get(from) ?? new Map<string, Dependency>();
    outgoing.set(from, edges);
    if (!edges.has(to)) edges.set(to, dependency);
  }
  const violations: Violation[] = [];
  const finished = new Set<string>();
  const trail: string[] = [];
  const visit = (unit: string): void => {
    trail.push(unit);
    for (const [target, { source, mention }] of outgoing.get(unit) ?? []) {
      if (finished.has(target)) continue;
      const start = trail.indexOf(target);
      if (start < 0) visit(target);
      else violations.push(violationAt(source, mention, cyclic([...trail.slice(start), target])));
    }
    trail.pop();
    finished.add(unit);
  };
  for (const unit of outgoing.keys()) if (!finished.has(unit)) visit(unit);
  return violations;
}

function cyclic(cycle: readonly string[]): Complaint {
  return {
    wrong: `an import cycle: ${cycle.join(' -> ')}`,
    remedy: 'move what both need into a third place',
  };
}

function shippedDependencies(sources: readonly SourceFacts[]): Dependency[] {
  const shipped = sources.filter(({ path }) => !isTestCode(path));
  const paths = new Set(shipped.map(({ path }) => path));
  return shipped.flatMap(dependenciesOf).filter(({ target }) => paths.has(target));
}

function dependenciesOf(source: SourceFacts): Dependency[] {
  return source.imports
    .filter(({ name }) => name.startsWith('.'))
    .map((mention) => ({
      source,
      mention,
      target: posix.join(posix.dirname(source.path), mention.name),
    }));
}

/** `rules` for `src/engine/rules/framework/rule.ts` in `src/engine`; undefined for a path outside of the folder. */
function childOf(folder: string, path: string): string | undefined {
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1).split('/')[0] : undefined;
}

function isDirectChild(folder: string, path: string): boolean {
  return posix.dirname(path) === folder;
}

function parentsOf(path: string): string[] {
  const parts = posix.dirname(path).split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
