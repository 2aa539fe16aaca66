import type { Difference } from './compare.ts';

/** A difference that is meant to be, and why. Stars in patterns stand for anything. */
export interface KnownDifference {
  readonly scenario: string;
  /** Of the request line. */
  readonly request?: string;
  readonly path: string;
  readonly reason: string;
  /** What must be true of it nevertheless. */
  accepts?(difference: Difference): boolean;
}

export const knownDifferences: readonly KnownDifference[] = [];

export function isKnown(
  known: KnownDifference,
  scenario: string,
  request: string,
  difference: Difference,
): boolean {
  return (
    matches(known.scenario, scenario) &&
    matches(known.request ?? '*', request) &&
    matches(known.path, difference.path) &&
    known.accepts?.(difference) !== false
  );
}

function matches(pattern: string, text: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text);
}
