import type { Json } from '../../kube/go/json-value.ts';
import { goQuoted } from '../../kube/go/quote.ts';
import type { JsonSchema } from './json-schema.ts';
import type { Findings, NodeCheck, ValidationRun, ValueCheck } from './validation-run.ts';

/** `allOf`, `anyOf`, `oneOf` and `not`; undefined where the schema has none of them. */
export function compileComposition(
  schema: JsonSchema,
  compileNode: (schema: JsonSchema) => NodeCheck,
): ValueCheck | undefined {
  const { anyOf = [], oneOf = [], allOf = [], not } = schema;
  const compile = (part: JsonSchema): ValueCheck => withoutTwin(compileNode(part));
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

/** Whoever judges the whole decides whether it may stay as it was. */
function withoutTwin(check: NodeCheck): ValueCheck {
  return (value, run) => check(value, run, undefined);
}

/**
 * Nearly always one alternative fits, and what is wrong with the others is of no interest: they are asked quietly first, and to the end
 * only where none does.
 */
function compileAnyOf(alternatives: readonly ValueCheck[]): ValueCheck {
  return (value, run) => {
    for (const alternative of alternatives) {
      const findings = look(alternative, value, run, true);
      if (findings.hasFailed) continue;
      run.merge(findings);
      return;
    }
    addUnplaced(run, 'must validate at least one schema (anyOf)');
    addBest(alternatives, value, run);
  };
}

function compileOneOf(alternatives: readonly ValueCheck[]): ValueCheck {
  return (value, run) => {
    const all = alternatives.map((alternative) => look(alternative, value, run, true));
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
      const findings = look(part, value, run, false);
      if (!findings.hasFailed) fitting++;
      run.merge(findings);
    }
    if (fitting === parts.length) return;
    addUnplaced(run, `must validate all the schemas (allOf)${fitting === 0 ? '. None validated' : ''}`);
  };
}

function compileNot(refused: ValueCheck): ValueCheck {
  return (value, run) => {
    const { hasFailed } = look(refused, value, run, true);
    if (!hasFailed) addUnplaced(run, 'must not validate the schema (not)');
  };
}

function look(check: ValueCheck, value: Exclude<Json, null>, run: ValidationRun, quietly: boolean): Findings {
  const outer = run.begin(quietly);
  check(value, run);
  return run.end(outer);
}

/** What is wrong with the alternative of which most fits. */
function addBest(alternatives: readonly ValueCheck[], value: Exclude<Json, null>, run: ValidationRun): void {
  if (run.isQuiet) return;
  let best: Findings | undefined;
  for (const alternative of alternatives) {
    const findings = look(alternative, value, run, false);
    if (best === undefined || findings.matches > best.matches) best = findings;
  }
  if (best !== undefined) run.merge(best);
}

function addUnplaced(run: ValidationRun, said: string): void {
  run.add('unplaced', (path) => `${goQuoted(path)} ${said}`);
}
