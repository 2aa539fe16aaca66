import { isEqualJson } from '../../kube/deep-equal.ts';
import type { Json } from '../../kube/go/json-value.ts';
import type { ManagedFieldsEntry } from './managers.ts';

/**
 * The old entries where the new ones differ from them in times only, so that a write which changes nothing else can be
 * recognized as no change at all; else the new ones. Ask only for objects that are otherwise the same.
 */
export function withoutNewTimes(
  next: readonly ManagedFieldsEntry[] | undefined,
  old: readonly ManagedFieldsEntry[] | undefined,
): readonly ManagedFieldsEntry[] | undefined {
  if (next === undefined || old === undefined || next === old || next.length !== old.length) return next;
  return next.every((entry, i) => isEqualJson(timeless(entry), timeless(old[i]!))) ? old : next;
}

function timeless({ time: _, ...rest }: ManagedFieldsEntry): Json {
  return rest as Json;
}
