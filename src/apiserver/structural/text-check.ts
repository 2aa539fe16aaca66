import { codePointCount, goQuoted } from '../../kube/go/quote.ts';
import { compiledPattern, PatternError } from '../schema/bounded-pattern.ts';
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
 * Returns the expected pattern if a text does not match it. Compiling a pattern is slow, so it happens on first use; the
 * cache compiles patterns that definitions repeat, such as the one for quantities, once.
 */
function compilePattern(pattern: string): (text: string) => string | undefined {
  return (text) => {
    try {
      return compiledPattern(pattern).test(text) ? undefined : pattern;
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      const { message } = error;
      // Go prints the rest of the pattern, even if it is empty.
      return `${pattern}, but pattern is invalid: ${message}${message.endsWith('expression') ? ': ``' : ''}`;
    }
  };
}
