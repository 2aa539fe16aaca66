import { lineAt } from './source-facts.ts';
import type { Violation } from './violation.ts';

/** The parts of package.json that the rules read. */
export interface Manifest {
  readonly engines?: { readonly node?: string };
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** The parts of package-lock.json that the rules read; packages by their folder, `''` for our own. */
export interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly version?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly hasInstallScript?: boolean;
  readonly engines?: { readonly node?: string } | readonly string[];
}

const exactVersion = /^\d+\.\d+\.\d+(-[\w.-]+)?(\+[\w.-]+)?$/;

/** Every version is pinned, so that two checkouts of a commit are the same program. */
export function checkPins(manifest: Manifest, manifestText: string): Violation[] {
  const all = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies };
  return Object.entries(all)
    .filter(([, version]) => !exactVersion.test(version))
    .map(([name, version]) => ({
      file: 'package.json',
      line: lineAt(manifestText, manifestText.indexOf(`"${name}": "${version}"`)),
      wrong: `${name} is "${version}"`,
      remedy: 'pin the exact version',
    }));
}

/** `npm ci` rejects a lock that lacks an optional package, even one for another platform. */
export function checkLockIsComplete(lock: Lock): Violation[] {
  return Object.entries(lock.packages).flatMap(([folder, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => lock.packages[`node_modules/${name}`] === undefined)
      .map((name) => ({
        file: 'package-lock.json',
        line: 1,
        wrong: `it has no entry for ${name}, which ${folder} may want`,
        remedy: 'run npm run lock',
      })),
  );
}

/** Every user who installs the package must trust its runtime dependencies; the page says why they can. */
export function checkDependenciesPage(manifest: Manifest, page: string): Violation[] {
  return Object.keys(manifest.dependencies ?? {})
    .filter((name) => !page.split(/[^\w@/.-]+/).includes(name))
    .map((name) => ({
      file: 'docs/dependencies.md',
      line: 1,
      wrong: `it does not name ${name}`,
      remedy: 'say in one line why we depend on it',
    }));
}

/** Packages that may run a script when installed, with the reason. */
const installScriptsAllowed = new Map([
  ['fsevents', 'optional and for macOS only: watches files for vite; its binary is in the package'],
  [
    'lmdb',
    'looks whether the binary that came with it fits, and compiles it where none does; downloads nothing',
  ],
  ['msgpackr-extract', 'optional, of lmdb; the same check as lmdb itself'],
  [
    'protobufjs',
    'of @grpc/grpc-js, which uses it only for debugging pages that we do not serve; prints a warning about versions, and package.json denies it',
  ],
]);

const installHooks = ['preinstall', 'install', 'postinstall'];

/**
 * No package runs code when it is installed. Some registries omit the mark in the lock file, so the manifests of the installed packages
 * are checked too.
 */
export function checkInstallScripts(
  lock: Lock,
  installedManifest: (folder: string) => Manifest | undefined,
): Violation[] {
  return Object.entries(lock.packages)
    .filter(([folder]) => folder !== '' && !installScriptsAllowed.has(packageName(folder)))
    .filter(([folder, locked]) => {
      const scripts = installedManifest(folder)?.scripts ?? {};
      return locked.hasInstallScript === true || installHooks.some((hook) => hook in scripts);
    })
    .map(([folder]) => ({
      file: 'package-lock.json',
      line: 1,
      wrong: `${packageName(folder)} runs a script when it is installed`,
      remedy: 'choose another package, or allow it in test/structure/package-rules.ts with the reason',
    }));
}

/** Every package runs on the oldest Node that we promise. */
export function checkEngines(lock: Lock, oldestNode: Version): Violation[] {
  return Object.entries(lock.packages).flatMap(([folder, { engines }]) => {
    const range = engines !== undefined && 'node' in engines ? engines.node : undefined;
    if (range === undefined || admits(range, oldestNode)) return [];
    const wrong = `${packageName(folder)} wants Node "${range}", which does not admit ${oldestNode.join('.')}`;
    return [
      {
        file: 'package-lock.json',
        line: 1,
        wrong,
        remedy: 'take a version of it that runs on our oldest Node',
      },
    ];
  });
}

function packageName(folder: string): string {
  return folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

export type Version = readonly [major: number, minor: number, patch: number];

/**
 * Whether a range of the package manager admits a version: alternatives (`||`) of comparators that must all hold. A
 * comparator of fewer than three numbers looks at those only. What it cannot read (`1 - 2`, tags) it does not admit.
 */
export function admits(range: string, version: Version): boolean {
  return range.split('||').some((alternative) => {
    const comparators = alternative.replace(/([<>=^~])\s+/g, '$1').split(/\s+/);
    return comparators.every((comparator) => comparatorAdmits(comparator, version));
  });
}

function comparatorAdmits(comparator: string, version: Version): boolean {
  if (['', '*', 'x'].includes(comparator)) return true;
  const [, operator, numbers] =
    /^(>=|<=|>|<|=|\^|~)?v?(\d+(?:\.\d+){0,2})(?:\.[x*])*$/.exec(comparator) ?? [];
  if (numbers === undefined) return false;
  const bound = numbers.split('.').map(Number);
  const order = compare(version, bound);
  const sharesFirst = (count: number) => compare(version, bound.slice(0, count)) === 0;
  switch (operator) {
    case '>=':
      return order >= 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '<':
      return order < 0;
    case '^':
      return order >= 0 && sharesFirst(1);
    case '~':
      return order >= 0 && sharesFirst(2);
    default:
      return order === 0;
  }
}

/** Compares as many numbers as the bound has. */
function compare(version: Version, bound: readonly number[]): number {
  const differing = bound.findIndex((number, index) => number !== version[index]);
  return differing < 0 ? 0 : version[differing]! - bound[differing]!;
}
