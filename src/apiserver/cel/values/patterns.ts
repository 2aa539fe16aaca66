import { RE2JS } from 're2js';
import { messageOf } from '../../../runtime/error-message.ts';
import { CelError } from './values.ts';

/** Patterns rarely change, but a rule may compute them; the cache drops the oldest. */
const patternCacheMax = 200;
const patternCache = new Map<string, RE2JS | CelError>();

/**
 * Compiles a pattern in RE2's syntax, whose matching takes linear time for any pattern. Returns an error if the pattern
 * is not valid.
 */
export function compilePattern(pattern: string): RE2JS | CelError {
  const known = patternCache.get(pattern);
  if (known !== undefined) return known;
  const compiled = compile(pattern);
  if (patternCache.size >= patternCacheMax) {
    for (const oldest of patternCache.keys()) {
      patternCache.delete(oldest);
      break;
    }
  }
  patternCache.set(pattern, compiled);
  return compiled;
}

function compile(pattern: string): RE2JS | CelError {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    return new CelError(messageOf(error));
  }
}
