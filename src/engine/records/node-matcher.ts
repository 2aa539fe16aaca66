import type { CompiledLabelSelector } from '../../kube/selectors/label-selector.ts';
import {
  type CompiledNodeSelector,
  matchesRequirement,
  type Requirement,
} from '../../kube/selectors/node-selector.ts';

/**
 * Selects nodes. The node affinity of a PV, the allowed topologies of a class, the label selector of a capacity object and the node
 * list of a pool are all converted to this form: a list of terms of which any must hold, each with conditions that must all hold.
 */
export interface NodeMatcher {
  /** Matchers with equal keys are equal. */
  readonly key: string;
  readonly terms: readonly MatcherTerm[];
}

export interface MatcherTerm {
  readonly requirements: readonly Requirement[];
  readonly names: readonly NameCondition[];
}

export interface NameCondition {
  readonly operator: 'In' | 'NotIn';
  readonly values: ReadonlySet<string>;
}

/** A term without conditions holds on every node. */
export const everyNode: NodeMatcher = { key: 'every node', terms: [{ requirements: [], names: [] }] };
export const noNode: NodeMatcher = { key: 'no node', terms: [] };

/**
 * `honourNames: false` is kube-scheduler's behaviour for the matchFields of a PV: it evaluates them against a node without a name,
 * where every field requirement holds.
 */
export function matcherOfSelector(selector: CompiledNodeSelector, honourNames = true): NodeMatcher {
  return matcherOf(
    selector.terms.map((term) => ({
      requirements: term.requirements,
      names: honourNames
        ? term.names.map(({ operator, value }) => ({ operator, values: new Set([value]) }))
        : [],
    })),
  );
}

export function matcherOfLabels(selector: CompiledLabelSelector): NodeMatcher {
  return selector.requirements === undefined
    ? noNode
    : matcherOf([{ requirements: selector.requirements, names: [] }]);
}

export function matcherOfNames(names: readonly string[]): NodeMatcher {
  return matcherOf([{ requirements: [], names: [{ operator: 'In', values: new Set(names) }] }]);
}

function matcherOf(terms: readonly MatcherTerm[]): NodeMatcher {
  if (terms.length === 0) return noNode;
  if (terms.some((term) => term.requirements.length === 0 && term.names.length === 0)) return everyNode;
  return { key: terms.map(termKey).join('\n'), terms };
}

/** Label syntax is validated before, so keys and values can't contain the separators. */
export function requirementsKey(requirements: readonly Requirement[]): string {
  let key = '';
  for (const { key: label, operator, values, bound } of requirements) {
    key += `${label} ${operator} ${[...values].join(',')}${bound ?? ''};`;
  }
  return key;
}

function termKey(term: MatcherTerm): string {
  let key = requirementsKey(term.requirements);
  // Node names in a pool's list are not validated, so they are quoted.
  for (const { operator, values } of term.names) key += `name ${operator} ${JSON.stringify([...values])};`;
  return key;
}

export function matcherHolds(
  matcher: NodeMatcher,
  name: string,
  labels: Readonly<Record<string, string>>,
): boolean {
  return matcher.terms.some((term) => termHolds(term, name, labels));
}

function termHolds(term: MatcherTerm, name: string, labels: Readonly<Record<string, string>>): boolean {
  for (const condition of term.names) {
    if (condition.values.has(name) !== (condition.operator === 'In')) return false;
  }
  for (const requirement of term.requirements) {
    if (!matchesRequirement(requirement, labels)) return false;
  }
  return true;
}
