/*
 * Reads fields that may not have the type they claim. Objects come from servers, files and people; until something has
 * been looked at, `readonly string[]` is a hope. These turn the hope into a value and never throw.
 */

/** The list, or an empty one where there is none. */
export function listOf<T>(value: readonly T[] | null | undefined): readonly T[] {
  return Array.isArray(value) ? value : [];
}

/** The text, or an empty one, as Go reads an absent string. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** An own label or annotation. Labels may be called `constructor` or `__proto__`: no inherited property is text. */
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

/** `spec.selector` + `matchLabels` = `spec.selector.matchLabels`, also where the outer field has no name. */
export function joinField(field: string, child: string): string {
  return field === '' ? child : `${field}.${child}`;
}
