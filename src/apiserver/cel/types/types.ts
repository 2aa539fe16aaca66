/** A type, as the checker represents it. */
export interface CelType {
  readonly kind: CelTypeKind;
  /** The name that values of the type report; for a type parameter, its name. */
  readonly name: string;
  readonly params: readonly CelType[];
}

export type CelTypeKind =
  | 'dyn'
  | 'error'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'duration'
  | 'timestamp'
  | 'list'
  | 'map'
  | 'struct'
  | 'opaque'
  | 'type'
  | 'param';

const simple = (kind: CelTypeKind, name: string): CelType => ({ kind, name, params: [] });

export const types = {
  dyn: simple('dyn', 'dyn'),
  error: simple('error', '*error*'),
  null: simple('null', 'null_type'),
  bool: simple('bool', 'bool'),
  int: simple('int', 'int'),
  uint: simple('uint', 'uint'),
  double: simple('double', 'double'),
  string: simple('string', 'string'),
  bytes: simple('bytes', 'bytes'),
  duration: simple('duration', 'google.protobuf.Duration'),
  timestamp: simple('timestamp', 'google.protobuf.Timestamp'),
  type: simple('type', 'type'),
} as const;

export function listType(element: CelType): CelType {
  return { kind: 'list', name: 'list', params: [element] };
}

export function mapType(key: CelType, value: CelType): CelType {
  return { kind: 'map', name: 'map', params: [key, value] };
}

export function optionalType(value: CelType): CelType {
  return { kind: 'opaque', name: 'optional_type', params: [value] };
}

export function structType(name: string): CelType {
  return { kind: 'struct', name, params: [] };
}

export function typeType(param: CelType): CelType {
  return { kind: 'type', name: 'type', params: [param] };
}

export function paramType(name: string): CelType {
  return { kind: 'param', name, params: [] };
}

export function isOptionalType(type: CelType): boolean {
  return type.kind === 'opaque' && type.name === 'optional_type';
}

export function typeArgument(type: CelType, index = 0): CelType {
  return type.params[index] ?? types.dyn;
}

export function sameType(a: CelType, b: CelType): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.name !== b.name || a.params.length !== b.params.length) return false;
  return a.params.every((param, index) => sameType(param, typeArgument(b, index)));
}

/** The notation of error messages. */
export function formatType(type: CelType): string {
  switch (type.kind) {
    case 'duration':
    case 'timestamp':
    case 'null':
      return type.kind;
    case 'error':
      return '!error!';
    default:
      return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(formatType).join(', ')})`;
  }
}

/** The types of a call's arguments, in the notation of error messages. */
export function formatSignature(args: readonly CelType[], isMember: boolean): string {
  const named = args.map(formatType);
  return isMember ? `${named[0]}.(${named.slice(1).join(', ')})` : `(${named.join(', ')})`;
}
