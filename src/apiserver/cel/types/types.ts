/** A type as the checker knows it. */
export interface Type {
  readonly kind: TypeKind;
  /** How values of it call themselves; for a parameter its name. */
  readonly name: string;
  readonly params: readonly Type[];
}

export type TypeKind =
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

const simple = (kind: TypeKind, name: string): Type => ({ kind, name, params: [] });

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

export function listOf(element: Type): Type {
  return { kind: 'list', name: 'list', params: [element] };
}

export function mapOf(key: Type, value: Type): Type {
  return { kind: 'map', name: 'map', params: [key, value] };
}

export function optionalOf(value: Type): Type {
  return { kind: 'opaque', name: 'optional_type', params: [value] };
}

export function structOf(name: string): Type {
  return { kind: 'struct', name, params: [] };
}

export function typeOf(param: Type): Type {
  return { kind: 'type', name: 'type', params: [param] };
}

export function paramOf(name: string): Type {
  return { kind: 'param', name, params: [] };
}

export function isOptionalType(type: Type): boolean {
  return type.kind === 'opaque' && type.name === 'optional_type';
}

export function elementOf(type: Type, index = 0): Type {
  return type.params[index] ?? types.dyn;
}

export function sameType(a: Type, b: Type): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.name !== b.name || a.params.length !== b.params.length) return false;
  return a.params.every((param, index) => sameType(param, elementOf(b, index)));
}

/** As error messages name it. */
export function formatType(type: Type): string {
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

/** The types of a call's arguments, as error messages name them. */
export function formatSignature(args: readonly Type[], isMember: boolean): string {
  const named = args.map(formatType);
  return isMember ? `${named[0]}.(${named.slice(1).join(', ')})` : `(${named.join(', ')})`;
}
