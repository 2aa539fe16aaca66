import type { ObjectSnapshot } from '../../registry/registry.ts';

/**
 * The JSON of an object as a whole. A snapshot's own JSON begins with `{"metadata":` and leaves kind and apiVersion out, as
 * items of a list do; for an object alone they are put before it.
 */
export function objectJson({ kind, apiVersion, json }: ObjectSnapshot): readonly Uint8Array[] {
  return [headOf(kind, apiVersion), json.subarray(1)];
}

export interface ListHead {
  /** Of the list: `PodList`. */
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: object;
}

/** A list whose items are given as JSON, without copying them. */
export function listJson(
  { kind, apiVersion, metadata }: ListHead,
  items: readonly Uint8Array[],
): Uint8Array[] {
  const pieces: Uint8Array[] = [
    headOf(kind, apiVersion),
    Buffer.from(`"metadata":${JSON.stringify(metadata)},"items":[`),
  ];
  items.forEach((item, index) => {
    if (index > 0) pieces.push(comma);
    pieces.push(item);
  });
  pieces.push(listEnd);
  return pieces;
}

const comma = Buffer.from(',');
const listEnd = Buffer.from(']}');

/** There are as many of these as kinds. */
const heads = new Map<string, Buffer>();

function headOf(kind: string, apiVersion: string): Buffer {
  const key = `${apiVersion}/${kind}`;
  const known = heads.get(key);
  if (known !== undefined) return known;
  const head = Buffer.from(`{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`);
  heads.set(key, head);
  return head;
}
