import { type Call, childrenOf, type Expr } from '../language/ast.ts';
import {
  type ClauseLetter,
  type FormatProblem,
  formatProblems,
  walkFormat,
} from '../language/format-clauses.ts';
import type { ParsedExpression } from '../language/parser.ts';
import type { CelTypeKind } from '../types/types.ts';
import type { CheckedExpression } from './checker.ts';

/** Checks constant format strings whose arguments are a list literal, before anything is evaluated. */
export function checkFormats(parsed: ParsedExpression, checked: CheckedExpression): void {
  const visit = (expr: Expr): void => {
    if (expr.kind === 'call' && expr.function === 'format') checkFormat(parsed, checked, expr);
    for (const child of childrenOf(expr)) visit(child);
  };
  visit(checked.expr);
}

function checkFormat(parsed: ParsedExpression, checked: CheckedExpression, call: Call): void {
  const [list] = call.args;
  const { target } = call;
  if (target?.kind !== 'literal' || typeof target.value !== 'string' || list?.kind !== 'list') return;
  const args = list.elements;
  let used = 0;
  const result = walkFormat(target.value, args.length, ({ letter, index }) => {
    used++;
    return problemOf(checked, letter, args[index] as Expr) ?? '';
  });
  const report = (id: number, message: string): void => parsed.issues.report(parsed.offsetOf(id), message);
  if (typeof result !== 'string') {
    report(result.id ?? call.id, result.problem);
    return;
  }
  if (args.length > used) {
    report(call.id, `too many arguments supplied to string.format (expected ${used}, got ${args.length})`);
  }
}

const printableTypes: Readonly<Record<ClauseLetter, readonly CelTypeKind[]>> = {
  s: 'list map int uint double bool string timestamp bytes duration type null'.split(' ') as CelTypeKind[],
  d: ['int', 'uint'],
  f: ['double', 'string'],
  e: ['double', 'string'],
  b: ['int', 'uint', 'bool'],
  x: ['int', 'uint', 'string', 'bytes'],
  X: ['int', 'uint', 'string', 'bytes'],
  o: ['int', 'uint'],
};

function problemOf(checked: CheckedExpression, letter: ClauseLetter, arg: Expr): FormatProblem | undefined {
  const type = checked.typeOf(arg);
  if (type.kind !== 'dyn' && !printableTypes[letter].includes(type.kind)) {
    return { problem: `${formatProblems[letter]}, was given ${type.name}`, id: arg.id };
  }
  if (letter !== 's' || (arg.kind !== 'list' && arg.kind !== 'map')) return undefined;
  for (const item of childrenOf(arg)) {
    const problem = problemOf(checked, letter, item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
