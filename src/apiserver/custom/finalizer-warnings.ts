import type { StoredObject } from '../kinds/served-kind.ts';
import { qualifiedNameProblems } from '../validation/names.ts';
import { standardFinalizers } from '../validation/object-meta.ts';

const avoid = 'to avoid accidental conflicts with other finalizer writers';

/** Warns about finalizer names without a domain, which may collide between programs. */
export function finalizerWarnings(object: StoredObject, old: StoredObject | undefined): readonly string[] {
  const known = new Set(old?.metadata.finalizers);
  const added = new Set((object.metadata.finalizers ?? []).filter((name) => !known.has(name)));
  return [...added].sort().flatMap((name) => {
    const field = `metadata.finalizers: ${JSON.stringify(name)}:`;
    const problems = qualifiedNameProblems(name).map((problem) => `${field} ${problem}`);
    if (name.includes('/') || standardFinalizers.includes(name)) return problems;
    const wanted = name.includes('.') ? ' including a path (/)' : '';
    return [...problems, `${field} prefer a domain-qualified finalizer name${wanted} ${avoid}`];
  });
}
