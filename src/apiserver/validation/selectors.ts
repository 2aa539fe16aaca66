import type {
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  TopologySelectorLabelRequirement,
  TopologySelectorTerm,
} from '../../kube/api/stored/core.ts';
import type { LabelSelector, LabelSelectorRequirement } from '../../kube/api/stored/meta.ts';
import type { FieldErrors } from './field-errors.ts';
import { checkLabelKey, checkLabels } from './labels.ts';
import { labelValueProblems, nameRules } from './names.ts';

export interface SelectorOptions {
  /** Accepts values that no label can have: for objects that are older than the rule. */
  readonly allowsAnyValue?: boolean;
}

export function checkLabelSelector(
  errors: FieldErrors,
  field: string,
  selector: LabelSelector | undefined,
  options: SelectorOptions = {},
): void {
  checkLabels(errors, `${field}.matchLabels`, selector?.matchLabels);
  selector?.matchExpressions?.forEach((requirement, index) => {
    checkLabelRequirement(errors, `${field}.matchExpressions[${index}]`, requirement, options);
  });
}

/** Whether `checkLabelSelector` would report a value of an expression. */
export function hasInvalidValue(selector: LabelSelector | undefined): boolean {
  const values = selector?.matchExpressions?.flatMap((requirement) => requirement.values ?? []) ?? [];
  return values.some((value) => labelValueProblems(value).length > 0);
}

export function checkNodeSelector(
  errors: FieldErrors,
  field: string,
  selector: NodeSelector,
  options: SelectorOptions = {},
): void {
  const termsField = `${field}.nodeSelectorTerms`;
  const terms = selector.nodeSelectorTerms ?? [];
  if (terms.length === 0) errors.required(termsField, 'must have at least one node selector term');
  terms.forEach((term, index) => {
    checkNodeSelectorTerm(errors, `${termsField}[${index}]`, term, options);
  });
}

export function checkNodeSelectorTerm(
  errors: FieldErrors,
  field: string,
  term: NodeSelectorTerm,
  options: SelectorOptions = {},
): void {
  term.matchExpressions?.forEach((requirement, index) => {
    checkNodeRequirement(errors, `${field}.matchExpressions[${index}]`, requirement, options);
  });
  term.matchFields?.forEach((requirement, index) => {
    checkNodeFieldRequirement(errors, `${field}.matchFields[${index}]`, requirement);
  });
}

/**
 * The allowed topologies of a StorageClass: keys must be unique in a term, and terms must be unique. An empty term is
 * reported as a duplicate, once for every term: Kubernetes compares with a list that starts with as many empty terms.
 */
export function checkTopologySelectorTerms(
  errors: FieldErrors,
  field: string,
  terms: readonly TopologySelectorTerm[] | undefined,
): void {
  const seen = (terms ?? []).map(() => emptyTerm);
  terms?.forEach((term, index) => {
    const canonical = checkTopologySelectorTerm(errors, `${field}[${index}]`, term);
    for (const other of seen) {
      if (other === canonical) errors.duplicate(`${field}[${index}].matchLabelExpressions`, '');
    }
    seen.push(canonical);
  });
}

const emptyTerm = '[]';

/** Returns the term in a canonical form. */
function checkTopologySelectorTerm(errors: FieldErrors, field: string, term: TopologySelectorTerm): string {
  const valuesByKey = new Map<string, readonly string[]>();
  term.matchLabelExpressions?.forEach((requirement, index) => {
    const at = `${field}.matchLabelExpressions[${index}]`;
    const values = checkTopologyRequirement(errors, at, requirement);
    if (valuesByKey.has(requirement.key)) errors.duplicate(`${at}.key`, requirement.key);
    valuesByKey.set(requirement.key, values);
  });
  return JSON.stringify([...valuesByKey].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function checkTopologyRequirement(
  errors: FieldErrors,
  field: string,
  requirement: TopologySelectorLabelRequirement,
): readonly string[] {
  const seen = new Set<string>();
  const values = requirement.values ?? [];
  if (values.length === 0) errors.required(`${field}.values`);
  values.forEach((value, index) => {
    if (seen.has(value)) errors.duplicate(`${field}.values[${index}]`, value);
    seen.add(value);
  });
  checkLabelKey(errors, `${field}.key`, requirement.key);
  return [...seen].sort();
}

function checkLabelRequirement(
  errors: FieldErrors,
  field: string,
  requirement: LabelSelectorRequirement,
  options: SelectorOptions,
): void {
  checkSetOperator(errors, field, requirement);
  checkLabelKey(errors, `${field}.key`, requirement.key);
  checkLabelValues(errors, field, requirement.values, options);
}

function checkNodeRequirement(
  errors: FieldErrors,
  field: string,
  requirement: NodeSelectorRequirement,
  options: SelectorOptions,
): void {
  const { operator, values } = requirement;
  if (operator === 'Gt' || operator === 'Lt') {
    if (values?.length !== 1) {
      errors.required(`${field}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'");
    }
  } else checkSetOperator(errors, field, requirement);
  checkLabelKey(errors, `${field}.key`, requirement.key);
  checkLabelValues(errors, field, values, options);
}

function checkNodeFieldRequirement(
  errors: FieldErrors,
  field: string,
  { key, operator, values = [] }: NodeSelectorRequirement,
): void {
  if (operator !== 'In' && operator !== 'NotIn') {
    errors.invalid(`${field}.operator`, operator, notAnOperator);
  } else if (values.length !== 1) {
    const detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.required(`${field}.values`, detail);
  }
  if (key !== 'metadata.name') {
    errors.invalid(`${field}.key`, key, 'not a valid field selector key');
    return;
  }
  values.forEach((value, index) => {
    errors.invalidFor(`${field}.values[${index}]`, value, nameRules.dnsSubdomain(value, false));
  });
}

const notAnOperator = 'not a valid selector operator';

function checkSetOperator(
  errors: FieldErrors,
  field: string,
  { operator, values }: Pick<LabelSelectorRequirement, 'operator' | 'values'>,
): void {
  const count = values?.length ?? 0;
  if (operator === 'In' || operator === 'NotIn') {
    if (count === 0) {
      errors.required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
    }
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (count > 0) {
      const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
      errors.forbidden(`${field}.values`, detail);
    }
  } else errors.invalid(`${field}.operator`, operator, notAnOperator);
}

function checkLabelValues(
  errors: FieldErrors,
  field: string,
  values: readonly string[] | undefined,
  { allowsAnyValue = false }: SelectorOptions,
): void {
  if (allowsAnyValue) return;
  values?.forEach((value, index) => {
    errors.invalidFor(`${field}.values[${index}]`, value, labelValueProblems(value));
  });
}
