import type { Functions } from './declarations.ts';
import { type CelType, listType, mapType, paramType, types, typeType } from './types.ts';

/** The names that an expression can refer to. */
export interface Environment {
  readonly functions: Functions;
  readonly variables: ReadonlyMap<string, CelType>;
  /** The fields of a struct type; undefined for an unknown type. */
  fieldsOf(typeName: string): ReadonlyMap<string, CelType> | undefined;
}

/** The types that have a name in every expression. */
export const namedTypes: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ['bool', types.bool],
  ['bytes', types.bytes],
  ['double', types.double],
  ['google.protobuf.Duration', types.duration],
  ['int', types.int],
  ['list', listType(paramType('A'))],
  ['map', mapType(paramType('A'), paramType('B'))],
  ['null_type', types.null],
  ['string', types.string],
  ['google.protobuf.Timestamp', types.timestamp],
  ['type', types.type],
  ['uint', types.uint],
  ['optional_type', { kind: 'opaque', name: 'optional_type', params: [paramType('V')] }],
  ['net.IP', { kind: 'opaque', name: 'net.IP', params: [] }],
  ['net.CIDR', { kind: 'opaque', name: 'net.CIDR', params: [] }],
]);

/** The names within an expression: variables of comprehensions hide outer names. */
export class NameScope {
  readonly #outer: NameScope | undefined;
  readonly #names = new Map<string, CelType>();

  constructor(outer?: NameScope) {
    this.#outer = outer;
  }

  declare(name: string, type: CelType): void {
    this.#names.set(name, type);
  }

  find(name: string): CelType | undefined {
    return this.#names.get(name) ?? this.#outer?.find(name);
  }

  static of({ variables }: Environment): NameScope {
    const scope = new NameScope();
    for (const [name, type] of namedTypes) scope.declare(name, typeType(type));
    for (const [name, type] of variables) scope.declare(name, type);
    return scope;
  }
}
