import { JsonNumber } from '../../kube/go/json-number.ts';
import { isJsonObject, jsonKindName } from '../../kube/go/json-value.ts';
import { timeParseError } from '../../kube/go/kubernetes-time.ts';
import { parseQuantity } from '../../kube/quantities/quantity.ts';
import { addedFields } from './added-fields.ts';
import { FieldPath, ReportedPaths } from './field-path.ts';
import { base64ErrorAt, leafReaders } from './leaf-values.ts';
import {
  type FieldTable,
  type SchemaForm,
  schemaTypeId,
  shortName,
  tableOf,
  type ValueType,
} from './type-table.ts';

export interface Diagnosis {
  /** Go's error message for the value that does not fit, if there is one. */
  readonly problem: string | undefined;
  /** Where that value is; Go's message does not always say it. */
  readonly problemPath: FieldPath | undefined;
  readonly unknownPaths: readonly FieldPath[];
  /** Prefixes of paths that are not examined: unknown fields, and values that contain arbitrary JSON. */
  readonly opaquePaths: readonly FieldPath[];
}

/**
 * Walks a value as Go's decoder does, in the order of the input, to find its problems. Values of a wrong type do not
 * stop the walk, and the first of them is reported at the end; a value that a type with its own decoder refuses (a
 * quantity, a time) stops the walk and is reported instead.
 */
export function diagnose(typeId: string, value: unknown): Diagnosis {
  const walk = new DecoderWalk();
  try {
    walk.value({ form: 'struct', id: typeId, goName: `v1.${shortName(typeId)}` }, value, FieldPath.root);
  } catch (error) {
    if (!(error instanceof FatalProblem)) throw error;
    return { ...walk.diagnosis, problem: error.message, problemPath: walk.position };
  }
  return walk.diagnosis;
}

/** The texts of unknown fields, without repetitions. */
export function unknownFieldsOf(typeId: string, value: unknown): readonly string[] {
  const reported = new ReportedPaths();
  for (const path of diagnose(typeId, value).unknownPaths) reported.add(path);
  return reported.texts;
}

/** Kubernetes' decoder stops counting there. */
const unknownFieldsMax = 100;

class FatalProblem extends Error {}

class DecoderWalk {
  readonly #unknown: FieldPath[] = [];
  readonly #opaque: FieldPath[] = [];
  #problem: string | undefined;
  #problemPath: FieldPath | undefined;
  #position = FieldPath.root;
  /**
   * The position in Go's messages: the struct, and the names of fields from the root, without lists and keys of maps.
   */
  #struct: string;
  #fields: readonly string[];

  constructor(struct = '', fields: readonly string[] = []) {
    this.#struct = struct;
    this.#fields = fields;
  }

  get diagnosis(): Diagnosis {
    return {
      problem: this.#problem,
      problemPath: this.#problemPath,
      unknownPaths: this.#unknown,
      opaquePaths: this.#opaque,
    };
  }

  /** The value that is examined. */
  get position(): FieldPath {
    return this.#position;
  }

  value(type: ValueType, value: unknown, path: FieldPath): void {
    if (value === null || value === undefined) return;
    this.#position = path;
    if (type.form === 'struct') {
      if (isJsonObject(value)) this.#object(type.id, value, path);
      else this.#mismatch(value, type.goName);
    } else if (type.form === 'map') {
      if (isJsonObject(value)) this.#map(type.element, value, path);
      else this.#mismatch(value, type.goName);
    } else if (type.form === 'list') {
      if (Array.isArray(value)) this.#list(type.element, value, path);
      else this.#mismatch(value, type.goName);
    } else if (isSchema(type)) {
      this.#opaque.push(path);
      inspectSchema(type.form, value, new DecoderWalk(this.#struct, this.#fields));
    } else {
      if (isOpaque(type)) this.#opaque.push(path);
      if (leafReaders[type.form](value) === undefined) this.#leaf(type, value);
    }
  }

  #object(typeId: string, value: Record<string, unknown>, path: FieldPath): void {
    const [struct, fields] = [this.#struct, this.#fields];
    for (const [key, each] of Object.entries(value)) {
      const found = findField(typeId, key);
      const keyPath = path.child(key);
      if (found === undefined) {
        if (each !== undefined) this.#addUnknown(keyPath);
        continue;
      }
      this.#position = keyPath;
      checkAddedField(typeId, key, each, keyPath);
      this.#struct = shortName(typeId);
      this.#fields = [...fields, ...found.through, key];
      this.value(found.field.type, each, keyPath);
      [this.#struct, this.#fields] = [struct, fields];
    }
  }

  #map(element: ValueType, value: Record<string, unknown>, path: FieldPath): void {
    for (const [key, each] of Object.entries(value)) this.value(element, each, path.child(key));
  }

  #list(element: ValueType, value: readonly unknown[], path: FieldPath): void {
    for (const [index, each] of value.entries()) this.value(element, each, path.child(index));
  }

  #addUnknown(path: FieldPath): void {
    this.#opaque.push(path);
    if (this.#unknown.length < unknownFieldsMax) this.#unknown.push(path);
  }

  #leaf(type: ValueType, value: unknown): void {
    switch (type.form) {
      case 'quantity':
        throw new FatalProblem(quantityProblem(value));
      case 'time':
      case 'microTime':
        if (typeof value === 'string')
          throw new FatalProblem(timeParseError(value, type.form === 'microTime'));
        throw new FatalProblem(this.#mismatchOf(jsonKindName(value), 'string'));
      case 'intOrString':
        throw new FatalProblem(this.#mismatchOf(numberName(value), 'int32'));
      case 'int32':
      case 'int64':
      case 'float64':
        this.#report(this.#mismatchOf(numberName(value), type.goName));
        break;
      case 'bytes':
        if (typeof value === 'string') this.#report(base64Problem(value));
        else this.#mismatch(value, type.goName);
        break;
      default:
        this.#mismatch(value, type.goName);
    }
  }

  #mismatch(value: unknown, goName: string): void {
    this.#report(this.#mismatchOf(jsonKindName(value), goName));
  }

  /** The first problem is the one that counts. */
  #report(problem: string): void {
    if (this.#problem !== undefined) return;
    this.#problem = problem;
    this.#problemPath = this.#position;
  }

  #mismatchOf(found: string, goName: string): string {
    const place =
      this.#fields.length === 0 ? 'Go value' : `Go struct field ${this.#struct}.${this.#fields.join('.')}`;
    return `json: cannot unmarshal ${found} into ${place} of type ${goName}`;
  }
}

/** Kubernetes' message for a wrong quantity does not say where it is. For a field that Kubernetes does not have, ours does. */
function checkAddedField(typeId: string, name: string, value: unknown, path: FieldPath): void {
  if (value === null || addedFields[typeId]?.[name] === undefined) return;
  const parsed = parseQuantity(value, path.text);
  if (!parsed.ok) throw new FatalProblem(parsed.problem);
}

/** Nested schemas have separate decoders, which are not strict and whose problems stop the walk. */
function inspectSchema(form: SchemaForm, value: unknown, walk: DecoderWalk): void {
  const schema = { form: 'struct', id: schemaTypeId, goName: 'v1.JSONSchemaProps' } as const;
  const name = { form: 'string', goName: 'string' } as const;
  if (isJsonObject(value)) walk.value(schema, value, FieldPath.root);
  else if (form === 'schemaOrBool') {
    if (typeof value !== 'boolean') throw new FatalProblem('boolean or JSON schema expected');
  } else if (Array.isArray(value)) {
    const element = form === 'schemaOrList' ? schema : name;
    walk.value({ form: 'list', element, goName: `[]${element.goName}` }, value, FieldPath.root);
  }
  const { problem } = walk.diagnosis;
  if (problem !== undefined) throw new FatalProblem(problem);
}

function isSchema(type: ValueType): type is Extract<ValueType, { form: SchemaForm }> {
  return type.form === 'schemaOrList' || type.form === 'schemaOrBool' || type.form === 'schemaOrNames';
}

function isOpaque({ form }: ValueType): boolean {
  return form === 'rawExtension' || form === 'fieldsV1' || form === 'json';
}

/** The field, and the Go names of the structs in which it is embedded. */
function findField(
  typeId: string,
  name: string,
): { readonly field: FieldTable; readonly through: readonly string[] } | undefined {
  for (const member of tableOf(typeId).members) {
    if (member.kind === 'field') {
      if (member.name === name) return { field: member, through: [] };
      continue;
    }
    const found = findField(member.type, name);
    if (found !== undefined) return { ...found, through: [shortName(member.type), ...found.through] };
  }
  return undefined;
}

/** Numbers that are not valid integers are reported with their digits. */
function numberName(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return `number ${value}`;
  return value instanceof JsonNumber ? `number ${value.text}` : jsonKindName(value);
}

/** Matches number and suffix in two steps: one pattern would try every split of the digits between them. */
function quantityProblem(value: unknown): string {
  const text = typeof value === 'string' ? value.trim() : '';
  const number = /^[+-]?[0-9.]+/.exec(text)?.[0];
  const isOfForm = number !== undefined && /^[eEinumkKMGTP]*[-+]?[0-9]*$/.test(text.slice(number.length));
  if (isOfForm) return "unable to parse quantity's suffix";
  return "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
}

function base64Problem(text: string): string {
  return `illegal base64 data at input byte ${base64ErrorAt(text) ?? 0}`;
}
