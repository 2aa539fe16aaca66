import { accumulatorName, type Expr, operators } from './ast.ts';
import type { NodeFactory } from './node-factory.ts';

/** A call as it is written in the text. */
export interface MacroCall {
  readonly id: number;
  readonly name: string;
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
}

/** The error of a macro call, and the node that it is about. */
export interface MacroProblem {
  readonly id: number;
  readonly problem: string;
}

/** The expansion of a macro; undefined if the call is not a macro. */
export function expandMacro(nodes: NodeFactory, call: MacroCall): Expr | MacroProblem | undefined {
  const isMember = call.target !== undefined;
  const expand = macros.get(`${isMember ? '.' : ''}${call.name}/${call.args.length}`);
  return expand?.(new MacroNodes(nodes, call));
}

type Expand = (macro: MacroNodes) => Expr | MacroProblem;

/** Creates the nodes of an expansion. They all have the position of the macro's call. */
class MacroNodes {
  readonly nodes: NodeFactory;
  readonly call: MacroCall;
  readonly #offset: number;

  constructor(nodes: NodeFactory, call: MacroCall) {
    this.nodes = nodes;
    this.call = call;
    this.#offset = nodes.offsetOf(call.id);
  }

  get target(): Expr {
    return this.call.target as Expr;
  }

  arg(index: number): Expr {
    return this.call.args[index] as Expr;
  }

  id(): number {
    return this.nodes.id(this.#offset);
  }

  accumulator(): Expr {
    return this.nodes.accumulator(this.#offset);
  }

  literal(value: boolean | bigint): Expr {
    return this.nodes.literal(this.#offset, value);
  }

  invoke(name: string, ...args: readonly Expr[]): Expr {
    return this.nodes.call(this.id(), name, args);
  }

  invokeMember(name: string, target: Expr): Expr {
    return this.nodes.call(this.id(), name, [], target);
  }

  list(...elements: readonly Expr[]): Expr {
    return this.nodes.list(this.id(), elements);
  }
}

interface Loop {
  readonly variables: readonly [string, string?];
  readonly init: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result?: Expr;
}

function loop(macro: MacroNodes, { variables, init, condition, step, result }: Loop): Expr {
  return macro.nodes.comprehension(macro.id(), {
    range: macro.target,
    variable: variables[0],
    variable2: variables[1],
    accumulator: accumulatorName,
    init,
    condition,
    step,
    result: result ?? macro.accumulator(),
  });
}

function has(macro: MacroNodes): Expr | MacroProblem {
  const arg = macro.arg(0);
  if (arg.kind !== 'select') return { id: arg.id, problem: 'invalid argument to has() macro' };
  return macro.nodes.select(macro.id(), arg.operand, arg.field, true);
}

type Variables = readonly [string, string?];

/** The names that a macro binds, from its first one or two arguments. */
function variablesOf(macro: MacroNodes, count: 1 | 2, problem: string): Variables | MacroProblem {
  const names: string[] = [];
  for (let index = 0; index < count; index++) {
    const arg = macro.arg(index);
    if (arg.kind !== 'ident') return { id: arg.id, problem };
    names.push(arg.name);
  }
  if (count === 2 && names[0] === names[1]) {
    return { id: macro.arg(1).id, problem: `duplicate variable name: ${names[0]}` };
  }
  const taken = names.findIndex((name) => name === accumulatorName || name === '__result__');
  if (taken >= 0) {
    return { id: macro.arg(taken).id, problem: 'iteration variable overwrites accumulator variable' };
  }
  return names as unknown as Variables;
}

function quantifier(
  count: 1 | 2,
  make: (macro: MacroNodes, predicate: Expr) => Omit<Loop, 'variables'>,
): Expand {
  return (macro) => {
    const variables = variablesOf(macro, count, 'argument must be a simple name');
    if ('problem' in variables) return variables;
    return loop(macro, { variables, ...make(macro, macro.arg(count)) });
  };
}

const all = (macro: MacroNodes, predicate: Expr): Omit<Loop, 'variables'> => ({
  init: macro.literal(true),
  condition: macro.invoke(operators.notStrictlyFalse, macro.accumulator()),
  step: macro.invoke(operators.and, macro.accumulator(), predicate),
});

const exists = (macro: MacroNodes, predicate: Expr): Omit<Loop, 'variables'> => ({
  init: macro.literal(false),
  condition: macro.invoke(operators.notStrictlyFalse, macro.invoke(operators.not, macro.accumulator())),
  step: macro.invoke(operators.or, macro.accumulator(), predicate),
});

const existsOne = (macro: MacroNodes, predicate: Expr): Omit<Loop, 'variables'> => {
  const counted = macro.invoke(operators.add, macro.accumulator(), macro.literal(1n));
  return {
    init: macro.literal(0n),
    condition: macro.literal(true),
    step: macro.invoke(operators.conditional, predicate, counted, macro.accumulator()),
    result: macro.invoke(operators.equals, macro.accumulator(), macro.literal(1n)),
  };
};

/** `map`, `filter` and the transforming macros: they add something to the accumulator for each element that passes. */
function accumulating(
  options: { readonly count: 1 | 2; readonly filtered: boolean; readonly problem: string },
  parts: {
    readonly init: (macro: MacroNodes) => Expr;
    readonly add: (macro: MacroNodes, variables: Variables) => Expr;
  },
): Expand {
  return (macro) => {
    const variables = variablesOf(macro, options.count, options.problem);
    if ('problem' in variables) return variables;
    const added = parts.add(macro, variables);
    const step = options.filtered
      ? macro.invoke(operators.conditional, macro.arg(options.count), added, macro.accumulator())
      : added;
    return loop(macro, { variables, init: parts.init(macro), condition: macro.literal(true), step });
  };
}

const notAnIdentifier = 'argument is not an identifier';
const notASimpleName = 'argument must be a simple name';
const emptyList = (macro: MacroNodes): Expr => macro.list();
const emptyMap = (macro: MacroNodes): Expr => macro.nodes.map(macro.id(), []);

function transformToList(count: 1 | 2, filtered: boolean): Expand {
  const problem = count === 1 ? notAnIdentifier : notASimpleName;
  const value = count + (filtered ? 1 : 0);
  return accumulating(
    { count, filtered, problem },
    {
      init: emptyList,
      add: (macro) => macro.invoke(operators.add, macro.accumulator(), macro.list(macro.arg(value))),
    },
  );
}

const filter = accumulating(
  { count: 1, filtered: true, problem: notAnIdentifier },
  {
    init: emptyList,
    add: (macro) => macro.invoke(operators.add, macro.accumulator(), macro.list(macro.arg(0))),
  },
);

function transformToMap(filtered: boolean, withKey: boolean): Expand {
  return accumulating(
    { count: 2, filtered, problem: notASimpleName },
    {
      init: emptyMap,
      add: (macro, [key]) => {
        const keys = withKey ? [macro.nodes.ident(macro.id(), key)] : [];
        return macro.invoke('cel.@mapInsert', macro.accumulator(), ...keys, macro.arg(filtered ? 3 : 2));
      },
    },
  );
}

/** Binds the value of an optional to a name, by a loop over an empty list. */
function optional(name: 'optMap' | 'optFlatMap'): Expand {
  return (macro) => {
    const variable = macro.arg(0);
    if (variable.kind !== 'ident') {
      return { id: variable.id, problem: `${name}() variable name must be a simple identifier` };
    }
    const hasValue = macro.invokeMember('hasValue', macro.target);
    const bound = macro.nodes.comprehension(macro.id(), {
      range: macro.list(),
      variable: '#unused',
      variable2: undefined,
      accumulator: variable.name,
      init: macro.invokeMember('value', macro.nodes.copy(macro.target)),
      condition: macro.literal(false),
      step: macro.nodes.ident(macro.id(), variable.name),
      result: macro.arg(1),
    });
    const present = name === 'optMap' ? macro.invoke('optional.of', bound) : bound;
    return macro.invoke(operators.conditional, hasValue, present, macro.invoke('optional.none'));
  };
}

/** Sorts a list by keys that are computed first; the list is bound to a name so that it is computed once. */
function sortBy(macro: MacroNodes): Expr | MacroProblem {
  if (!['select', 'ident', 'comprehension', 'list', 'call'].includes(macro.target.kind)) {
    return {
      id: macro.target.id,
      problem: 'sortBy can only be applied to a list, identifier, comprehension, call or select expression',
    };
  }
  const variables = variablesOf(macro, 1, notAnIdentifier);
  if ('problem' in variables) return variables;
  const bound = '@__sortBy_input__';
  const ident = (): Expr => macro.nodes.ident(macro.id(), bound);
  const keys = macro.nodes.comprehension(macro.id(), {
    range: ident(),
    variable: variables[0],
    variable2: undefined,
    accumulator: accumulatorName,
    init: macro.list(),
    condition: macro.literal(true),
    step: macro.invoke(operators.add, macro.accumulator(), macro.list(macro.arg(1))),
    result: macro.accumulator(),
  });
  return macro.nodes.comprehension(macro.id(), {
    range: macro.list(),
    variable: '#unused',
    variable2: undefined,
    accumulator: bound,
    init: macro.target,
    condition: macro.literal(false),
    step: ident(),
    result: macro.nodes.call(macro.id(), '@sortByAssociatedKeys', [keys], ident()),
  });
}

const macros: ReadonlyMap<string, Expand> = new Map<string, Expand>([
  ['has/1', has],
  ['.all/2', quantifier(1, all)],
  ['.exists/2', quantifier(1, exists)],
  ['.exists_one/2', quantifier(1, existsOne)],
  ['.map/2', transformToList(1, false)],
  ['.map/3', transformToList(1, true)],
  ['.filter/2', filter],
  ['.optMap/2', optional('optMap')],
  ['.optFlatMap/2', optional('optFlatMap')],
  ['.all/3', quantifier(2, all)],
  ['.exists/3', quantifier(2, exists)],
  ['.exists_one/3', quantifier(2, existsOne)],
  ['.existsOne/3', quantifier(2, existsOne)],
  ['.transformList/3', transformToList(2, false)],
  ['.transformList/4', transformToList(2, true)],
  ['.transformMap/3', transformToMap(false, true)],
  ['.transformMap/4', transformToMap(true, true)],
  ['.transformMapEntry/3', transformToMap(false, false)],
  ['.transformMapEntry/4', transformToMap(true, false)],
  ['.sortBy/2', sortBy],
]);
