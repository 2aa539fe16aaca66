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
 * What is wrong with a configuration before it is merged: fields that its type does not have, values of the wrong form,
 * elements of lists that cannot be told apart. In Kubernetes' words; undefined where nothing is wrong.
 */
export function typeProblems(
  value: JsonObject,
  shape: StructShape,
  leniency: Leniency = strict,
): string | undefined {
  const complaints = check(value, shape, leniency);
  if (complaints.length < 2) return complaints[0] === undefined ? undefined : lineOf(complaints[0]);
  return ['errors:', ...complaints.map((complaint) => `  ${lineOf(complaint)}`)].join('\n');
}

export interface Leniency {
  /** What is stored may hold elements of one key, from before anybody looked. */
  readonly allowsDuplicates: boolean;
}

const strict: Leniency = { allowsDuplicates: false };

interface Complaint {
  readonly path: string;
  readonly message: string;
}

const none: readonly Complaint[] = [];

function lineOf({ path, message }: Complaint): string {
  return path === '' ? message : `${path}: ${message}`;
}

function check(value: Json, shape: MergeShape, leniency: Leniency): readonly Complaint[] {
  if (value === null || value === undefined) return none;
  switch (shape.kind) {
    case 'scalar':
      return checkScalar(value, shape);
    case 'struct':
      return isJsonObject(value)
        ? checkStruct(value, shape, leniency)
        : wrong(`expected map, got ${shown(value)}`);
    case 'map':
      return isJsonObject(value)
        ? checkMap(value, shape.value, leniency)
        : wrong(`expected map, got ${shown(value)}`);
    case 'list':
      return isJsonArray(value)
        ? checkList(value, shape, leniency)
        : wrong(`expected list, got ${shown(value)}`);
    case 'deduced':
      return check(value, shapeForValue(shape, value), leniency);
    case 'any':
      return none;
  }
}

function checkScalar(value: Json, { form }: ScalarShape): readonly Complaint[] {
  // Numbers that JavaScript would round come as objects; that they are too large is told later.
  const isNumber = typeof value === 'number' || (value as unknown) instanceof JsonNumber;
  switch (form) {
    case 'numeric':
      if (isNumber) return none;
      return wrong(`expected numeric (int or float), got ${goTypeName(value)}`);
    case 'string':
      return typeof value === 'string' ? none : wrong(`expected string, got ${dumped(value)}`);
    case 'boolean':
      return typeof value === 'boolean' ? none : wrong(`expected boolean, got ${shown(value)}`);
    case 'untyped':
      return isNumber || typeof value !== 'object' ? none : wrong(`expected any scalar, got ${shown(value)}`);
  }
}

function checkStruct(
  value: JsonObject,
  { fields, rest }: StructShape,
  leniency: Leniency,
): readonly Complaint[] {
  const complaints: Complaint[] = [];
  for (const name of Object.keys(value)) {
    const shape = fields.get(name)?.shape ?? rest;
    if (shape === undefined) {
      complaints.push({ path: `.${name}`, message: 'field not declared in schema' });
      break;
    }
    complaints.push(...below(`f:${name}`, check(value[name]!, shape, leniency)));
  }
  return complaints;
}

function checkMap(value: JsonObject, shape: MergeShape, leniency: Leniency): readonly Complaint[] {
  return Object.keys(value).flatMap((name) => below(`f:${name}`, check(value[name]!, shape, leniency)));
}

function checkList(list: readonly Json[], shape: ListShape, leniency: Leniency): readonly Complaint[] {
  if (shape.relation === 'atomic') {
    return list.flatMap((item, i) => below(`i:${i}`, check(item, shape.element, leniency)));
  }
  const complaints: Complaint[] = [];
  const seen = new Set<PathElement>();
  for (const [i, item] of list.entries()) {
    const element = elementOrComplaint(item, shape, i);
    if (typeof element !== 'string') return [...complaints, element];
    if (seen.has(element) && !leniency.allowsDuplicates)
      complaints.push(...wrong(`duplicate entries for key ${elementText(element)}`));
    seen.add(element);
    complaints.push(...below(element, check(item, shape.element, leniency)));
  }
  return complaints;
}

function elementOrComplaint(item: Json, shape: ListShape, index: number): PathElement | Complaint {
  try {
    return listElement(item, shape);
  } catch (error) {
    if (!(error instanceof ListElementError)) throw error;
    return { path: '', message: `element ${index}: ${error.message}` };
  }
}

function below(element: PathElement, complaints: readonly Complaint[]): readonly Complaint[] {
  if (complaints.length === 0) return none;
  const step = elementText(element);
  return complaints.map(({ path, message }) => ({ path: `${step}${path}`, message }));
}

function wrong(message: string): readonly Complaint[] {
  return [{ path: '', message }];
}

/** Go's %v of the library's wrapper around a value. */
function shown(value: Json): string {
  return `&{${formatGoValue(value)}}`;
}

/** Go's %#v of it. */
function dumped(value: Json): string {
  return `&value.valueUnstructured{Value:${formatGoSyntax(value)}}`;
}
