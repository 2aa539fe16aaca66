import { isEqualJson } from '../../kube/deep-equal.ts';
import { formatGoValue } from '../../kube/go/format-value.ts';
import type { Json } from '../../kube/go/json-value.ts';
import type { JsonSchema } from './json-schema.ts';
import type { ValidationRun } from './validation-run.ts';

/** Whether the value is one of a few. Null never is, even where it is named. */
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

/** Values are converted to the type of what they are compared with: integers lose their fraction, or become a letter. */
function isAmong(value: Json, others: readonly Json[], texts: ReadonlySet<string>): boolean {
  if (value === null) return false;
  if (typeof value !== 'number') return others.some((other) => isEqualJson(value, other));
  if (Number.isSafeInteger(value) && texts.has(letterOf(value))) return true;
  return others.some((other) => typeof other === 'number' && convertedTo(other, value) === other);
}

function convertedTo(other: number, value: number): number {
  return Number.isSafeInteger(other) ? Math.trunc(value) : value;
}

function letterOf(code: number): string {
  const isLetter = code >= 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isLetter ? String.fromCodePoint(code) : '\ufffd';
}
