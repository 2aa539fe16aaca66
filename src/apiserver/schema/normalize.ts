import { badRequest } from '../../kube/api-error.ts';
import { isJsonObject, setKey } from '../../kube/go/json-value.ts';
import { sortedKeys } from '../../kube/sorted-keys.ts';
import { diagnose } from './diagnose.ts';
import { leafReaders, leafZeros } from './leaf-values.ts';
import { fieldTablesOf } from './type-info.ts';
import { type FieldTable, type SchemaForm, schemaTypeId, type ValueType } from './type-table.ts';

export interface Normalized {
  readonly object: Record<string, unknown>;
  /** Paths such as `spec.containers[0].foo`, in the order of the input; each once. */
  readonly unknownFields: readonly string[];
}

/**
 * Gives a value the form that it would have after Go decoded it into the type and wrote it again: unknown fields gone,
 * nulls and empties left out where Go leaves them out, zeros where Go writes them, quantities and times canonical, fields
 * in Go's order. Throws BadRequest with Go's sentence where Go refuses the value.
 *
 * Null and undefined are as good as absent. Nothing of the input is shared with the result.
 *
 * Every write of the server comes through here, some several times, so the straight way knows no paths: it only notices
 * that something is wrong or unknown, and {@link diagnose} then walks again to say what and where.
 */
export function normalize(typeId: string, value: unknown): Normalized {
  const notices: Notices = { hasUnknown: false };
  let object: Record<string, unknown>;
  try {
    object = value === null ? structOf(typeId).zero() : structOf(typeId).read(value, notices);
  } catch (error) {
    if (error !== refusal) throw error;
    throw badRequest(diagnose(typeId, value).problem ?? 'the object does not have the form of its type');
  }
  return { object, unknownFields: notices.hasUnknown ? diagnose(typeId, value).unknownFields : [] };
}

/** The object of a type in which nothing is set. */
export function zeroObject(typeId: string): Record<string, unknown> {
  return structOf(typeId).zero();
}

interface Notices {
  hasUnknown: boolean;
}

/** Gives undefined for what counts as not set, and throws `refusal` for what does not fit. */
type Read = (value: unknown, notices: Notices) => unknown;

/** Thrown on the straight way; it carries nothing, so that it costs nothing. */
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

/** Reads objects of one type. Its fields are looked up when the first object comes, because types may hold each other. */
class StructReader {
  readonly #typeId: string;
  #slots: ReadonlyMap<string, number> | undefined;
  readonly #names: string[] = [];
  readonly #readers: Read[] = [];
  /** What stands in for a field that is not set: a plain value, or a struct to be made afresh. */
  readonly #absents: (PlainZero | StructReader)[] = [];

  constructor(typeId: string) {
    this.#typeId = typeId;
  }

  read(value: unknown, notices: Notices): Record<string, unknown> {
    if (!isJsonObject(value)) throw refusal;
    const slots = this.#slots ?? this.#compile();
    const found: unknown[] = new Array(this.#names.length);
    for (const key in value) {
      const slot = slots.get(key);
      const each = value[key];
      if (slot === undefined) notices.hasUnknown ||= each !== undefined;
      else if (each !== null && each !== undefined) found[slot] = this.#readers[slot]?.(each, notices);
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

function fieldReader(field: FieldTable): Read {
  const read = valueReader(field.type);
  if (field.omitsEmpty && !field.isPointer) return withoutEmpty(field.type, read);
  // The zero time is written as null, which is as good as nothing where the field may be left out.
  return canBeNull.has(field.type.form) ? (value, notices) => read(value, notices) ?? undefined : read;
}

/** Forms whose readers give null for what is as good as absent. */
const canBeNull: ReadonlySet<ValueType['form']> = new Set(['time', 'microTime', 'schemaOrList']);

function withoutEmpty(type: ValueType, read: Read): Read {
  switch (type.form) {
    case 'list':
      return (value, notices) => {
        const list = read(value, notices) as readonly unknown[];
        return list.length === 0 ? undefined : list;
      };
    case 'map':
      return (value, notices) => {
        const map = read(value, notices) as object;
        for (const _ in map) return map;
        return undefined;
      };
    case 'string':
    case 'bytes':
    case 'bool':
    case 'int32':
    case 'int64':
    case 'float64':
      // '', false and 0.
      return (value, notices) => read(value, notices) || undefined;
    default:
      // A struct is never empty to Go's omitempty.
      return (value, notices) => read(value, notices) ?? undefined;
  }
}

function absentValue({ type, isPointer, omitsEmpty, omitsZero }: FieldTable): PlainZero | StructReader {
  const isStruct = type.form === 'struct' || structLeaves.has(type.form);
  if (omitsZero || (omitsEmpty && (isPointer || !isStruct))) return undefined;
  if (isPointer || type.form === 'list' || type.form === 'map') return null;
  if (type.form === 'struct') return structOf(type.id);
  return isSchemaForm(type) ? null : (leafZeros[type.form] as PlainZero);
}

/** Leaves that are structs to Go: omitempty never leaves them out. */
const structLeaves = new Set([
  'quantity',
  'time',
  'microTime',
  'intOrString',
  'rawExtension',
  'fieldsV1',
  'json',
]);

function valueReader(type: ValueType): Read {
  switch (type.form) {
    case 'struct': {
      const struct = structOf(type.id);
      return (value, notices) => struct.read(value, notices);
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
 * Reads a nested schema as Go does, with a decoder of its own: what is unknown in there is dropped, and nobody complains. A
 * value that is none of the forms is an error only where a boolean may stand; else it is as good as null.
 */
function schemaReader(form: SchemaForm): Read {
  const one = structOf(schemaTypeId);
  const unheard: Notices = { hasUnknown: false };
  const readList =
    form === 'schemaOrList' ? schemaListReader() : listReader({ form: 'string', goName: 'string' });
  return (value) => {
    if (isJsonObject(value)) return one.read(value, unheard);
    if (form === 'schemaOrBool') {
      if (typeof value !== 'boolean') throw refusal;
      return value;
    }
    const list = Array.isArray(value) ? (readList(value, unheard) as readonly unknown[]) : [];
    return list.length === 0 ? null : list;
  };
}

function schemaListReader(): Read {
  return listReader({ form: 'struct', id: schemaTypeId, goName: 'v1.JSONSchemaProps' });
}

function isSchemaForm(type: ValueType): type is Extract<ValueType, { form: SchemaForm }> {
  return type.form === 'schemaOrList' || type.form === 'schemaOrBool' || type.form === 'schemaOrNames';
}

function listReader(element: ValueType): Read {
  const read = valueReader(element);
  return (value, notices) => {
    if (!Array.isArray(value)) throw refusal;
    const list: unknown[] = [];
    for (const each of value) {
      list.push(each === null || each === undefined ? zeroOf(element) : read(each, notices));
    }
    return list;
  };
}

/** Go writes maps sorted by key. */
function mapReader(element: ValueType): Read {
  const read = valueReader(element);
  return (value, notices) => {
    if (!isJsonObject(value)) throw refusal;
    const map: Record<string, unknown> = {};
    for (const key of sortedKeys(value)) {
      const each = value[key];
      if (each !== undefined) setKey(map, key, each === null ? zeroOf(element) : read(each, notices));
    }
    return map;
  };
}

/**
 * What null becomes inside a list or map. Where Go would keep a null (bytes and lists in maps), we give the empty value that
 * is left of it once the object was stored, so that no null hides where the types promise none.
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
