import { badRequest } from '../../kube/api-error.ts';
import { isJsonObject, setKey } from '../../kube/go/json-value.ts';
import { sortedKeys } from '../../kube/sorted-keys.ts';
import { diagnose, unknownFieldsOf } from './diagnose.ts';
import { leafReaders, leafZeros } from './leaf-values.ts';
import { fieldTablesOf } from './type-info.ts';
import { type FieldTable, type SchemaForm, schemaTypeId, type ValueType } from './type-table.ts';

export interface Normalized {
  readonly object: Record<string, unknown>;
  /** Paths such as `spec.containers[0].foo`, in the order of the input, without duplicates. */
  readonly unknownFields: readonly string[];
}

/**
 * Converts a value to the form that it would have after Go decoded it into the type and encoded it again: without
 * unknown fields, without nulls and empty values that Go omits, with the zero values that Go writes, with canonical
 * quantities and times, and with fields in Go's order. Throws BadRequest with Go's message if Go refuses the value.
 *
 * Null and undefined count as absent. The result shares nothing with the input.
 *
 * Every write of the server uses this function, some several times, so the fast path does not track paths: it only
 * detects that a value is invalid or a field unknown, and {@link diagnose} then walks the value again to find out what
 * and where.
 */
export function normalize(typeId: string, value: unknown): Normalized {
  const state: ReadState = { hasUnknown: false };
  let object: Record<string, unknown>;
  try {
    object = value === null ? structOf(typeId).zero() : structOf(typeId).read(value, state);
  } catch (error) {
    if (error !== refusal) throw error;
    throw badRequest(diagnose(typeId, value).problem ?? 'the object does not fit its type');
  }
  return { object, unknownFields: state.hasUnknown ? unknownFieldsOf(typeId, value) : [] };
}

/** The object of a type in which no field is set. */
export function zeroObject(typeId: string): Record<string, unknown> {
  return structOf(typeId).zero();
}

interface ReadState {
  hasUnknown: boolean;
}

/** Returns undefined for values that count as not set, and throws `refusal` for values that do not fit. */
type ReadValue = (value: unknown, state: ReadState) => unknown;

/** Thrown on the fast path. It is a symbol, not an Error, because creating a stack trace is expensive. */
const refusal = Symbol('the value does not fit its type');

const structs = new Map<string, StructReader>();

function structOf(typeId: string): StructReader {
  let found = structs.get(typeId);
  if (found === undefined) {
    found = new StructReader(typeId);
    structs.set(typeId, found);
  }
  return found;
}

/** Reads objects of one type. Its fields are resolved on first use, because types can contain each other. */
class StructReader {
  readonly #typeId: string;
  #slots: ReadonlyMap<string, number> | undefined;
  readonly #names: string[] = [];
  readonly #readers: ReadValue[] = [];
  /** The value of an absent field: a plain value, or the reader of a struct that creates a zero object. */
  readonly #absents: (PlainZero | StructReader)[] = [];

  constructor(typeId: string) {
    this.#typeId = typeId;
  }

  read(value: unknown, state: ReadState): Record<string, unknown> {
    if (!isJsonObject(value)) throw refusal;
    const slots = this.#slots ?? this.#compile();
    const found: unknown[] = new Array(this.#names.length);
    for (const key in value) {
      const slot = slots.get(key);
      const each = value[key];
      if (slot === undefined) state.hasUnknown ||= each !== undefined;
      else if (each !== null && each !== undefined) found[slot] = this.#readers[slot]?.(each, state);
    }
    return this.#build(found);
  }

  zero(): Record<string, unknown> {
    if (this.#slots === undefined) this.#compile();
    return this.#build([]);
  }

  #build(found: readonly unknown[]): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    const names = this.#names;
    for (let slot = 0; slot < names.length; slot++) {
      let value = found[slot];
      if (value === undefined) {
        const absent = this.#absents[slot];
        if (absent === undefined) continue;
        value = absent instanceof StructReader ? absent.zero() : absent;
      }
      object[names[slot] as string] = value;
    }
    return object;
  }

  #compile(): ReadonlyMap<string, number> {
    for (const field of fieldTablesOf(this.#typeId).values()) {
      this.#names.push(field.name);
      this.#readers.push(fieldReader(field));
      this.#absents.push(absentValue(field));
    }
    this.#slots = new Map(this.#names.map((name, slot) => [name, slot]));
    return this.#slots;
  }
}

type PlainZero = string | number | boolean | null | undefined;

function fieldReader(field: FieldTable): ReadValue {
  const read = valueReader(field.type);
  if (field.omitsEmpty && !field.isPointer) return withoutEmpty(field.type, read);
  // The zero time is written as null, which counts as absent if the field may be omitted.
  return canBeNull.has(field.type.form) ? (value, state) => read(value, state) ?? undefined : read;
}

/** Forms whose readers return null for values that count as absent. */
const canBeNull: ReadonlySet<ValueType['form']> = new Set(['time', 'microTime', 'schemaOrList']);

function withoutEmpty(type: ValueType, read: ReadValue): ReadValue {
  switch (type.form) {
    case 'list':
      return (value, state) => {
        const list = read(value, state) as readonly unknown[];
        return list.length === 0 ? undefined : list;
      };
    case 'map':
      return (value, state) => {
        const map = read(value, state) as object;
        for (const _ in map) return map;
        return undefined;
      };
    case 'string':
    case 'bytes':
    case 'bool':
    case 'int32':
    case 'int64':
    case 'float64':
      return (value, state) => read(value, state) || undefined;
    default:
      // Go's omitempty never omits a struct.
      return (value, state) => read(value, state) ?? undefined;
  }
}

function absentValue({ type, isPointer, omitsEmpty, omitsZero }: FieldTable): PlainZero | StructReader {
  const isStruct = type.form === 'struct' || structLeaves.has(type.form);
  if (omitsZero || (omitsEmpty && (isPointer || !isStruct))) return undefined;
  if (isPointer || type.form === 'list' || type.form === 'map') return null;
  if (type.form === 'struct') return structOf(type.id);
  return isSchemaForm(type) ? null : (leafZeros[type.form] as PlainZero);
}

/** Leaf types that are structs in Go: omitempty never omits them. */
const structLeaves = new Set([
  'quantity',
  'time',
  'microTime',
  'intOrString',
  'rawExtension',
  'fieldsV1',
  'json',
]);

function valueReader(type: ValueType): ReadValue {
  switch (type.form) {
    case 'struct': {
      const struct = structOf(type.id);
      return (value, state) => struct.read(value, state);
    }
    case 'list':
      return listReader(type.element);
    case 'map':
      return mapReader(type.element);
    case 'schemaOrList':
    case 'schemaOrBool':
    case 'schemaOrNames':
      return schemaReader(type.form);
    default: {
      const read = leafReaders[type.form];
      return (value) => {
        const result = read(value);
        if (result === undefined) throw refusal;
        return result;
      };
    }
  }
}

/**
 * Reads a nested schema as Go does, with a separate decoder: unknown fields in it are dropped without a report. A value
 * of a wrong type is an error only if a boolean is allowed; otherwise it counts as null.
 */
function schemaReader(form: SchemaForm): ReadValue {
  const one = structOf(schemaTypeId);
  const ignoredState: ReadState = { hasUnknown: false };
  const readList =
    form === 'schemaOrList' ? schemaListReader() : listReader({ form: 'string', goName: 'string' });
  return (value) => {
    if (isJsonObject(value)) return one.read(value, ignoredState);
    if (form === 'schemaOrBool') {
      if (typeof value !== 'boolean') throw refusal;
      return value;
    }
    const list = Array.isArray(value) ? (readList(value, ignoredState) as readonly unknown[]) : [];
    return list.length === 0 ? null : list;
  };
}

function schemaListReader(): ReadValue {
  return listReader({ form: 'struct', id: schemaTypeId, goName: 'v1.JSONSchemaProps' });
}

function isSchemaForm(type: ValueType): type is Extract<ValueType, { form: SchemaForm }> {
  return type.form === 'schemaOrList' || type.form === 'schemaOrBool' || type.form === 'schemaOrNames';
}

function listReader(element: ValueType): ReadValue {
  const read = valueReader(element);
  return (value, state) => {
    if (!Array.isArray(value)) throw refusal;
    const list: unknown[] = [];
    for (const each of value) {
      list.push(each === null || each === undefined ? zeroOf(element) : read(each, state));
    }
    return list;
  };
}

/** Go encodes maps with sorted keys. */
function mapReader(element: ValueType): ReadValue {
  const read = valueReader(element);
  return (value, state) => {
    if (!isJsonObject(value)) throw refusal;
    const map: Record<string, unknown> = {};
    for (const key of sortedKeys(value)) {
      const each = value[key];
      if (each !== undefined) setKey(map, key, each === null ? zeroOf(element) : read(each, state));
    }
    return map;
  };
}

/**
 * The value of a null element of a list or map. Where Go would keep a null (bytes and lists in maps), this returns the
 * empty value that remains after the object is stored, so that there are no nulls where the generated types exclude
 * them.
 */
function zeroOf(type: ValueType): unknown {
  switch (type.form) {
    case 'struct':
      return structOf(type.id).zero();
    case 'list':
      return [];
    case 'map':
      return {};
    case 'bytes':
      return '';
    case 'schemaOrList':
    case 'schemaOrBool':
    case 'schemaOrNames':
      return null;
    default:
      return leafZeros[type.form];
  }
}
