import { openApiPrefixes } from './generated/tables.ts';
import { type FieldTable, shortName, tableIds, tableOf, type ValueType } from './type-table.ts';

/** The fields of a type in JSON: its own, and those of embedded structs. */
export function fieldTablesOf(typeId: string): ReadonlyMap<string, FieldTable> {
  let fields = fieldsByType.get(typeId);
  if (fields === undefined) {
    fields = new Map(flatFields(typeId).map((field) => [field.name, field]));
    fieldsByType.set(typeId, fields);
  }
  return fields;
}

/** The table of one field: type, patch strategy, list type; undefined if the type has no such field. */
export function fieldTableOf(typeId: string, name: string): FieldTable | undefined {
  return fieldTablesOf(typeId).get(name);
}

/** The field at a path of names; lists and maps are passed through, so `['spec', 'containers', 'image']` finds one. */
export function fieldTableAt(typeId: string, path: readonly string[]): FieldTable | undefined {
  let owner: string | undefined = typeId;
  let field: FieldTable | undefined;
  for (const name of path) {
    field = owner === undefined ? undefined : fieldTableOf(owner, name);
    if (field === undefined) return undefined;
    owner = structIn(field.type);
  }
  return field;
}

/** The struct type of a value, or of the elements of a list or map. */
export function structIn(type: ValueType): string | undefined {
  if (type.form === 'struct') return type.id;
  return type.form === 'list' || type.form === 'map' ? structIn(type.element) : undefined;
}

/** `io.k8s.api.core.v1.Pod` for `core/v1.Pod`. */
export function openApiName(typeId: string): string {
  const name = shortName(typeId);
  return `${openApiPrefixes[typeId.slice(0, -name.length - 1)] ?? ''}${name}`;
}

/** All types that are objects, with apiVersion and kind. */
export function kindTypes(): readonly string[] {
  return tableIds().filter((id) => tableOf(id).isKind);
}

const fieldsByType = new Map<string, ReadonlyMap<string, FieldTable>>();

function flatFields(typeId: string): FieldTable[] {
  return tableOf(typeId).members.flatMap((member) =>
    member.kind === 'field' ? [member] : flatFields(member.type),
  );
}
