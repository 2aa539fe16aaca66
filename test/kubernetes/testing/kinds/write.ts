/** A write to an object of `examples/kinds`. */
export interface Write {
  /** The example's file, without its ending. */
  readonly example: string;
  /** An object like the example without its status, a merge patch of it, or one of its status. */
  readonly by: 'create' | 'patch' | 'status';
  /** Merged into it; null removes. */
  readonly change: object;
}

/** A write that breaks one rule. */
export interface RefusedWrite extends Write {
  /** `field: sentence` of each cause. */
  readonly because: readonly string[];
  /** Where kube-apiserver 1.34 and 1.35 say it otherwise. */
  readonly becauseBefore136?: readonly string[];
}

/** Rules are not asked where the form of the object is wrong already. */
export const unchecked =
  '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

/** The largest whole number that JavaScript counts to, and our kinds take. */
export const bytesMax = 9_007_199_254_740_991;
export const gib = 2 ** 30;

/** A driver's object with one pool. */
export function poolOf(pool: object): object {
  return { status: { storage: [{ storageClassName: 'striped', pools: [{ name: 'zone-a', ...pool }] }] } };
}

/** A drive's whole ledger. */
export function ledgerOf(...sizes: readonly number[]): object {
  return { spec: { volumes: sizes.map((sizeBytes, index) => ({ name: `v${index}`, sizeBytes })) } };
}
