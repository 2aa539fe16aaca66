/** A write to an object of `examples/kinds`. */
export interface Write {
  /** The file name of the example, without its extension. */
  readonly example: string;
  /** Create an object like the example without its status, send a merge patch of it, or send a merge patch of its status. */
  readonly by: 'create' | 'patch' | 'status';
  /** Merged into the example; null removes a field. */
  readonly change: object;
}

/** A write that breaks one rule. */
export interface RefusedWrite extends Write {
  /** `field: sentence` of each cause. */
  readonly because: readonly string[];
  /** If kube-apiserver 1.34 and 1.35 have another message. */
  readonly becauseBefore136?: readonly string[];
}

/** Rules are not evaluated if the schema is already violated. */
export const unchecked =
  '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

/** The largest exact integer in JavaScript, and the largest that our kinds accept. */
export const bytesMax = 9_007_199_254_740_991;
export const gib = 2 ** 30;

/** A DriverCapacity object with one pool. */
export function poolOf(pool: object): object {
  return { status: { storage: [{ storageClassName: 'striped', pools: [{ name: 'zone-a', ...pool }] }] } };
}

/** The complete ledger of a drive. */
export function ledgerOf(...sizes: readonly number[]): object {
  return { spec: { volumes: sizes.map((sizeBytes, index) => ({ name: `v${index}`, sizeBytes })) } };
}
