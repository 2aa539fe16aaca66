import { Uint, type Value } from '../values/values.ts';
import { type CelType, types } from './types.ts';

/** The type of a literal. */
export function literalType(value: Value): CelType {
  switch (typeof value) {
    case 'bigint':
      return types.int;
    case 'number':
      return types.double;
    case 'string':
      return types.string;
    case 'boolean':
      return types.bool;
    default:
      if (value === null) return types.null;
      return value instanceof Uint ? types.uint : types.bytes;
  }
}
