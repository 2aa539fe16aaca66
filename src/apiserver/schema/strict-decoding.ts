import { diagnose } from './diagnose.ts';
import { type FieldPath, PathTable, ReportedPaths } from './field-path.ts';
import type { JsonDocument } from './json-reader.ts';
import type { Typed } from './object-form.ts';

/**
 * The problems that a strict decoder reports for a body: unknown fields and duplicate keys, in the order of the text.
 * Duplicates below unknown fields, and within values that contain arbitrary JSON, are not reported. For a custom
 * resource the duplicates come first, because pruning finds its unknown fields after decoding.
 */
export function strictDecodingProblems(
  { type, form }: Typed,
  document: JsonDocument,
  unknownFields: readonly string[],
): readonly string[] {
  if (document.duplicates.length === 0) return unknownFields.map(unknownField);
  if (form !== undefined) {
    return [...duplicateFields(document.duplicates), ...unknownFields.map(unknownField)].slice(
      0,
      problemsMax,
    );
  }
  const { unknownPaths, opaquePaths } = diagnose(type, document.value);
  const unknown = unknownPaths.map((path) => ({ path, position: document.order.get(path), what: 'unknown' }));
  const duplicates = reportable(document.duplicates, opaquePaths).map((each) => ({
    ...each,
    what: 'duplicate',
  }));
  const sorted = [...unknown, ...duplicates].sort((a, b) => rank(a.position) - rank(b.position));
  const reported = new ReportedPaths(problemsMax);
  for (const { path, what } of sorted) reported.add(path, `${what} field `);
  return reported.texts.map(withQuotedPath);
}

/** `duplicate field "spec.foo"` for each path, without repetitions. */
export function duplicateFields(duplicates: JsonDocument['duplicates']): readonly string[] {
  const reported = new ReportedPaths(problemsMax);
  for (const { path } of duplicates) reported.add(path, 'duplicate field ');
  return reported.texts.map(withQuotedPath);
}

/** Kubernetes' decoder stops counting there. */
const problemsMax = 100;

function rank(position: number | undefined): number {
  return position ?? Number.MAX_SAFE_INTEGER;
}

function unknownField(path: string): string {
  return `unknown field ${JSON.stringify(path)}`;
}

function withQuotedPath(text: string): string {
  const at = text.indexOf(' field ') + ' field '.length;
  return text.slice(0, at) + JSON.stringify(text.slice(at));
}

/** The duplicates that are neither at nor below an opaque path. */
function reportable(
  duplicates: JsonDocument['duplicates'],
  opaquePaths: readonly FieldPath[],
): JsonDocument['duplicates'] {
  const opaque = new PathTable<true>();
  for (const path of opaquePaths) opaque.add(path, true);
  const known = new Map<FieldPath, boolean>();
  const isOpaque = (path: FieldPath): boolean => {
    const found = known.get(path);
    if (found !== undefined) return found;
    const result = opaque.get(path) === true || (path.parent !== undefined && isOpaque(path.parent));
    known.set(path, result);
    return result;
  };
  return duplicates.filter(({ path }) => !isOpaque(path));
}
