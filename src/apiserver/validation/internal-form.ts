/**
 * An object as kube-apiserver prints it in errors: with Go field names (`Key` for `key`) and all fields, null or empty
 * if absent.
 */
export function internalForm(
  value: object,
  fields: readonly string[],
  absent: Readonly<Record<string, unknown>> = {},
): object {
  const given: Readonly<Record<string, unknown>> = { ...value };
  return Object.fromEntries(
    fields.map((field) => [internalName(field), given[field] ?? absent[field] ?? null]),
  );
}

function internalName(field: string): string {
  if (field === 'uid') return 'UID';
  if (field === 'apiVersion') return 'APIVersion';
  if (field.startsWith('gmsa')) return `GMSA${field.slice('gmsa'.length)}`;
  return `${field.charAt(0).toUpperCase()}${field.slice(1)}`;
}
