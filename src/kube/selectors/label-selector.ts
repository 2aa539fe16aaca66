import type { LabelSelector } from '../api/meta.ts';
import { isRecord, joinField } from '../wire.ts';
import {
  compileEquality,
  compileRequirement,
  type LabelsInput,
  labelSelectorOperators,
  matchesRequirement,
  type Requirement,
} from './requirement.ts';

/** Requirements that must all hold; none means that everything matches. */
export interface CompiledLabelSelector {
  readonly requirements: readonly Requirement[];
}

export type LabelSelectorResult =
  | { readonly ok: true; readonly selector: CompiledLabelSelector }
  | { readonly ok: false; readonly problem: string };

/** The meaning of an absent selector. It depends on the field, so the caller states it. */
export type AbsentSelector = 'everything' | 'nothing';

/**
 * Checks and compiles a selector. One invalid expression makes the whole selector invalid, as in Kubernetes. An empty selector matches
 * everything. An absent one matches nothing, unless `absent` says otherwise: for a claim's selector it is everything,
 * for the topology of a capacity object and in pod affinity it is nothing.
 */
export function compileLabelSelector(
  selector: LabelSelector | null | undefined,
  field = 'selector',
  absent: AbsentSelector = 'nothing',
): LabelSelectorResult {
  if (selector === undefined || selector === null) {
    return { ok: true, selector: absent === 'everything' ? selectEverything : selectNothing };
  }
  const problems: string[] = [];
  const requirements = compileParts(selector, field, problems);
  const [problem] = problems;
  return problem === undefined ? { ok: true, selector: { requirements } } : { ok: false, problem };
}

export function matchesLabels({ requirements }: CompiledLabelSelector, labels: LabelsInput): boolean {
  for (const requirement of requirements) {
    if (!matchesRequirement(requirement, labels)) return false;
  }
  return true;
}

const selectEverything: CompiledLabelSelector = { requirements: [] };
/** No labels satisfy this requirement, so this selector needs no special case. */
const selectNothing: CompiledLabelSelector = {
  requirements: [{ key: '', operator: 'In', values: new Set(), bound: undefined }],
};

function compileParts(selector: unknown, field: string, problems: string[]): readonly Requirement[] {
  if (!isRecord(selector)) {
    problems.push(`${field}: is not a selector; write matchLabels or matchExpressions`);
    return [];
  }
  const { matchLabels, matchExpressions } = selector;
  return [
    ...compileLabels(matchLabels, joinField(field, 'matchLabels'), problems),
    ...compileExpressions(matchExpressions, joinField(field, 'matchExpressions'), problems),
  ];
}

function compileLabels(matchLabels: unknown, field: string, problems: string[]): readonly Requirement[] {
  if (matchLabels === undefined || matchLabels === null) return [];
  if (!isRecord(matchLabels)) {
    problems.push(`${field}: is not a map; write label names and values`);
    return [];
  }
  return Object.entries(matchLabels)
    .map(([key, value]) => compileEquality(key, value, field, problems))
    .filter((requirement) => requirement !== undefined);
}

function compileExpressions(expressions: unknown, field: string, problems: string[]): readonly Requirement[] {
  if (expressions === undefined || expressions === null) return [];
  if (!Array.isArray(expressions)) {
    problems.push(`${field}: is not a list; write a list of expressions`);
    return [];
  }
  return expressions
    .map((entry: unknown, index) =>
      compileRequirement(entry, labelSelectorOperators, `${field}[${index}]`, problems),
    )
    .filter((requirement) => requirement !== undefined);
}
