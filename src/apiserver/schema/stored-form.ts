import { fieldTablesOf } from './type-info.ts';
import type { ValueType } from './type-table.ts';

/**
 * Replaces empty lists of fields that are always written by null, as a real server returns them after storing: its
 * store uses protobuf, which has no empty lists. Changes the object in place. Responses before storing show the lists
 * as they were sent.
 */
export function dropEmptyLists(typeId: string, object: Record<string, unknown>): void {
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
