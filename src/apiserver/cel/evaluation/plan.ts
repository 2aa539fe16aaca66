import {
  type Call,
  type Comprehension,
  type Expr,
  type ListExpr,
  type MapExpr,
  operators,
} from '../language/ast.ts';
import { namedTypes } from '../types/environment.ts';
import { containsItem, PlainList, PlainMap } from '../values/collections.ts';
import { equals } from '../values/equality.ts';
import {
  CelError,
  isError,
  isList,
  noSuchOverload,
  Optional,
  TypeValue,
  typeNameOf,
  type Value,
} from '../values/values.ts';
import { type Attribute, ComputedAttribute, ConditionalAttribute, VariableAttribute } from './attributes.ts';
import { planCall } from './calls.ts';
import type { Evaluate, Frame } from './frame.ts';
import { planLoop } from './loops.ts';
import { type PlanContext, type PlannedNode, UnplannableExpression } from './planned.ts';
import { runtimeCallCost } from './runtime-cost.ts';

/** Compiles an expression to functions. */
export function planExpression(plan: PlanContext, expr: Expr): PlannedNode {
  switch (expr.kind) {
    case 'literal':
      return constant(expr.value);
    case 'ident':
      return planName(plan, expr, expr.name);
    case 'select':
      return planSelect(plan, expr);
    case 'call':
      return planCallExpr(plan, expr);
    case 'list':
      return planList(plan, expr);
    case 'map':
      return planMap(plan, expr);
    case 'struct':
      throw new UnplannableExpression(`unknown type: ${expr.typeName}`);
    case 'comprehension':
      return planComprehension(plan, expr);
  }
}

function constant(value: Value): PlannedNode {
  return { run: () => value, constant: value };
}

function planName(plan: PlanContext, expr: Expr, fallback: string): PlannedNode {
  const name = plan.checked.nameOf(expr) ?? fallback;
  if (plan.checked.typeOf(expr).kind !== 'type') return attributed(new VariableAttribute(name));
  const type = namedTypes.get(name);
  if (type === undefined) throw new UnplannableExpression(`reference to undefined type: ${name}`);
  return constant(new TypeValue(type.name));
}

/** An attribute costs one, and one for each of its steps; a choice between two attributes is free. */
function attributed(attribute: Attribute): PlannedNode {
  const isFree = attribute instanceof ConditionalAttribute;
  const run = (frame: Frame): Value => {
    const value = attribute.resolve(frame);
    if (!isFree) frame.meter.charge(1);
    return value;
  };
  return { run, attribute };
}

function attributeOf(planned: PlannedNode): Attribute {
  return planned.attribute ?? new ComputedAttribute(planned.run);
}

function planSelect(plan: PlanContext, expr: Expr & { readonly kind: 'select' }): PlannedNode {
  if (plan.checked.nameOf(expr) !== undefined) return planName(plan, expr, expr.field);
  const attribute = attributeOf(planExpression(plan, expr.operand));
  attribute.add({ key: () => expr.field, isOptional: false, testOnly: expr.testOnly });
  return expr.testOnly ? presence(attribute) : attributed(attribute);
}

function presence(attribute: Attribute): PlannedNode {
  const run = (frame: Frame): Value => {
    const value = attribute.resolve(frame);
    return value instanceof Optional ? value.value !== undefined : value;
  };
  return { run, attribute };
}

function planCallExpr(plan: PlanContext, call: Call): PlannedNode {
  const operands = call.target === undefined ? call.args : [call.target, ...call.args];
  const args = operands.map((arg) => planExpression(plan, arg));
  const special = specials[call.function];
  return special?.(plan, call, args) ?? planCall(plan, call, args);
}

type Special = (plan: PlanContext, call: Call, args: readonly PlannedNode[]) => PlannedNode | undefined;

const specials: Readonly<Record<string, Special>> = {
  [operators.and]: (_plan, _call, args) => logic(args, false),
  [operators.or]: (_plan, _call, args) => logic(args, true),
  [operators.conditional]: (_plan, _call, args) => conditional(args),
  [operators.equals]: (_plan, _call, args) => equality(args, operators.equals),
  [operators.notEquals]: (_plan, _call, args) => equality(args, operators.notEquals),
  [operators.index]: (_plan, _call, args) => index(args, false),
  [operators.optionalIndex]: (_plan, _call, args) => index(args, true),
  [operators.optionalSelect]: (_plan, _call, args) => index(args, true),
  [operators.in]: planMembership,
  or: (_plan, _call, args) => optionalOr(args, false),
  orValue: (_plan, _call, args) => optionalOr(args, true),
};

/** The deciding value wins even if another operand is an error. */
function logic(args: readonly PlannedNode[], deciding: boolean): PlannedNode {
  const run = (frame: Frame): Value => {
    let error: CelError | undefined;
    for (const arg of args) {
      const value = arg.run(frame);
      if (value === deciding) return deciding;
      if (typeof value !== 'boolean') error ??= isError(value) ? value : new CelError(noSuchOverload);
    }
    return error ?? !deciding;
  };
  return { run };
}

function conditional(args: readonly PlannedNode[]): PlannedNode {
  const [condition, whenTrue, whenFalse] = args as readonly [PlannedNode, PlannedNode, PlannedNode];
  const attribute = new ConditionalAttribute(condition.run, attributeOf(whenTrue), attributeOf(whenFalse));
  return attributed(attribute);
}

function equality(args: readonly PlannedNode[], name: string): PlannedNode {
  const [left, right] = args as readonly [PlannedNode, PlannedNode];
  const id = name === operators.equals ? 'equals' : 'not_equals';
  const run = (frame: Frame): Value => {
    const a = left.run(frame);
    const b = right.run(frame);
    const result = isError(a) ? a : isError(b) ? b : compared(a, b, name);
    frame.meter.charge(runtimeCallCost({ function: name, overload: id, args: [a, b], result }));
    return result;
  };
  return { run };
}

function compared(a: Value, b: Value, name: string): Value {
  const equal = equals(a, b);
  return name === operators.equals ? equal : equal !== true;
}

function index(args: readonly PlannedNode[], isOptional: boolean): PlannedNode {
  const [operand, key] = args as readonly [PlannedNode, PlannedNode];
  const attribute = attributeOf(operand);
  const keyAttribute = key.attribute;
  const resolve = keyAttribute === undefined ? key.run : (frame: Frame) => keyAttribute.resolve(frame);
  attribute.add({ key: resolve, isOptional, testOnly: false });
  return attributed(attribute);
}

/** A list of constants is a set: a lookup in it costs nothing. */
function planMembership(
  plan: PlanContext,
  call: Call,
  args: readonly PlannedNode[],
): PlannedNode | undefined {
  const [item, range] = args as readonly [PlannedNode, PlannedNode];
  const overloads = plan.checked.overloadsOf(call);
  const isInList = overloads.length === 1 && overloads[0]?.id === 'in_list';
  if (!isInList || range.constant === undefined || !isList(range.constant)) return undefined;
  const list = range.constant;
  if (list.size === 0) return constant(false);
  for (let at = 0; at < list.size; at++) {
    if (!['bool', 'int', 'uint', 'double', 'string'].includes(typeNameOf(list.at(at)))) return undefined;
  }
  const run = (frame: Frame): Value => {
    const value = item.run(frame);
    return isError(value) ? value : containsItem(list, value);
  };
  return { run };
}

function optionalOr(args: readonly PlannedNode[], unwrap: boolean): PlannedNode {
  const [left, right] = args as readonly [PlannedNode, PlannedNode];
  const run = (frame: Frame): Value => {
    const value = left.run(frame);
    if (!(value instanceof Optional)) return value;
    if (value.value === undefined) return right.run(frame);
    return unwrap ? value.value : value;
  };
  return { run };
}

const listCost = 10;
const mapCost = 30;

function planList(plan: PlanContext, { elements, optional }: ListExpr): PlannedNode {
  const items = elements.map((element) => planExpression(plan, element));
  const build = (frame: Frame): Value => {
    const values: Value[] = [];
    for (let at = 0; at < items.length; at++) {
      const value = (items[at] as PlannedNode).run(frame);
      if (isError(value)) return value;
      if (!optional.has(at)) values.push(value);
      else if (!(value instanceof Optional)) return new CelError(notOptional(value));
      else if (value.value !== undefined) values.push(value.value);
    }
    return new PlainList(values);
  };
  return aggregate(items, build, listCost);
}

function notOptional(value: Value): string {
  return `cannot initialize optional list element from non-optional value ${String(value)}`;
}

function planMap(plan: PlanContext, { entries }: MapExpr): PlannedNode {
  const planned = entries.map(({ key, value, optional }) => ({
    key: planExpression(plan, key),
    value: planExpression(plan, value),
    optional,
  }));
  const build = (frame: Frame): Value => {
    const pairs: [Value, Value][] = [];
    for (const { key, value, optional } of planned) {
      const keyValue = key.run(frame);
      if (isError(keyValue)) return keyValue;
      const valueValue = value.run(frame);
      if (isError(valueValue)) return valueValue;
      if (!optional) pairs.push([keyValue, valueValue]);
      else if (!(valueValue instanceof Optional)) {
        return new CelError(`cannot initialize optional entry '${String(keyValue)}' from non-optional value`);
      } else if (valueValue.value !== undefined) pairs.push([keyValue, valueValue.value]);
    }
    return PlainMap.of(pairs);
  };
  return aggregate(
    planned.flatMap(({ key, value }) => [key, value]),
    build,
    mapCost,
  );
}

function aggregate(parts: readonly PlannedNode[], build: Evaluate, cost: number): PlannedNode {
  if (parts.every((part) => part.constant !== undefined)) return constant(build(noFrame));
  const run = (frame: Frame): Value => {
    const value = build(frame);
    frame.meter.charge(cost);
    return value;
  };
  return { run };
}

/** For parts that use no variables. */
const noFrame = undefined as unknown as Frame;

function planComprehension(plan: PlanContext, expr: Comprehension): PlannedNode {
  return {
    run: planLoop(expr, {
      init: planExpression(plan, expr.init).run,
      range: planExpression(plan, expr.range).run,
      condition: planExpression(plan, expr.condition).run,
      step: planExpression(plan, expr.step).run,
      result: planExpression(plan, expr.result).run,
    }),
  };
}
