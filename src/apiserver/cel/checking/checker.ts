import type { StructExpr } from '../language/ast.ts';
import {
  type Call,
  type Comprehension,
  type Expr,
  type ListExpr,
  type MapExpr,
  operators,
} from '../language/ast.ts';
import type { ParsedExpression } from '../language/parser.ts';
import type { Overload } from '../types/declarations.ts';
import { type Environment, NameScope } from '../types/environment.ts';
import { literalType } from '../types/literal-type.ts';
import {
  type CelType,
  formatSignature,
  formatType,
  isOptionalType,
  listType,
  mapType,
  optionalType,
  typeArgument,
  types,
} from '../types/types.ts';
import { instantiate, mostGeneral, Substitutions } from './assignability.ts';

/** A type-checked expression. */
export interface CheckedExpression {
  readonly expr: Expr;
  readonly resultType: CelType;
  typeOf(expr: Expr): CelType;
  /** The name of a variable or type that the node refers to. */
  nameOf(expr: Expr): string | undefined;
  /** The overloads that are possible here: several if the types are known only at run time. */
  overloadsOf(call: Expr): readonly Overload[];
}

/** Undefined if the types do not match; the issues say why. */
export function checkExpression(
  parsed: ParsedExpression,
  environment: Environment,
): CheckedExpression | undefined {
  if (parsed.expr === undefined) return undefined;
  const checker = new Checker(parsed, environment);
  return checker.run(parsed.expr);
}

class Checker {
  readonly #parsed: ParsedExpression;
  readonly #environment: Environment;
  readonly #types = new Map<number, CelType>();
  readonly #names = new Map<number, string>();
  readonly #overloads = new Map<number, readonly Overload[]>();
  readonly #known = new Substitutions();
  #scope: NameScope;

  constructor(parsed: ParsedExpression, environment: Environment) {
    this.#parsed = parsed;
    this.#environment = environment;
    this.#scope = NameScope.of(environment);
  }

  run(expr: Expr): CheckedExpression | undefined {
    this.#check(expr);
    if (this.#parsed.issues.count > 0) return undefined;
    for (const [id, type] of this.#types) this.#types.set(id, this.#known.substitute(type, true));
    return {
      expr,
      resultType: this.#type(expr),
      typeOf: (node) => this.#type(node),
      nameOf: (node) => this.#names.get(node.id),
      overloadsOf: (call) => this.#overloads.get(call.id) ?? [],
    };
  }

  #check(expr: Expr): void {
    switch (expr.kind) {
      case 'literal':
        this.#set(expr, literalType(expr.value));
        return;
      case 'ident':
        this.#checkIdent(expr, expr.name);
        return;
      case 'select':
        this.#checkSelect(expr);
        return;
      case 'call':
        this.#checkCall(expr);
        return;
      case 'list':
        this.#checkList(expr);
        return;
      case 'map':
        this.#checkMap(expr);
        return;
      case 'struct':
        this.#checkStruct(expr);
        return;
      case 'comprehension':
        this.#checkComprehension(expr);
        return;
    }
  }

  #checkIdent(expr: Expr, name: string): void {
    const type = this.#lookUp(name);
    if (type === undefined) {
      this.#report(expr, undeclared(name));
      this.#set(expr, types.error);
      return;
    }
    this.#set(expr, type);
    this.#names.set(expr.id, withoutDot(name));
  }

  #checkSelect(expr: Expr & { readonly kind: 'select' }): void {
    const qualified = qualifiedName(expr);
    const type = qualified === undefined ? undefined : this.#lookUp(qualified);
    if (type !== undefined && qualified !== undefined) {
      this.#set(expr, type);
      this.#names.set(expr.id, withoutDot(qualified));
      return;
    }
    const result = this.#checkField(expr, expr.operand, { field: expr.field, isOptional: false });
    this.#set(expr, expr.testOnly ? types.bool : this.#known.substitute(result));
  }

  #checkField(
    expr: Expr,
    operand: Expr,
    { field, isOptional }: { readonly field: string; readonly isOptional: boolean },
  ): CelType {
    this.#check(operand);
    const operandType = this.#known.substitute(this.#type(operand));
    const isOptionalOperand = isOptionalType(operandType);
    const target = isOptionalOperand ? typeArgument(operandType) : operandType;
    const result = this.#fieldType(expr, target, field);
    return isOptionalOperand || isOptional ? optionalType(result) : result;
  }

  #fieldType(expr: Expr, target: CelType, field: string): CelType {
    switch (target.kind) {
      case 'map':
        return typeArgument(target, 1);
      case 'struct':
        return this.#structField(expr, target.name, field);
      case 'param':
        this.#known.assignable(types.dyn, target);
        return types.dyn;
      case 'dyn':
      case 'error':
        return types.dyn;
      default:
        this.#report(expr, `type '${formatType(target)}' does not support field selection`);
        return types.dyn;
    }
  }

  #structField(at: { readonly id: number }, typeName: string, field: string): CelType {
    const fields = this.#environment.fieldsOf(typeName);
    const type = fields?.get(field) ?? fields?.get(`__${field}__`);
    if (fields === undefined) this.#report(at, `unexpected failed resolution of '${typeName}'`);
    else if (type === undefined) this.#report(at, `undefined field '${field}'`);
    return type ?? types.error;
  }

  #checkCall(call: Call): void {
    if (call.function === operators.optionalSelect) {
      this.#checkOptionalSelect(call);
      return;
    }
    for (const arg of call.args) this.#check(arg);
    if (call.target === undefined) {
      const name = withoutDot(call.function);
      if (!this.#environment.functions.has(name)) {
        this.#undeclaredFunction(call);
        return;
      }
      call.function = name;
      this.#resolve(call);
      return;
    }
    const qualified = qualifiedName(call.target);
    const name = qualified === undefined ? undefined : withoutDot(`${qualified}.${call.function}`);
    if (name !== undefined && this.#environment.functions.has(name)) {
      call.function = name;
      call.target = undefined;
      this.#resolve(call);
      return;
    }
    this.#check(call.target);
    if (!this.#environment.functions.has(call.function)) {
      this.#undeclaredFunction(call);
      return;
    }
    this.#resolve(call);
  }

  #checkOptionalSelect(call: Call): void {
    const [operand, field] = call.args as readonly [Expr, Expr];
    const name = field.kind === 'literal' ? String(field.value) : '';
    const result = this.#checkField(call, operand, { field: name, isOptional: true });
    this.#set(field, types.string);
    this.#set(call, this.#known.substitute(result));
    this.#overloads.set(call.id, this.#environment.functions.get(operators.optionalSelect) ?? []);
  }

  #undeclaredFunction(call: Call): void {
    this.#report(call, undeclared(call.function));
    this.#set(call, types.error);
  }

  #resolve(call: Call): void {
    const isMember = call.target !== undefined;
    const args = call.target === undefined ? call.args : [call.target, ...call.args];
    const argTypes = args.map((arg) => this.#type(arg));
    const overloads = this.#environment.functions.get(call.function) ?? [];
    if (call.function === operators.and || call.function === operators.or) {
      this.#checkLogic(call, overloads);
      return;
    }
    const matching: Overload[] = [];
    let result: CelType | undefined;
    for (const overload of overloads) {
      if (overload.isMember !== isMember) continue;
      const fresh = new Map(overload.typeParams.map((name) => [name, this.#known.fresh()]));
      const wanted = overload.args.map((arg) => instantiate(arg, fresh));
      if (!this.#known.assignableLists(argTypes, wanted)) continue;
      matching.push(overload);
      const own = this.#known.substitute(instantiate(overload.result, fresh));
      result = result === undefined || formatType(result) === formatType(own) ? (result ?? own) : types.dyn;
    }
    if (result === undefined) {
      const shown = argTypes.map((type) => this.#known.substitute(type, true));
      const signature = formatSignature(shown, isMember);
      this.#report(call, `found no matching overload for '${call.function}' applied to '${signature}'`);
    }
    this.#overloads.set(call.id, matching);
    this.#set(call, result ?? types.error);
  }

  #checkLogic(call: Call, overloads: readonly Overload[]): void {
    let fits = true;
    for (const arg of call.args) {
      if (this.#known.assignable(this.#type(arg), types.bool)) continue;
      this.#mismatch(arg, types.bool, this.#type(arg));
      fits = false;
    }
    this.#overloads.set(call.id, overloads);
    this.#set(call, fits ? types.bool : types.error);
  }

  #checkList(expr: ListExpr): void {
    let element: CelType | undefined;
    expr.elements.forEach((item, index) => {
      this.#check(item);
      const type = this.#present(item, expr.optional.has(index));
      element = this.#join(element, type);
    });
    this.#set(expr, listType(element ?? this.#known.fresh()));
  }

  #checkMap(expr: MapExpr): void {
    let key: CelType | undefined;
    let value: CelType | undefined;
    for (const entry of expr.entries) {
      this.#check(entry.key);
      key = this.#join(key, this.#type(entry.key));
      this.#check(entry.value);
      value = this.#join(value, this.#present(entry.value, entry.optional));
    }
    this.#set(expr, mapType(key ?? this.#known.fresh(), value ?? this.#known.fresh()));
  }

  /** The type of an element; for one that is written `?e`, the type of the optional's value. */
  #present(item: Expr, isOptional: boolean): CelType {
    const type = this.#type(item);
    if (!isOptional) return type;
    if (isOptionalType(type)) return typeArgument(type);
    if (type.kind !== 'dyn') this.#mismatch(item, optionalType(type), type);
    return type;
  }

  #checkStruct(expr: StructExpr): void {
    const found = this.#lookUp(expr.typeName);
    let result: CelType = types.error;
    if (found === undefined) this.#report(expr, undeclared(expr.typeName));
    else if (found.kind !== 'type') this.#report(expr, `'${found.name}' is not a type`);
    else if (typeArgument(found).kind === 'struct') result = typeArgument(found);
    else this.#report(expr, `'${formatType(typeArgument(found))}' is not a message type`);
    this.#set(expr, result);
    if (found === undefined) return;
    for (const field of expr.fields) {
      this.#check(field.value);
      const wanted =
        result.kind === 'struct' ? this.#structField(field, result.name, field.name) : types.error;
      const given = this.#present(field.value, field.optional);
      if (this.#known.assignable(wanted, given)) continue;
      const message = `expected type of field '${field.name}' is '${formatType(wanted)}' but provided type is`;
      this.#report(field, `${message} '${formatType(given)}'`);
    }
  }

  #checkComprehension(expr: Comprehension): void {
    this.#check(expr.range);
    this.#check(expr.init);
    const accumulated = this.#type(expr.init);
    const outer = this.#scope;
    const middle = new NameScope(outer);
    middle.declare(expr.accumulator, accumulated);
    this.#scope = new NameScope(middle);
    this.#declareVariables(expr);
    this.#check(expr.condition);
    this.#assert(expr.condition, types.bool);
    this.#check(expr.step);
    this.#assert(expr.step, accumulated);
    this.#scope = middle;
    this.#check(expr.result);
    this.#scope = outer;
    this.#set(expr, this.#known.substitute(this.#type(expr.result)));
  }

  #declareVariables({ range, variable, variable2 }: Comprehension): void {
    const [first, second] = this.#iterated(range, variable2 !== undefined);
    this.#scope.declare(variable, first);
    if (variable2 !== undefined) this.#scope.declare(variable2, second);
  }

  #iterated(range: Expr, hasTwo: boolean): readonly [CelType, CelType] {
    const type = this.#known.substitute(this.#type(range));
    switch (type.kind) {
      case 'list':
        return hasTwo ? [types.int, typeArgument(type)] : [typeArgument(type), types.dyn];
      case 'map':
        return [typeArgument(type), typeArgument(type, 1)];
      case 'dyn':
      case 'error':
      case 'param':
        this.#known.assignable(types.dyn, type);
        return [types.dyn, types.dyn];
      default:
        this.#report(
          range,
          `expression of type '${formatType(type)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        );
        return [types.error, types.error];
    }
  }

  /** A later check requires elements of one type; arguments of format may differ. */
  #join(previous: CelType | undefined, current: CelType): CelType {
    if (previous === undefined) return current;
    return this.#known.assignable(previous, current) ? mostGeneral(previous, current) : types.dyn;
  }

  #assert(expr: Expr, type: CelType): void {
    if (!this.#known.assignable(type, this.#type(expr))) this.#mismatch(expr, type, this.#type(expr));
  }

  #lookUp(name: string): CelType | undefined {
    return this.#scope.find(withoutDot(name));
  }

  #set(expr: Expr, type: CelType): void {
    this.#types.set(expr.id, type);
  }

  #type(expr: Expr): CelType {
    return this.#types.get(expr.id) ?? types.error;
  }

  #mismatch(expr: Expr, expected: CelType, found: CelType): void {
    this.#report(expr, `expected type '${formatType(expected)}' but found '${formatType(found)}'`);
  }

  #report({ id }: { readonly id: number }, message: string): void {
    this.#parsed.issues.report(this.#parsed.offsetOf(id), message);
  }
}

function undeclared(name: string): string {
  return `undeclared reference to '${name}' (in container '')`;
}

/** A leading dot means that the name is absolute; here all names are. */
function withoutDot(name: string): string {
  return name.startsWith('.') ? name.slice(1) : name;
}

/** `a.b.c` as one name. */
function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name;
  if (expr.kind !== 'select' || expr.testOnly) return undefined;
  const operand = qualifiedName(expr.operand);
  return operand === undefined ? undefined : `${operand}.${expr.field}`;
}
