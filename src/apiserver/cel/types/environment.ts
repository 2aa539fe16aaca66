import type { Functions } from './declarations.ts';
import { listOf, mapOf, paramOf, type Type, typeOf, types } from './types.ts';

/** What an expression can refer to. */
export interface Environment {
  readonly functions: Functions;
  readonly variables: ReadonlyMap<string, Type>;
  /** The fields of a struct type; undefined for a type that is not known. */
  fieldsOf(typeName: string): ReadonlyMap<string, Type> | undefined;
}

/** The types that have a name of their own in every expression. */
export const namedTypes: ReadonlyMap<string, Type> = new Map<string, Type>([
  ['bool', types.bool],
  ['bytes', types.bytes],
  ['double', types.double],
  ['google.protobuf.Duration', types.duration],
  ['int', types.int],
  ['list', listOf(paramOf('A'))],
  ['map', mapOf(paramOf('A'), paramOf('B'))],
  ['null_type', types.null],
  ['string', types.string],
  ['google.protobuf.Timestamp', types.timestamp],
  ['type', types.type],
  ['uint', types.uint],
  ['optional_type', { kind: 'opaque', name: 'optional_type', params: [paramOf('V')] }],
  ['net.IP', { kind: 'opaque', name: 'net.IP', params: [] }],
  ['net.CIDR', { kind: 'opaque', name: 'net.CIDR', params: [] }],
]);

/** Names inside an expression: variables of comprehensions hide what is outside. */
export class Scope {
  readonly #outer: Scope | undefined;
  readonly #names = new Map<string, Type>();

  constructor(outer?: Scope) {
    this.#outer = outer;
  }

  declare(name: string, type: Type): void {
    this.#names.set(name, type);
  }

  find(name: string): Type | undefined {
    return this.#names.get(name) ?? this.#outer?.find(name);
  }

  static of({ variables }: Environment): Scope {
    const scope = new Scope();
    for (const [name, type] of namedTypes) scope.declare(name, typeOf(type));
    for (const [name, type] of variables) scope.declare(name, type);
    return scope;
  }
}
