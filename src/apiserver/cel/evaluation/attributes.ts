import { formatKey } from '../values/collections.ts';
import {
  CelError,
  isError,
  isList,
  isMap,
  type ListValue,
  Optional,
  typeNameOf,
  Uint,
  type Value,
} from '../values/values.ts';
import type { Evaluate, Frame } from './frame.ts';

/**
 * `self.spec.items[0]`: a start value and the path from there. cel-go counts costs by such attributes, so expressions
 * are divided in the same way here.
 */
export interface Attribute {
  add(qualifier: Qualifier): void;
  resolve(frame: Frame): Value;
}

/** One step of the path. */
export interface Qualifier {
  readonly key: Evaluate;
  readonly isOptional: boolean;
  /** Whether only the presence matters. */
  readonly testOnly: boolean;
}

/** Starts at a variable. */
export class VariableAttribute implements Attribute {
  readonly #name: string;
  readonly #qualifiers: Qualifier[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  add(qualifier: Qualifier): void {
    this.#qualifiers.push(qualifier);
  }

  resolve(frame: Frame): Value {
    const value = frame.find(this.#name);
    if (value === undefined) return new CelError(`no such attribute(s): ${this.#name}`);
    return isError(value) ? value : follow(frame, value, this.#qualifiers);
  }
}

/** Starts at the value of an expression. */
export class ComputedAttribute implements Attribute {
  readonly #operand: Evaluate;
  readonly #qualifiers: Qualifier[] = [];

  constructor(operand: Evaluate) {
    this.#operand = operand;
  }

  add(qualifier: Qualifier): void {
    this.#qualifiers.push(qualifier);
  }

  resolve(frame: Frame): Value {
    const value = this.#operand(frame);
    return isError(value) ? value : follow(frame, value, this.#qualifiers);
  }
}

/** `(a ? b : c).d` is `a ? b.d : c.d`. */
export class ConditionalAttribute implements Attribute {
  readonly #condition: Evaluate;
  readonly #whenTrue: Attribute;
  readonly #whenFalse: Attribute;

  constructor(condition: Evaluate, whenTrue: Attribute, whenFalse: Attribute) {
    this.#condition = condition;
    this.#whenTrue = whenTrue;
    this.#whenFalse = whenFalse;
  }

  add(qualifier: Qualifier): void {
    this.#whenTrue.add(qualifier);
    this.#whenFalse.add(qualifier);
  }

  resolve(frame: Frame): Value {
    const condition = this.#condition(frame);
    if (condition === true) return this.#whenTrue.resolve(frame);
    if (condition === false) return this.#whenFalse.resolve(frame);
    return isError(condition) ? condition : new CelError('no such overload');
  }
}

/** Once the path is optional it stays so: an absent value ends it, and a found value is wrapped in an optional. */
function follow(frame: Frame, start: Value, qualifiers: readonly Qualifier[]): Value {
  let value = start;
  let isOptional = start instanceof Optional;
  if (start instanceof Optional) {
    if (start.value === undefined) return start;
    if (qualifiers.length === 0) return start;
    value = start.value;
  }
  for (const qualifier of qualifiers) {
    isOptional ||= qualifier.isOptional;
    const next = advance(frame, value, qualifier, isOptional);
    if (next === undefined) return Optional.none;
    if (isError(next)) return next;
    value = next;
  }
  return isOptional ? new Optional(value) : value;
}

/** Undefined if an optional path ends. */
function advance(frame: Frame, from: Value, qualifier: Qualifier, isOptional: boolean): Value | undefined {
  const key = qualifier.key(frame);
  const isTest = isOptional || qualifier.testOnly;
  const found = isError(key) ? key : qualify(from, key, isTest);
  const isFound = found !== undefined && !isError(found);
  if (isFound || !isOptional) frame.meter.charge(1);
  if (found !== undefined && isError(found)) return found;
  if (!qualifier.testOnly) return found;
  if (isOptional) return found === undefined ? undefined : true;
  return found !== undefined;
}

/** Undefined if the value is absent and only its presence was asked for. */
function qualify(from: Value, key: Value, isTest: boolean): Value | undefined {
  if (isError(from)) return from;
  if (isMap(from)) {
    const found = from.find(key);
    if (found !== undefined || isTest) return found;
    return new CelError(`no such key: ${formatKey(key)}`);
  }
  if (isList(from)) return item(from, key, isTest);
  return isTest ? undefined : new CelError(`no such key: ${formatKey(key)}`);
}

function item(list: ListValue, key: Value, isTest: boolean): Value | undefined {
  const index = indexOf(key);
  if (index instanceof CelError) return index;
  if (index >= 0 && index < list.size) return list.at(index);
  return isTest ? undefined : new CelError(`index out of bounds: ${formatKey(key)}`);
}

function indexOf(key: Value): number | CelError {
  if (typeof key === 'bigint') return Number(key);
  if (typeof key === 'number' && Number.isInteger(key)) return key;
  if (key instanceof Uint) return Number(key.value);
  if (typeof key === 'number') return new CelError(`unsupported index value ${key} in list`);
  return new CelError(`unsupported index type '${typeNameOf(key)}' in list`);
}
