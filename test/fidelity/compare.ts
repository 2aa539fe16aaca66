import type { Answer, Scenario } from './scenario.ts';

/** A path at which two answers differ, such as `body.spec.containers[0].image`, with both values. */
export interface Difference {
  readonly path: string;
  readonly real: unknown;
  readonly ours: unknown;
}

export interface PlayedAnswers {
  readonly real: readonly Answer[];
  readonly ours: readonly Answer[];
}

/** Readable text about all differences that are not expected; empty if there are none. */
export function unexpectedDifferences(
  { name, steps }: Scenario,
  { real, ours }: PlayedAnswers,
  isExpected: (scenario: string, request: string, difference: Difference) => boolean = () => false,
): string {
  const texts = steps.map(({ method, path }, i) => {
    const request = `${method} ${path}`;
    const [theirs, answer] = [real[i], ours[i]];
    if (theirs === undefined || answer === undefined) return `\nstep ${i} was not played: ${request}`;
    const unknown = differencesBetween(theirs, answer).filter((it) => !isExpected(name, request, it));
    return unknown.length === 0
      ? ''
      : `\nstep ${i}: ${request}\n${unknown.map(describeDifference).join('\n')}`;
  });
  return texts.join('');
}

/** If the statuses differ, the bodies are not compared: their differences would hide the cause. */
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
      yield* compare(own(real, key), own(ours, key), joined(path, key));
    }
  } else if (real !== ours) yield { path, real, ours };
}

function own(object: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Keys with dots are written in brackets: `metadata.annotations["a.b/c"]`. */
function joined(path: string, key: string): string {
  if (/[.[\]*]/.test(key)) return `${path}["${key}"]`;
  return path === '' ? key : `${path}.${key}`;
}

function describeDifference({ path, real, ours }: Difference): string {
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
