import type { Json } from '../../kube/go/json-value.ts';
import { goQuoted } from '../../kube/go/quote.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import type { CheckResult, NodeCheck, ValidationRun, ValueCheck } from './validation-run.ts';

/** `allOf`, `anyOf`, `oneOf` and `not`; undefined if the schema has none of them. */
export function compileComposition(
  schema: JsonSchema,
  compileNode: (schema: JsonSchema) => NodeCheck,
): ValueCheck | undefined {
  const { anyOf = [], oneOf = [], allOf = [], not } = schema;
  const compile = (part: JsonSchema): ValueCheck => withoutCorrelation(compileNode(part));
  const checks: ValueCheck[] = [];
  if (anyOf.length > 0) checks.push(compileAnyOf(anyOf.map(compile)));
  if (oneOf.length > 0) checks.push(compileOneOf(oneOf.map(compile)));
  if (allOf.length > 0) checks.push(compileAllOf(allOf.map(compile)));
  if (not !== undefined) checks.push(compileNot(compile(not)));
  if (checks.length === 0) return undefined;
  return (value, run) => {
    for (const check of checks) check(value, run);
  };
}

/** The check of the whole value decides whether it may stay unchanged, so its alternatives are checked as new. */
function withoutCorrelation(check: NodeCheck): ValueCheck {
  return (value, run) => check(value, run, undefined);
}

/**
 * Nearly always one alternative matches, and the problems of the others do not matter: a first pass only asks whether
 * they fail, and problems are collected only if none matches.
 */
function compileAnyOf(alternatives: readonly ValueCheck[]): ValueCheck {
  return (value, run) => {
    for (const alternative of alternatives) {
      const result = runCheck(alternative, value, run, true);
      if (result.hasFailed) continue;
      run.merge(result);
      return;
    }
    addUnplaced(run, 'must validate at least one schema (anyOf)');
    addBest(alternatives, value, run);
  };
}

function compileOneOf(alternatives: readonly ValueCheck[]): ValueCheck {
  return (value, run) => {
    const all = alternatives.map((alternative) => runCheck(alternative, value, run, true));
    const fitting = all.filter(({ hasFailed }) => !hasFailed);
    const [first] = fitting;
    if (fitting.length === 1 && first !== undefined) {
      run.merge(first);
      return;
    }
    const found = fitting.length === 0 ? 'Found none valid' : `Found ${fitting.length} valid alternatives`;
    addUnplaced(run, `must validate one and only one schema (oneOf). ${found}`);
    if (fitting.length === 0) addBest(alternatives, value, run);
  };
}

function compileAllOf(parts: readonly ValueCheck[]): ValueCheck {
  return (value, run) => {
    let fitting = 0;
    for (const part of parts) {
      const result = runCheck(part, value, run, false);
      if (!result.hasFailed) fitting++;
      run.merge(result);
    }
    if (fitting === parts.length) return;
    addUnplaced(run, `must validate all the schemas (allOf)${fitting === 0 ? '. None validated' : ''}`);
  };
}

function compileNot(refused: ValueCheck): ValueCheck {
  return (value, run) => {
    const { hasFailed } = runCheck(refused, value, run, true);
    if (!hasFailed) addUnplaced(run, 'must not validate the schema (not)');
  };
}

function runCheck(
  check: ValueCheck,
  value: Exclude<Json, null>,
  run: ValidationRun,
  isQuiet: boolean,
): CheckResult {
  const outer = run.begin(isQuiet);
  check(value, run);
  return run.end(outer);
}

/** Adds the problems of the alternative with the most matching checks. */
function addBest(alternatives: readonly ValueCheck[], value: Exclude<Json, null>, run: ValidationRun): void {
  if (run.isQuiet) return;
  let best: CheckResult | undefined;
  for (const alternative of alternatives) {
    const result = runCheck(alternative, value, run, false);
    if (best === undefined || result.matches > best.matches) best = result;
  }
  if (best !== undefined) run.merge(best);
}

function addUnplaced(run: ValidationRun, message: string): void {
  run.add('unplaced', (path) => `${goQuoted(path)} ${message}`);
}
