/** The values of placeholders: the namespace, and the answers of the steps that have a name. */
export type PlaceholderValues = ReadonlyMap<string, unknown>;

const placeholder = /\{\{([^{}]+)\}\}/g;

/** Returns the value with all placeholders replaced. Throws if a placeholder is unknown, since the step would test something else. */
export function fill<T>(value: T, known: PlaceholderValues): T {
  return fillValue(value, known) as T;
}

function fillValue(value: unknown, known: PlaceholderValues): unknown {
  if (typeof value === 'string') return fillText(value, known);
  if (Array.isArray(value)) return value.map((item) => fillValue(item, known));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([key, item]) => [key, fillValue(item, known)]));
}

function fillText(text: string, known: PlaceholderValues): unknown {
  const whole = /^\{\{([^{}]+)\}\}$/.exec(text);
  if (whole) return lookUp(whole[1] ?? '', known);
  return text.replaceAll(placeholder, (_, path: string) => String(lookUp(path, known)));
}

function lookUp(path: string, known: PlaceholderValues): unknown {
  const [name = '', ...fields] = path.split('.');
  let value = known.get(name);
  for (const field of fields) value = (value as Record<string, unknown> | undefined)?.[field];
  if (value === undefined) throw new Error(`{{${path}}} is not in an earlier answer`);
  return value;
}

/** A JSON merge patch, for bodies that are modified earlier answers. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  }
  return merged;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
