import { formatGoJson } from '../../kube/go/json-text.ts';
import type { Json } from '../../kube/go/json-value.ts';
import { withSortedKeysDeep } from '../../kube/sorted-keys.ts';
import type { JsonSchema } from '../schema/json-schema.ts';
import type { Correlation } from './correlation.ts';
import type { NodeCheck, ValidationRun } from './validation-run.ts';

type ListCheck = (value: readonly Json[], run: ValidationRun, correlation: Correlation | undefined) => void;

/** Checks the items of a list, their number, and whether they are unique. */
export function compileList(
  schema: JsonSchema,
  compileNode: (schema: JsonSchema) => NodeCheck,
): ListCheck | undefined {
  const { items, minItems, maxItems, uniqueItems } = schema;
  if ((items ?? minItems ?? maxItems ?? uniqueItems) === undefined) return undefined;
  const checkItem = items === undefined ? undefined : compileNode(items);
  return (value, run, correlation) => {
    const count = value.length;
    if (checkItem !== undefined) checkItems(checkItem, value, run, correlation);
    if (minItems !== undefined && count < minItems) {
      run.addHere('invalid', `should have at least ${minItems} items`, { value: count });
    }
    if (maxItems !== undefined && count > maxItems) {
      run.addHere('tooMany', `should have at most ${maxItems} items`, {
        value: count,
        max: Number(maxItems),
      });
    }
    if (uniqueItems === true && hasDuplicates(value)) run.addHere('invalid', "shouldn't contain duplicates");
  };
}

function checkItems(
  check: NodeCheck,
  value: readonly Json[],
  run: ValidationRun,
  correlation: Correlation | undefined,
): void {
  for (let index = 0; index < value.length; index++) {
    run.enter(index);
    check(value[index] ?? null, run, correlation?.element(index));
    run.leave();
  }
}

function hasDuplicates(value: readonly Json[]): boolean {
  const seen = new Set<string>();
  for (const each of value) seen.add(formatGoJson(withSortedKeysDeep(each)));
  return seen.size < value.length;
}
