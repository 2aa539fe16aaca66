import type { NodeSelector, NodeSelectorTerm } from '../api/core.ts';
import { isRecord, joinField } from '../wire.ts';
import {
  compileRequirement,
  type LabelsInput,
  matchesRequirement,
  nodeSelectorOperators,
  type Requirement,
} from './requirement.ts';

export { matchesRequirement, type Requirement } from './requirement.ts';

/** Terms that are ORed. Empty and invalid terms are left out, so without terms no node matches. */
export interface CompiledNodeSelector {
  readonly terms: readonly CompiledTerm[];
  /** The errors of the invalid terms, which were left out. */
  readonly problems: readonly string[];
}

/** All requirements and all names must hold. */
export interface CompiledTerm {
  readonly requirements: readonly Requirement[];
  readonly names: readonly NameRequirement[];
}

/** A test of `metadata.name`. An empty value equals no node's name. */
export interface NameRequirement {
  readonly operator: 'In' | 'NotIn';
  readonly value: string;
}

/**
 * Compiles a selector with errors per term, as Kubernetes does: an invalid term matches nothing, the other terms keep
 * their meaning. `problems` lists the errors, which matter only if no term matches.
 */
export function compileNodeSelector(
  selector: NodeSelector | null | undefined,
  field = '',
): CompiledNodeSelector {
  const problems: string[] = [];
  const terms: CompiledTerm[] = [];
  const list: unknown = selector?.nodeSelectorTerms;
  const path = joinField(field, 'nodeSelectorTerms');
  if (Array.isArray(list)) {
    for (const [index, term] of list.entries()) {
      const compiled = compileTerm(term, `${path}[${index}]`, problems);
      if (compiled !== undefined) terms.push(compiled);
    }
  } else if (list !== undefined && list !== null) {
    problems.push(`${path}: is not a list; write a list of terms`);
  }
  return { terms, problems };
}

/**
 * Whether a node satisfies the selector. With the name undefined or empty, `matchFields` are ignored: Kubernetes checks
 * a volume's node affinity against labels alone, so there a term with only fields matches every node.
 */
export function matchesNode(
  compiled: CompiledNodeSelector,
  nodeName: string | undefined,
  labels: LabelsInput,
): boolean {
  for (const term of compiled.terms) {
    if (matchesTerm(term, nodeName, labels)) return true;
  }
  return false;
}

export function matchesTerm(term: CompiledTerm, nodeName: string | undefined, labels: LabelsInput): boolean {
  for (const requirement of term.requirements) {
    if (!matchesRequirement(requirement, labels)) return false;
  }
  if (nodeName === undefined || nodeName === '') return true;
  for (const name of term.names) {
    if ((name.value === nodeName) !== (name.operator === 'In')) return false;
  }
  return true;
}

/**
 * Compiles a single term, such as one preference of a pod. Undefined means that it matches nothing: it is empty, or it is
 * invalid and `problems` has grown.
 */
export function compileTerm(
  term: NodeSelectorTerm | null | undefined,
  field: string,
  problems: string[],
): CompiledTerm | undefined {
  const found = problems.length;
  const expressions = readList(term?.matchExpressions, joinField(field, 'matchExpressions'), problems);
  const fields = readList(term?.matchFields, joinField(field, 'matchFields'), problems);
  if (expressions.length === 0 && fields.length === 0) return undefined;
  const requirements = expressions.map((expression, index) =>
    compileRequirement(expression, nodeSelectorOperators, `${field}.matchExpressions[${index}]`, problems),
  );
  const names = fields.map((entry, index) => compileName(entry, `${field}.matchFields[${index}]`, problems));
  if (problems.length > found) return undefined;
  return {
    requirements: requirements.filter((requirement) => requirement !== undefined),
    names: names.filter((name) => name !== undefined),
  };
}

/** The only field that a node can be selected by. */
const nameField = 'metadata.name';

function readList(list: unknown, field: string, problems: string[]): readonly unknown[] {
  if (Array.isArray(list)) return list;
  if (list !== undefined && list !== null)
    problems.push(`${field}: is not a list; write a list of expressions`);
  return [];
}

/**
 * Undefined if the requirement always holds, or if it is invalid and `problems` has grown. Kubernetes doesn't check the
 * field's name: it treats an unknown field as empty, so `In` with a value never holds and `NotIn` always does.
 */
function compileName(entry: unknown, field: string, problems: string[]): NameRequirement | undefined {
  const { key, operator, values } = isRecord(entry) ? entry : {};
  if (operator !== 'In' && operator !== 'NotIn') {
    problems.push(`${field}.operator: is unknown for fields; use In or NotIn`);
    return undefined;
  }
  const value: unknown = Array.isArray(values) && values.length === 1 ? values[0] : undefined;
  if (typeof value !== 'string') {
    problems.push(`${field}.values: ${operator} compares a field with one value; list exactly one`);
    return undefined;
  }
  if (key === nameField) return { operator, value };
  const holds = (value === '') === (operator === 'In');
  return holds ? undefined : { operator: 'In', value: '' };
}
