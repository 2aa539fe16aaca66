import type { Value } from '../values/values.ts';
import {
  type CelType,
  listType,
  mapType,
  optionalType,
  paramType,
  structType,
  types,
  typeType,
} from './types.ts';

/** One overload of a function. */
export interface Overload {
  readonly id: string;
  readonly isMember: boolean;
  readonly args: readonly CelType[];
  readonly result: CelType;
  readonly typeParams: readonly string[];
  readonly run: Implementation | undefined;
  /** Whether the implementation checks the types of its arguments itself, for all overloads of the function. */
  readonly isShared: boolean;
}

export type Implementation = (...args: Value[]) => Value;

export type Functions = ReadonlyMap<string, readonly Overload[]>;

/** A library: signatures of functions and their implementations. */
export interface FunctionLibrary {
  /**
   * One overload a line: name (with a dot in front for members), id, types of arguments, result:
   *
   *     .substring  string_substring_int  (string, int) -> string
   */
  readonly signatures: string;
  /** Keyed by overload id. An implementation under the name of a function applies to all its overloads. */
  readonly implementations: Readonly<Record<string, Implementation>>;
}

/** Overloads are tried in the order of their declaration. */
export function declareFunctions(libraries: readonly FunctionLibrary[]): Functions {
  const functions = new Map<string, Overload[]>();
  for (const library of libraries) {
    for (const line of library.signatures.split('\n')) {
      if (line.trim() !== '') addOverload(functions, line.trim(), library.implementations);
    }
  }
  return functions;
}

function addOverload(
  functions: Map<string, Overload[]>,
  line: string,
  implementations: FunctionLibrary['implementations'],
): void {
  const [, declared = '', id = '', args = '', result = ''] =
    /^(\S+)\s+(\S+)\s+\((.*)\) -> (.*)$/.exec(line) ?? [];
  const isMember = declared.startsWith('.');
  const name = isMember ? declared.slice(1) : declared;
  const argTypes = parseTypes(args);
  const resultType = parseType(result);
  const overloads = functions.get(name) ?? [];
  overloads.push({
    id,
    isMember,
    args: argTypes,
    result: resultType,
    typeParams: [...new Set([...argTypes, resultType].flatMap(paramsIn))],
    run: implementations[id] ?? implementations[name],
    isShared: implementations[id] === undefined,
  });
  functions.set(name, overloads);
}

function paramsIn(type: CelType): readonly string[] {
  return type.kind === 'param' ? [type.name] : type.params.flatMap(paramsIn);
}

const named: Readonly<Record<string, CelType>> = {
  dyn: types.dyn,
  bool: types.bool,
  int: types.int,
  uint: types.uint,
  double: types.double,
  string: types.string,
  bytes: types.bytes,
  duration: types.duration,
  timestamp: types.timestamp,
  type: types.type,
  'net.IP': { kind: 'opaque', name: 'net.IP', params: [] },
  'net.CIDR': { kind: 'opaque', name: 'net.CIDR', params: [] },
};

/** Parses `map(string, list(A))`. Single capital letters are type parameters. */
function parseType(text: string): CelType {
  const open = text.indexOf('(');
  if (open < 0) return named[text] ?? (/^[A-Z]$/.test(text) ? paramType(text) : structType(text));
  const params = parseTypes(text.slice(open + 1, -1));
  const [first = types.dyn, second = types.dyn] = params;
  switch (text.slice(0, open)) {
    case 'list':
      return listType(first);
    case 'map':
      return mapType(first, second);
    case 'type':
      return typeType(first);
    default:
      return optionalType(first);
  }
}

function parseTypes(text: string): readonly CelType[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index <= text.length; index++) {
    const letter = text[index];
    if (letter === '(') depth++;
    if (letter === ')') depth--;
    if (letter === undefined || (letter === ',' && depth === 0)) {
      parts.push(text.slice(start, index).trim());
      start = index + 1;
    }
  }
  return parts.filter((part) => part !== '').map(parseType);
}
