import { childrenOf, type Expr } from '../language/ast.ts';
import type { ParsedExpression } from '../language/parser.ts';
import { type CelType, formatType, isOptionalType, sameType, typeArgument } from '../types/types.ts';
import type { CheckedExpression } from './checker.ts';

/**
 * Checks of Kubernetes beyond types: constant arguments must be valid, and the elements of a list must have one type.
 */
export function checkLiterals(
  parsed: ParsedExpression,
  checked: CheckedExpression,
  isValid: IsValidConstant,
): void {
  const report = (expr: Expr, message: string): void =>
    parsed.issues.report(parsed.offsetOf(expr.id), message);
  for (const name of ['duration', 'timestamp', 'matches'] as const) {
    visit(checked.expr, false, (expr) => {
      if (expr.kind !== 'call' || expr.function !== name) return;
      const [first] = expr.args;
      if (first?.kind !== 'literal' || isValid(name, first.value)) return;
      report(first, `invalid ${name} argument`);
    });
  }
  visit(checked.expr, false, (expr, isInFormat) => {
    if (expr.kind === 'list' && !isInFormat) checkList(checked, expr, report);
  });
  visit(checked.expr, false, (expr, isInFormat) => {
    if (expr.kind === 'map' && !isInFormat) checkMap(checked, expr, report);
  });
}

/** Whether a constant argument is valid for a function. */
export type IsValidConstant = (name: 'duration' | 'timestamp' | 'matches', value: unknown) => boolean;

type Report = (expr: Expr, message: string) => void;

function visit(expr: Expr, isInFormat: boolean, see: (expr: Expr, isInFormat: boolean) => void): void {
  see(expr, isInFormat);
  const within = isInFormat || (expr.kind === 'call' && expr.function === 'format');
  for (const child of childrenOf(expr)) visit(child, within, see);
}

function checkList(checked: CheckedExpression, list: Expr & { readonly kind: 'list' }, report: Report): void {
  let wanted: CelType | undefined;
  for (const [index, element] of list.elements.entries()) {
    const type = presentType(checked.typeOf(element), list.optional.has(index));
    wanted ??= type;
    if (sameType(wanted, type)) continue;
    report(element, mismatch(wanted, type));
    return;
  }
}

function checkMap(checked: CheckedExpression, map: Expr & { readonly kind: 'map' }, report: Report): void {
  const [first] = map.entries;
  if (first === undefined) return;
  const wantedKey = checked.typeOf(first.key);
  const wantedValue = presentType(checked.typeOf(first.value), first.optional);
  for (const { key, value, optional } of map.entries) {
    const keyType = checked.typeOf(key);
    const valueType = presentType(checked.typeOf(value), optional);
    if (!sameType(wantedKey, keyType)) report(key, mismatch(wantedKey, keyType));
    if (!sameType(wantedValue, valueType)) report(value, mismatch(wantedValue, valueType));
  }
}

function presentType(type: CelType, isOptional: boolean): CelType {
  return isOptional && isOptionalType(type) ? typeArgument(type) : type;
}

function mismatch(expected: CelType, found: CelType): string {
  return `expected type '${formatType(expected)}' but found '${formatType(found)}'`;
}
