import type { Call } from '../language/ast.ts';
import type { Overload } from '../types/declarations.ts';
import { type CelType, typeArgument } from '../types/types.ts';
import { compilePattern } from '../values/patterns.ts';
import {
  CelError,
  isError,
  isList,
  isMap,
  type MapValue,
  noSuchOverload,
  Optional,
  TypeValue,
  typeNameOf,
  type Value,
} from '../values/values.ts';
import type { Frame } from './frame.ts';
import { type PlanContext, type PlannedNode, UnplannableExpression } from './planned.ts';
import { runtimeCallCost } from './runtime-cost.ts';

/** Plans a function call: evaluate the arguments, then the function, then charge the cost. */
export function planCall(plan: PlanContext, call: Call, args: readonly PlannedNode[]): PlannedNode {
  const possible = plan.checked.overloadsOf(call);
  const only = possible.length === 1 ? possible[0] : undefined;
  const apply =
    only === undefined ? dispatchByValues(plan, call, possible) : withTypeCheck(call.function, only);
  checkConstantPattern(call.function, args);
  const first = args[0];
  if (conversions.has(call.function) && args.length === 1 && first?.constant !== undefined) {
    return foldedConstant(apply([first.constant]));
  }
  return { run: evaluateStrictly(call.function, only?.id ?? '', args, apply) };
}

type Apply = (args: readonly Value[]) => Value;

/** A conversion of a constant is a constant. */
const conversions: ReadonlySet<string> = new Set(
  'bool bytes double duration dyn int string timestamp type uint'.split(' '),
);

function foldedConstant(value: Value): PlannedNode {
  if (isError(value)) throw new UnplannableExpression(value.message);
  return { run: () => value, constant: value };
}

function checkConstantPattern(name: string, args: readonly PlannedNode[]): void {
  if (!hasConstantPattern(name, args)) return;
  const compiled = compilePattern(String(args[1]?.constant));
  if (compiled instanceof CelError) throw new UnplannableExpression(compiled.message);
}

function hasConstantPattern(name: string, args: readonly PlannedNode[]): boolean {
  return ['matches', 'find', 'findAll'].includes(name) && typeof args[1]?.constant === 'string';
}

/**
 * cel-go stops at the first error if it calls with a list of arguments, and arguments that it did not evaluate cost
 * nothing. With one or two arguments it evaluates all of them first.
 */
function evaluateStrictly(
  name: string,
  overload: string,
  args: readonly PlannedNode[],
  apply: Apply,
): PlannedNode['run'] {
  const stopsEarly = args.length > 2 || name === 'format' || hasConstantPattern(name, args);
  return (frame: Frame) => {
    const values: Value[] = [];
    let error: CelError | undefined;
    for (const arg of args) {
      const value = arg.run(frame);
      values.push(value);
      if (!isError(value) || name === '@not_strictly_false') continue;
      if (stopsEarly && values.length < args.length) return value;
      error ??= value;
    }
    const result = error ?? apply(values);
    frame.meter.charge(runtimeCallCost({ function: name, overload, args: values, result }));
    return result;
  };
}

function withTypeCheck(name: string, overload: Overload): Apply {
  const { run, isShared } = overload;
  if (run === undefined) return () => new CelError(`${noSuchOverload}: ${name}`);
  if (isShared) return (args) => run(...args);
  return (args) => (accepts(overload, args) ? run(...args) : noOverloadFor(name, args));
}

/** If the types were not known, the values select among all overloads. */
function dispatchByValues(plan: PlanContext, call: Call, possible: readonly Overload[]): Apply {
  const shared = possible.find((overload) => overload.isShared)?.run;
  if (shared !== undefined) return (args) => shared(...args);
  const overloads = plan.overloads(call.function);
  return (args) => {
    const chosen = overloads.find((overload) => overload.run !== undefined && accepts(overload, args));
    return chosen?.run?.(...args) ?? noOverloadFor(call.function, args);
  };
}

function noOverloadFor(name: string, args: readonly Value[]): Value {
  return new CelError(`${noSuchOverload}: ${name}(${args.map(typeNameOf).join(', ')})`);
}

function accepts(overload: Overload, args: readonly Value[]): boolean {
  return (
    overload.args.length === args.length &&
    overload.args.every((type, index) => acceptsValue(type, args[index] as Value))
  );
}

/** Checks only the first element. */
function acceptsValue(type: CelType, value: Value): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'param':
      return true;
    case 'list':
      return isList(value) && (value.size === 0 || acceptsValue(typeArgument(type), value.at(0)));
    case 'map':
      return isMap(value) && acceptsEntry(type, value);
    case 'type':
      return value instanceof TypeValue;
    case 'opaque':
      return type.name === 'optional_type' ? value instanceof Optional : typeNameOf(value) === type.name;
    default:
      return typeNameOf(value) === type.name;
  }
}

function acceptsEntry(type: CelType, map: MapValue): boolean {
  const [key] = map.keys();
  if (key === undefined) return true;
  return acceptsValue(typeArgument(type), key) && acceptsValue(typeArgument(type, 1), map.find(key) ?? null);
}
