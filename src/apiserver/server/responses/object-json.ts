import type { ObjectSnapshot } from '../../registry/registry.ts';

/**
 * The complete JSON of an object. A snapshot's JSON begins with `{"metadata":` and omits kind and apiVersion, as items
 * of a list do; for a single object they are put in front.
 */
export function objectJson({ kind, apiVersion, json }: ObjectSnapshot): readonly Uint8Array[] {
  return [headOf(kind, apiVersion), json.subarray(1)];
}

/** Bounded by the number of kinds. */
const heads = new Map<string, Buffer>();

function headOf(kind: string, apiVersion: string): Buffer {
  const key = `${apiVersion}/${kind}`;
  const known = heads.get(key);
  if (known !== undefined) return known;
  const head = Buffer.from(`{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`);
  heads.set(key, head);
  return head;
}
