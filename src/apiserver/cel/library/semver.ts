import { goQuoted } from '../../../kube/go/quote.ts';
import type { FunctionLibrary } from '../types/declarations.ts';
import { CelError, type OpaqueValue, type Value } from '../values/values.ts';

/** Versions by semver.org; with `true` also lenient ones (`v1.2`). */
export const semverLibrary: FunctionLibrary = {
  signatures: `
    .compareTo semver_compare_to (kubernetes.Semver, kubernetes.Semver) -> int
    .isGreaterThan semver_is_greater_than (kubernetes.Semver, kubernetes.Semver) -> bool
    .isLessThan semver_is_less_than (kubernetes.Semver, kubernetes.Semver) -> bool
    isSemver is_semver_string (string) -> bool
    isSemver is_semver_string_bool (string, bool) -> bool
    .major semver_major (kubernetes.Semver) -> int
    .minor semver_minor (kubernetes.Semver) -> int
    .patch semver_patch (kubernetes.Semver) -> int
    semver string_to_semver (string) -> kubernetes.Semver
    semver string_bool_to_semver (string, bool) -> kubernetes.Semver
  `,
  implementations: {
    string_to_semver: (text) => parse(text as string),
    string_bool_to_semver: (text, normalize) => parseLeniently(text as string, normalize as boolean),
    is_semver_string: (text) => parse(text as string) instanceof SemverValue,
    is_semver_string_bool: (text, normalize) =>
      parseLeniently(text as string, normalize as boolean) instanceof SemverValue,
    semver_is_greater_than: (a, b) => compareVersions(a, b) > 0,
    semver_is_less_than: (a, b) => compareVersions(a, b) < 0,
    semver_compare_to: (a, b) => BigInt(compareVersions(a, b)),
    semver_major: (value) => (value as SemverValue).numbers[0],
    semver_minor: (value) => (value as SemverValue).numbers[1],
    semver_patch: (value) => (value as SemverValue).numbers[2],
  },
};

type Numbers = readonly [bigint, bigint, bigint];

class SemverValue implements OpaqueValue {
  readonly kind = 'opaque';
  readonly typeName = 'kubernetes.Semver';
  readonly numbers: Numbers;
  readonly prerelease: readonly (bigint | string)[];
  readonly #text: string;

  constructor(text: string, numbers: Numbers, prerelease: readonly (bigint | string)[]) {
    this.#text = text;
    this.numbers = numbers;
    this.prerelease = prerelease;
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof SemverValue && compareVersions(this, other) === 0;
  }

  toString(): string {
    return this.#text;
  }
}

function parse(text: string): Value {
  if (text === '') return new CelError('Version string empty');
  const [major, minor, ...others] = text.split('.');
  if (major === undefined || minor === undefined || others.length === 0) {
    return new CelError('No Major.Minor.Patch elements found');
  }
  const [, patch = '', prerelease, build] =
    /^([^+-]*)(?:-([^+]*))?(?:\+(.*))?$/s.exec(others.join('.')) ?? [];
  const problem =
    numberProblem('Major', major) ??
    numberProblem('Minor', minor) ??
    numberProblem('Patch', patch) ??
    (prerelease === undefined ? undefined : firstProblem(prerelease, prereleaseProblem)) ??
    (build === undefined ? undefined : firstProblem(build, buildProblem));
  if (problem !== undefined) return new CelError(problem);
  const identifiers = (prerelease?.split('.') ?? []).map((part) =>
    /^\d+$/.test(part) ? BigInt(part) : part,
  );
  return new SemverValue(text, [BigInt(major), BigInt(minor), BigInt(patch)], identifiers);
}

function numberProblem(name: 'Major' | 'Minor' | 'Patch', text: string): string | undefined {
  if (!/^\d*$/.test(text))
    return `Invalid character(s) found in ${name.toLowerCase()} number ${goQuoted(text)}`;
  if (/^0./.test(text)) return `${name} number must not contain leading zeroes ${goQuoted(text)}`;
  if (text === '') return 'strconv.ParseUint: parsing "": invalid syntax';
  if (text.length > 20 || BigInt(text) >= 2n ** 64n)
    return `strconv.ParseUint: parsing ${goQuoted(text)}: value out of range`;
  return undefined;
}

function firstProblem(text: string, problemOf: (part: string) => string | undefined): string | undefined {
  for (const part of text.split('.')) {
    const problem = problemOf(part);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function prereleaseProblem(part: string): string | undefined {
  if (part === '') return 'Prerelease is empty';
  if (/^0\d+$/.test(part))
    return `Numeric PreRelease version must not contain leading zeroes ${goQuoted(part)}`;
  return /^[0-9A-Za-z-]+$/.test(part)
    ? undefined
    : `Invalid character(s) found in prerelease ${goQuoted(part)}`;
}

function buildProblem(part: string): string | undefined {
  if (part === '') return 'Build meta data is empty';
  return /^[0-9A-Za-z-]+$/.test(part)
    ? undefined
    : `Invalid character(s) found in build meta data ${goQuoted(part)}`;
}

function parseLeniently(text: string, normalize: boolean): Value {
  if (!normalize) return parse(text);
  const all = text.replace(/^v/, '').split('.');
  const parts = all.length > 3 ? [...all.slice(0, 2), all.slice(2).join('.')] : all;
  const trimmed = parts.map((part) => {
    if (part.length <= 1) return part;
    const withoutZeroes = part.replace(/^0+/, '');
    return /^\d/.test(withoutZeroes) ? withoutZeroes : `0${withoutZeroes}`;
  });
  if (trimmed.length < 3) {
    if (/[+-]/.test(trimmed.at(-1) ?? '')) {
      return new CelError('short version cannot contain PreRelease/Build meta data');
    }
    while (trimmed.length < 3) trimmed.push('0');
  }
  return parse(trimmed.join('.'));
}

function compareVersions(left: Value, right: Value): number {
  const a = left as SemverValue;
  const b = right as SemverValue;
  for (const index of [0, 1, 2] as const) {
    const order = orderOf(a.numbers[index], b.numbers[index]);
    if (order !== 0) return order;
  }
  if (a.prerelease.length === 0 || b.prerelease.length === 0) {
    return orderOf(b.prerelease.length, a.prerelease.length);
  }
  for (let index = 0; index < Math.min(a.prerelease.length, b.prerelease.length); index++) {
    const order = compareIdentifiers(a.prerelease[index] ?? '', b.prerelease[index] ?? '');
    if (order !== 0) return order;
  }
  return orderOf(a.prerelease.length, b.prerelease.length);
}

/** Numbers precede names. */
function compareIdentifiers(a: bigint | string, b: bigint | string): number {
  if (typeof a === 'bigint') return typeof b === 'bigint' ? orderOf(a, b) : -1;
  return typeof b === 'bigint' ? 1 : orderOf(a, b);
}

function orderOf<T extends number | bigint | string>(a: T, b: T): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
