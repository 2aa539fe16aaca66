import { diagnose } from './diagnose.ts';
import type { JsonDocument } from './json-reader.ts';
import type { Typed } from './object-form.ts';

/**
 * The problems that a strict decoder reports for a body: unknown fields and duplicate keys, in the order of the text.
 * Duplicates below unknown fields, and within values that contain arbitrary JSON, are not reported.
 */
export function strictDecodingProblems(
  { type, form }: Typed,
  document: JsonDocument,
  unknownFields: readonly string[],
): readonly string[] {
  if (document.duplicates.length === 0) return unknownFields.map(unknownField);
  const opaque = new Set(form === undefined ? diagnose(type, document.value).opaquePaths : []);
  const unknown = unknownFields.map((path) => ({
    position: document.order.get(path) ?? Number.POSITIVE_INFINITY,
    text: unknownField(path),
  }));
  const duplicates = document.duplicates
    .filter(({ path }) => !isBelow(path, opaque))
    .map(({ path, position }) => ({ position, text: `duplicate field ${JSON.stringify(path)}` }));
  const sorted = [...unknown, ...duplicates].sort((a, b) => a.position - b.position);
  return [...new Set(sorted.map(({ text }) => text))].slice(0, problemsMax);
}

/** Kubernetes' decoder stops counting there. */
const problemsMax = 100;

function unknownField(path: string): string {
  return `unknown field ${JSON.stringify(path)}`;
}

/** Whether the path is one of them or is below one. */
function isBelow(path: string, opaque: ReadonlySet<string>): boolean {
  if (opaque.has(path)) return true;
  for (let at = 0; at < path.length; at++) {
    const char = path[at];
    if ((char === '.' || char === '[') && opaque.has(path.slice(0, at))) return true;
  }
  return false;
}
