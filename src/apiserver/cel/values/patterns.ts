import { RE2JS } from 're2js';
import { messageOf } from '../../../runtime/error-message.ts';
import { CelError } from './values.ts';

/** Patterns seldom change, but a rule may compute them; the oldest is forgotten. */
const patternCacheMax = 200;
const patternCache = new Map<string, RE2JS | CelError>();

/** A pattern in RE2's syntax, whose matching takes linear time whatever the pattern. An error where it is none. */
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
