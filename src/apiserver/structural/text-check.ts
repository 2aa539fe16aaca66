import { RE2JS } from 're2js';
import { goQuoted } from '../../kube/go/quote.ts';
import { type FormatRule, formatRule } from './formats/formats.ts';
import type { JsonSchema } from './json-schema.ts';
import type { ValidationRun } from './validation-run.ts';

type TextCheck = (value: string, run: ValidationRun) => void;

/** Length and pattern; the first that fails is told. Undefined where nothing is asked. */
export function compileText(schema: JsonSchema): TextCheck | undefined {
  const { maxLength, minLength, pattern = '' } = schema;
  if (maxLength === undefined && minLength === undefined && pattern === '') return undefined;
  const judgePattern = pattern === '' ? undefined : compilePattern(pattern);
  return (value, run) => {
    if (maxLength !== undefined && value.length > maxLength && letterCount(value) > maxLength) {
      run.addHere('tooLong', `should be at most ${maxLength} chars long`, { value, max: maxLength });
    } else if (minLength !== undefined && (value.length < minLength || letterCount(value) < minLength)) {
      run.addHere('invalid', `should be at least ${minLength} chars long`, { value });
    } else {
      const wish = judgePattern?.(value);
      if (wish !== undefined) run.addHere('invalid', `should match '${wish}'`, { value });
    }
  };
}

/** Whether the text has the format; undefined where the format is not known. */
export function compileFormat(format: string): TextCheck | undefined {
  const rule: FormatRule | undefined = formatRule(format);
  if (rule === undefined) return undefined;
  return (value, run) => {
    if (rule(value)) return;
    run.addHere('type', `must be of type ${format}: ${goQuoted(value)}`, { value });
  };
}

/** Says what the text should have matched, if it did not. Reading a pattern is slow, so it waits for the first text. */
function compilePattern(pattern: string): (text: string) => string | undefined {
  let expression: RE2JS | string | undefined;
  return (text) => {
    expression ??= readPattern(pattern);
    if (typeof expression === 'string') return expression;
    return expression.test(text) ? undefined : pattern;
  };
}

/** Definitions say the same few patterns many times, such as that of quantities. */
const knownPatterns = new Map<string, RE2JS>();
const knownPatternsMax = 500;

/** A text says that the pattern is none. */
function readPattern(pattern: string): RE2JS | string {
  let expression = knownPatterns.get(pattern);
  if (expression !== undefined) return expression;
  try {
    expression = RE2JS.compile(pattern);
  } catch (error) {
    const { message } = error as Error;
    // Go shows the rest of the pattern, also where nothing is left.
    return `${pattern}, but pattern is invalid: ${message}${message.endsWith('expression') ? ': ``' : ''}`;
  }
  if (knownPatterns.size >= knownPatternsMax) knownPatterns.clear();
  knownPatterns.set(pattern, expression);
  return expression;
}

/** Letters as Go counts them: one outside the basic plane is one. */
function letterCount(text: string): number {
  let count = text.length;
  for (let at = 1; at < text.length; at++) if (isPair(text, at)) count--;
  return count;
}

function isPair(text: string, at: number): boolean {
  const [high, low] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low < 0xe000;
}
