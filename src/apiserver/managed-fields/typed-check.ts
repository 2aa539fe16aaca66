import { formatGoSyntax, formatGoValue, goTypeName } from '../../kube/go/format-value.ts';
import { JsonNumber } from '../../kube/go/json-number.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../kube/go/json-value.ts';
import {
  type ListShape,
  type MergeShape,
  type ScalarShape,
  type StructShape,
  shapeForValue,
} from '../patch/merge-shape.ts';
import { ListElementError, listElement } from './list-elements.ts';
import type { PathElement } from './path-element.ts';
import { elementText } from './path-text.ts';

/**
 * The problems of a configuration before it is merged: fields that its type does not have, values of a wrong type, list
 * elements without an identity. With the messages of structured-merge-diff; undefined if there are none.
 */
export function typeProblems(
  value: JsonObject,
  shape: StructShape,
  leniency: Leniency = notLenient,
): string | undefined {
  const problems = check(value, shape, leniency);
  if (problems.length < 2) return problems[0] === undefined ? undefined : formatProblem(problems[0]);
  const lines = ['errors:'];
  let characters = 0;
  for (const problem of problems) {
    if (characters > charactersMax) break;
    const line = `  ${formatProblem(problem)}`;
    characters += line.length;
    lines.push(line);
  }
  return lines.join('\n');
}

/** Further problems are not listed: each repeats its path, and keys of a custom resource can be very long. */
const charactersMax = 1024 * 1024;

export interface Leniency {
  /** Stored objects may have elements with equal keys, from before the check existed. */
  readonly allowsDuplicates: boolean;
}

const notLenient: Leniency = { allowsDuplicates: false };

interface TypeProblem {
  readonly path: string;
  readonly message: string;
}

const none: readonly TypeProblem[] = [];

function formatProblem({ path, message }: TypeProblem): string {
  return path === '' ? message : `${path}: ${message}`;
}

function check(value: Json, shape: MergeShape, leniency: Leniency): readonly TypeProblem[] {
  if (value === null || value === undefined) return none;
  switch (shape.kind) {
    case 'scalar':
      return checkScalar(value, shape);
    case 'struct':
      return isJsonObject(value)
        ? checkStruct(value, shape, leniency)
        : problemHere(`expected map, got ${wrapped(value)}`);
    case 'map':
      return isJsonObject(value)
        ? checkMap(value, shape.value, leniency)
        : problemHere(`expected map, got ${wrapped(value)}`);
    case 'list':
      return isJsonArray(value)
        ? checkList(value, shape, leniency)
        : problemHere(`expected list, got ${wrapped(value)}`);
    case 'deduced':
      return check(value, shapeForValue(shape, value), leniency);
    case 'any':
      return none;
  }
}

function checkScalar(value: Json, { form }: ScalarShape): readonly TypeProblem[] {
  // Numbers that JavaScript would round are JsonNumber objects; a later check refuses them if they are too large.
  const isNumber =
    typeof value === 'number' || typeof value === 'bigint' || (value as unknown) instanceof JsonNumber;
  switch (form) {
    case 'numeric':
      if (isNumber) return none;
      return problemHere(`expected numeric (int or float), got ${goTypeName(value)}`);
    case 'string':
      return typeof value === 'string' ? none : problemHere(`expected string, got ${wrappedSyntax(value)}`);
    case 'boolean':
      return typeof value === 'boolean' ? none : problemHere(`expected boolean, got ${wrapped(value)}`);
    case 'untyped':
      return isNumber || typeof value !== 'object'
        ? none
        : problemHere(`expected any scalar, got ${wrapped(value)}`);
  }
}

function checkStruct(
  value: JsonObject,
  { fields, rest }: StructShape,
  leniency: Leniency,
): readonly TypeProblem[] {
  const problems: TypeProblem[] = [];
  for (const name of Object.keys(value)) {
    const shape = fields.get(name)?.shape ?? rest;
    if (shape === undefined) {
      problems.push({ path: `.${name}`, message: 'field not declared in schema' });
      break;
    }
    for (const problem of below(`f:${name}`, check(value[name]!, shape, leniency))) problems.push(problem);
  }
  return problems;
}

function checkMap(value: JsonObject, shape: MergeShape, leniency: Leniency): readonly TypeProblem[] {
  return Object.keys(value).flatMap((name) => below(`f:${name}`, check(value[name]!, shape, leniency)));
}

function checkList(list: readonly Json[], shape: ListShape, leniency: Leniency): readonly TypeProblem[] {
  if (shape.relation === 'atomic') {
    return list.flatMap((item, i) => below(`i:${i}`, check(item, shape.element, leniency)));
  }
  const problems: TypeProblem[] = [];
  const seen = new Set<PathElement>();
  for (const [i, item] of list.entries()) {
    const element = elementOrProblem(item, shape, i);
    if (typeof element !== 'string') return [...problems, element];
    if (seen.has(element) && !leniency.allowsDuplicates)
      problems.push(...problemHere(`duplicate entries for key ${elementText(element)}`));
    seen.add(element);
    for (const problem of below(element, check(item, shape.element, leniency))) problems.push(problem);
  }
  return problems;
}

function elementOrProblem(item: Json, shape: ListShape, index: number): PathElement | TypeProblem {
  try {
    return listElement(item, shape);
  } catch (error) {
    if (!(error instanceof ListElementError)) throw error;
    return { path: '', message: `element ${index}: ${error.message}` };
  }
}

function below(element: PathElement, problems: readonly TypeProblem[]): readonly TypeProblem[] {
  if (problems.length === 0) return none;
  const step = elementText(element);
  return problems.map(({ path, message }) => ({ path: `${step}${path}`, message }));
}

function problemHere(message: string): readonly TypeProblem[] {
  return [{ path: '', message }];
}

/** Go's `%v` of the wrapper that structured-merge-diff puts around a value. */
function wrapped(value: Json): string {
  return `&{${formatGoValue(value)}}`;
}

/** Go's `%#v` of the same. */
function wrappedSyntax(value: Json): string {
  return `&value.valueUnstructured{Value:${formatGoSyntax(value)}}`;
}
