import { type Normalized, normalize, zeroObject } from './normalize.ts';
import { fieldTablesOf } from './type-info.ts';
import type { ValueType } from './type-table.ts';

/** How values are converted to objects of one type: by the API tables, or by the schema of a custom resource. */
export interface ObjectForm {
  /**
   * Like `normalize` of the API tables: returns a copy in stored form, or throws BadRequest. A merge result of decoded
   * objects is not decoded again: for a custom resource, nulls that its schema forbids stay, and embedded metadata is
   * not changed.
   */
  normalize(value: unknown, options?: { readonly isMerged: boolean }): Normalized;
  /** The object in which no field is set. */
  zero(): Record<string, unknown>;
  /** Applies what storing does to empty lists, in place. */
  dropEmptyLists(object: Record<string, unknown>): void;
}

/** A kind, or an expected body, that states its type. */
export interface Typed {
  /** The name in the API tables: `core/v1.Pod`. */
  readonly type: string;
  /** Set if the type is not in the tables. */
  readonly form?: ObjectForm | undefined;
}

export function formOf({ type, form }: Typed): ObjectForm {
  return form ?? tableForm(type);
}

const tableForms = new Map<string, ObjectForm>();

function tableForm(type: string): ObjectForm {
  let form = tableForms.get(type);
  if (form === undefined) {
    form = {
      normalize: (value) => normalize(type, value),
      zero: () => zeroObject(type),
      dropEmptyLists: (object) => dropEmptyLists(type, object),
    };
    tableForms.set(type, form);
  }
  return form;
}

/**
 * Replaces empty lists of fields that are always written by null, as a real server returns them after storing: its
 * store uses protobuf, which has no empty lists. Changes the object in place. Responses before storing show the lists
 * as they were sent.
 */
function dropEmptyLists(typeId: string, object: Record<string, unknown>): void {
  for (const { name, type, omitsEmpty } of fieldTablesOf(typeId).values()) {
    const value = object[name];
    if (value === undefined || value === null) continue;
    if (!omitsEmpty && Array.isArray(value) && value.length === 0) object[name] = null;
    else walk(type, value);
  }
}

function walk(type: ValueType, value: unknown): void {
  if (type.form === 'struct') dropEmptyLists(type.id, value as Record<string, unknown>);
  else if (type.form === 'list') for (const item of value as readonly unknown[]) walk(type.element, item);
  else if (type.form === 'map') for (const item of Object.values(value as object)) walk(type.element, item);
}
