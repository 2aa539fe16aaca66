/*
 * Readers for fields whose value may not have the declared type: objects come from servers, files and people, and
 * nothing has checked them. The readers never throw.
 */

/** The list; an empty one if the value is not a list. */
export function listOf<T>(value: readonly T[] | null | undefined): readonly T[] {
  return Array.isArray(value) ? value : [];
}

/** The string; '' if the value is not a string, as Go reads an absent one. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The value of a label or annotation, which may be named `constructor` or `__proto__`: inherited properties are not strings. */
export function lookUp(
  map: Readonly<Record<string, string>> | null | undefined,
  key: string,
): string | undefined {
  const value: unknown = map?.[key];
  return typeof value === 'string' ? value : undefined;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `spec.selector` + `matchLabels` = `spec.selector.matchLabels`, also if the outer field has no name. */
export function joinField(field: string, child: string): string {
  return field === '' ? child : `${field}.${child}`;
}
