import type { ManagedFieldsEntry } from '../../kube/api/stored/meta.ts';
import { isEqualJson } from '../../kube/deep-equal.ts';
import type { Json } from '../../kube/go/json-value.ts';

/**
 * The old entries if the new ones differ from them only in times, so that a write which changes nothing else can be
 * recognized as no change; otherwise the new entries. Use it only for objects that are otherwise equal.
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
