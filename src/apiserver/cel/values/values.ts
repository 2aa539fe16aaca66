import { codePointCount } from '../../../kube/go/quote.ts';

/**
 * The values of expressions. Plain JavaScript values where they have the same meaning:
 *
 *     int  bigint      double  number       string  string      bool  boolean
 *     null null        bytes   Uint8Array   uint    Uint        error CelError (a value: `false && error` is false)
 */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Uint
  | CelTimestamp
  | CelDuration
  | Optional
  | TypeValue
  | ListValue
  | MapValue
  | OpaqueValue
  | CelError;

export class CelError {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export class Uint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

export class CelDuration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A moment, and the offset of its text from UTC in seconds: printing it shows the same clock time. */
export class CelTimestamp {
  readonly epochNanos: bigint;
  readonly offsetSeconds: number;

  constructor(epochNanos: bigint, offsetSeconds = 0) {
    this.epochNanos = epochNanos;
    this.offsetSeconds = offsetSeconds;
  }
}

export class Optional {
  static readonly none = new Optional(undefined);

  readonly value: Value | undefined;

  constructor(value: Value | undefined) {
    this.value = value;
  }
}

export class TypeValue {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** A list; `at` is called only with indexes below the size. */
export interface ListValue {
  readonly kind: 'list';
  readonly size: number;
  at(index: number): Value;
  equals(other: ListValue): Value;
  concat(other: ListValue): Value;
}

export interface MapValue {
  readonly kind: 'map';
  readonly size: number;
  /** Undefined if there is no such key; an error if the key has an invalid type. */
  find(key: Value): Value | undefined;
  keys(): readonly Value[];
  equals(other: MapValue): Value;
}

/** A value of a library's own type: an address, a quantity, a version. */
export interface OpaqueValue {
  readonly kind: 'opaque';
  readonly typeName: string;
  /** For costs; 1 if it is not set. */
  readonly size?: number;
  equals(other: OpaqueValue): boolean;
  toString(): string;
}

export const noSuchOverload = 'no such overload';

export function isError(value: Value): value is CelError {
  return value instanceof CelError;
}

export function isList(value: Value): value is ListValue {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'list';
}

export function isMap(value: Value): value is MapValue {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'map';
}

export function isOpaque(value: Value): value is OpaqueValue {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'opaque';
}

export function itemsOf(list: ListValue): readonly Value[] {
  return Array.from({ length: list.size }, (_, index) => list.at(index));
}

export function typeNameOf(value: Value): string {
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    case 'number':
      return 'double';
    case 'string':
      return 'string';
    default:
      return typeNameOfObject(value);
  }
}

function typeNameOfObject(value: Exclude<Value, boolean | bigint | number | string>): string {
  if (value === null) return 'null_type';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof Uint) return 'uint';
  if (value instanceof CelTimestamp) return 'google.protobuf.Timestamp';
  if (value instanceof CelDuration) return 'google.protobuf.Duration';
  if (value instanceof Optional) return 'optional_type';
  if (value instanceof TypeValue) return 'type';
  if (value instanceof CelError) return 'error';
  return value.kind === 'opaque' ? value.typeName : value.kind;
}

/** The size of a value for costs: 1 for values without a size. */
export function valueSize(value: Value): number {
  if (typeof value === 'string') return codePointCount(value);
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof Optional) return value.value === undefined ? 1 : valueSize(value.value);
  if (isList(value) || isMap(value)) return value.size;
  return isOpaque(value) ? (value.size ?? 1) : 1;
}
