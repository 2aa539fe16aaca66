import type { Answer } from './scenario.ts';

/** Where two answers differ: `body.spec.containers[0].image`, and what each says there. */
export interface Difference {
  readonly path: string;
  readonly real: unknown;
  readonly ours: unknown;
}

/** Where already the outcome is another one, comparing the rest would only drown it. */
export function differencesBetween(real: Answer, ours: Answer): readonly Difference[] {
  if (real.status !== ours.status) return [{ path: 'status', real: outcome(real), ours: outcome(ours) }];
  return [...compare(real, ours, '')];
}

function outcome({ status, body }: Answer): string {
  const { message, kind } = isObject(body) ? body : { message: body };
  return `${status} ${message ?? kind ?? ''}`.trimEnd();
}

function* compare(real: unknown, ours: unknown, path: string): Generator<Difference> {
  if (Array.isArray(real) && Array.isArray(ours)) {
    for (let i = 0; i < Math.max(real.length, ours.length); i++) {
      yield* compare(real[i], ours[i], `${path}[${i}]`);
    }
  } else if (isObject(real) && isObject(ours)) {
    for (const key of [...new Set([...Object.keys(real), ...Object.keys(ours)])].sort()) {
      yield* compare(real[key], ours[key], joined(path, key));
    }
  } else if (real !== ours) yield { path, real, ours };
}

/** Keys that hold dots are written in brackets, as `metadata.annotations["a.b/c"]`. */
function joined(path: string, key: string): string {
  if (/[.[\]*]/.test(key)) return `${path}["${key}"]`;
  return path === '' ? key : `${path}.${key}`;
}

export function describeDifference({ path, real, ours }: Difference): string {
  return `  ${path}\n    real: ${show(real)}\n    ours: ${show(ours)}`;
}

function show(value: unknown): string {
  if (value === undefined) return '(absent)';
  const text = JSON.stringify(value);
  return text.length > 1_500 ? `${text.slice(0, 1_500)}... (${text.length} characters)` : text;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
