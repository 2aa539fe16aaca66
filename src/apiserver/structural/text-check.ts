import { RE2JS } from 're2js';
import { codePointCount, goQuoted } from '../../kube/go/quote.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import { type FormatRule, formatRule } from './formats/formats.ts';
import type { ValidationRun } from './validation-run.ts';

type TextCheck = (value: string, run: ValidationRun) => void;

/** Checks the length and the pattern; only the first failure is reported. Undefined if the schema has no such rules. */
export function compileText(schema: JsonSchema): TextCheck | undefined {
  const { maxLength, minLength, pattern = '' } = schema;
  if (maxLength === undefined && minLength === undefined && pattern === '') return undefined;
  const checkPattern = pattern === '' ? undefined : compilePattern(pattern);
  return (value, run) => {
    if (maxLength !== undefined && value.length > maxLength && codePointCount(value) > maxLength) {
      run.addHere('tooLong', `should be at most ${maxLength} chars long`, { value, max: Number(maxLength) });
    } else if (minLength !== undefined && (value.length < minLength || codePointCount(value) < minLength)) {
      run.addHere('invalid', `should be at least ${minLength} chars long`, { value });
    } else {
      const expected = checkPattern?.(value);
      if (expected !== undefined) run.addHere('invalid', `should match '${expected}'`, { value });
    }
  };
}

/** Checks the format; undefined if the format is unknown. */
export function compileFormat(format: string): TextCheck | undefined {
  const rule: FormatRule | undefined = formatRule(format);
  if (rule === undefined) return undefined;
  return (value, run) => {
    if (rule(value)) return;
    run.addHere('type', `must be of type ${format}: ${goQuoted(value)}`, { value });
  };
}

/**
 * Returns the expected pattern if a text does not match it. Compiling a pattern is slow, so it happens on first use.
 */
function compilePattern(pattern: string): (text: string) => string | undefined {
  let expression: RE2JS | string | undefined;
  return (text) => {
    expression ??= readPattern(pattern);
    if (typeof expression === 'string') return expression;
    return expression.test(text) ? undefined : pattern;
  };
}

/** Definitions repeat a few patterns many times, such as the one for quantities. */
const patternCache = new Map<string, RE2JS>();
const patternCacheMax = 500;

/** Returns the error message if the pattern is not valid. */
function readPattern(pattern: string): RE2JS | string {
  let expression = patternCache.get(pattern);
  if (expression !== undefined) return expression;
  try {
    expression = RE2JS.compile(pattern);
  } catch (error) {
    const { message } = error as Error;
    // Go prints the rest of the pattern, even if it is empty.
    return `${pattern}, but pattern is invalid: ${message}${message.endsWith('expression') ? ': ``' : ''}`;
  }
  if (patternCache.size >= patternCacheMax) patternCache.clear();
  patternCache.set(pattern, expression);
  return expression;
}
