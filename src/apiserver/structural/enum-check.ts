import { isEqualJson } from '../../kube/deep-equal.ts';
import { formatGoValue } from '../../kube/go/format-value.ts';
import type { Json } from '../../kube/go/json-value.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import type { ValidationRun } from './validation-run.ts';

/** Checks whether the value is one of the listed ones. Null never matches, even if it is listed. */
export function compileEnum(schema: JsonSchema): ((value: Json, run: ValidationRun) => void) | undefined {
  const supported = schema.enum;
  if (supported === undefined || supported.length === 0) return undefined;
  const texts = new Set(supported.filter((each) => typeof each === 'string'));
  const others = supported.filter((each) => typeof each !== 'string' && each !== null);
  return (value, run) => {
    if (typeof value === 'string' ? texts.has(value) : isAmong(value, others, texts)) return;
    run.addHere('enum', `should be one of ${formatGoValue(supported)}`, { value, supported });
  };
}

/**
 * As in Go, values are converted to the type of the listed value: a float loses its fraction, and an integer becomes
 * the character with that code.
 */
function isAmong(value: Json, others: readonly Json[], texts: ReadonlySet<string>): boolean {
  if (value === null) return false;
  if (typeof value !== 'number') return others.some((other) => isEqualJson(value, other));
  if (Number.isSafeInteger(value) && texts.has(characterOf(value))) return true;
  return others.some((other) => typeof other === 'number' && convertedTo(other, value) === other);
}

function convertedTo(other: number, value: number): number {
  return Number.isSafeInteger(other) ? Math.trunc(value) : value;
}

function characterOf(code: number): string {
  const isCodePoint = code >= 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isCodePoint ? String.fromCodePoint(code) : '\ufffd';
}
