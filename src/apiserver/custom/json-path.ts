import type { Json, JsonObject } from '../../kube/go/json-value.ts';
import { isJsonObject } from '../../kube/go/json-value.ts';

/**
 * Parses the subset of kubectl's JSONPath that printer columns and selectable fields use: `.spec.size`, `['a.b']`,
 * `[0]`, `[-1:]`, `[*]`, `.*`, `..name` and `[?(@.type=="Ready")]`. Undefined for other texts.
 */
export function parseJsonPath(text: string): JsonPath | undefined {
  const steps: Step[] = [];
  let rest = text.startsWith('$') ? text.slice(1) : text;
  while (rest !== '') {
    const read = readStep(rest);
    if (read === undefined) return undefined;
    steps.push(read.step);
    rest = rest.slice(read.length);
  }
  return { find: (value) => steps.reduce<readonly Json[]>((found, step) => found.flatMap(step), [value]) };
}

export interface JsonPath {
  /** All values at the path, in order; empty if there are none. */
  find(value: Json): readonly Json[];
}

type Step = (value: Json) => readonly Json[];

interface ReadStep {
  readonly step: Step;
  readonly length: number;
}

const fieldPattern = /^\.((?:\\.|[^.[\\\s=!<>~])+)/;
const deepPattern = /^\.\.((?:\\.|[^.[\\\s=!<>~])+)/;
const quotedPattern = /^\[\s*(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)")\s*\]/;
const rangePattern = /^\[\s*(?:(-?\d+)\s*)?(?::\s*(?:(-?\d+)\s*)?)?(?::\s*(?:(-?\d+)\s*)?)?\]/;
const filterPattern = /^\[\?\(\s*((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^)"'])*)\)\s*\]/;

function readStep(text: string): ReadStep | undefined {
  const deep = deepPattern.exec(text);
  if (deep !== null) return { step: recursiveStep(unescaped(deep[1] ?? '')), length: deep[0].length };
  const field = fieldPattern.exec(text);
  if (field !== null) return { step: fieldStep(unescaped(field[1] ?? '')), length: field[0].length };
  const quoted = quotedPattern.exec(text);
  if (quoted !== null)
    return { step: fieldStep(unescaped(quoted[1] ?? quoted[2] ?? '')), length: quoted[0].length };
  if (text.startsWith('[*]')) return { step: children, length: 3 };
  const filter = filterPattern.exec(text);
  if (filter !== null) return filterStep(filter[1] ?? '', filter[0].length);
  const range = rangePattern.exec(text);
  return range === null || range[0] === '[]'
    ? undefined
    : { step: rangeStep(range), length: range[0].length };
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, '$1');
}

function fieldStep(name: string): Step {
  if (name === '*') return children;
  return (value) => {
    const found = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    return found === undefined ? [] : [found];
  };
}

function children(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? Object.values(value as JsonObject) : [];
}

function recursiveStep(name: string): Step {
  const own = fieldStep(name);
  return function search(value): readonly Json[] {
    return [...own(value), ...children(value).flatMap(search)];
  };
}

/** Like Go slices; a negative index counts from the end. */
function rangeStep([whole, from = '', to, by]: RegExpExecArray): Step {
  const isIndex = !whole.includes(':');
  return (value) => {
    if (!Array.isArray(value)) return [];
    const start = fromStart(from === '' ? 0 : Number(from), value.length);
    if (isIndex) return start < value.length && start >= 0 ? [value[start] as Json] : [];
    const end = to === undefined || to === '' ? value.length : fromStart(Number(to), value.length);
    const stride = by === undefined || by === '' ? 1 : Math.max(1, Number(by));
    return value.slice(Math.max(0, start), Math.max(0, end)).filter((_, index) => index % stride === 0);
  };
}

function fromStart(index: number, length: number): number {
  return index < 0 ? index + length : index;
}

type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=';

const comparisonPattern = /^(.+?)(==|!=|<=|>=|<|>)(.+)$/s;

/** `@.a == "b"`, or `@.a` alone, which selects elements that have the field. */
function filterStep(text: string, length: number): ReadStep | undefined {
  const [, left = text, operator, right] = comparisonPattern.exec(text.trim()) ?? [];
  const read = operandOf(left.trim());
  if (read === undefined) return undefined;
  if (operator === undefined || right === undefined) {
    return { step: (value) => children(value).filter((each) => read(each) !== undefined), length };
  }
  const compare = operandOf(right.trim());
  if (compare === undefined) return undefined;
  const isKept = (each: Json) => holds(operator as Comparison, read(each), compare(each));
  return { step: (value) => children(value).filter(isKept), length };
}

function operandOf(text: string): ((value: Json) => Json | undefined) | undefined {
  if (text === '@') return (value) => value;
  if (text.startsWith('@')) {
    const path = parseJsonPath(text.slice(1));
    return path === undefined ? undefined : (value) => path.find(value)[0];
  }
  const [, single, double] = /^(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)")$/.exec(text) ?? [];
  const quoted = single ?? double;
  if (quoted !== undefined) return () => unescaped(quoted);
  if (text === 'true' || text === 'false') return () => text === 'true';
  const number = Number(text);
  return text === '' || Number.isNaN(number) ? undefined : () => number;
}

/** Values of different types are neither equal nor ordered. */
function holds(operator: Comparison, left: Json | undefined, right: Json | undefined): boolean {
  if (left === undefined || right === undefined) return false;
  if (operator === '==') return left === right;
  if (operator === '!=') return left !== right;
  const areComparable =
    typeof left === typeof right && (typeof left === 'number' || typeof left === 'string');
  if (!areComparable || left === null || right === null) return false;
  switch (operator) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
  }
}
