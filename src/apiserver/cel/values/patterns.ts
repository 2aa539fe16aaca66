import { type BoundedPattern, compiledPattern, PatternError } from '../../schema/bounded-pattern.ts';
import { CelError } from './values.ts';

/** Compiles a pattern in RE2's syntax. Returns an error if the pattern is not valid. */
export function compilePattern(pattern: string): BoundedPattern | CelError {
  return orCelError(() => compiledPattern(pattern));
}

/** The result of a match, or an error if it would take too many steps. */
export function orCelError<T>(match: () => T): T | CelError {
  try {
    return match();
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return new CelError(error.message);
  }
}
