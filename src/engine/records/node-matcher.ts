import type { CompiledLabelSelector } from '../../kube/selectors/label-selector.ts';
import {
  type CompiledNodeSelector,
  matchesRequirement,
  type Requirement,
} from '../../kube/selectors/node-selector.ts';

/**
 * Which nodes something can be reached from. A PV's node affinity, a class's allowed topologies, a capacity object's
 * label selector and a pool's list of nodes all become this one form: terms of which any must hold, each a list of
 * conditions of which all must hold.
 */
export interface NodeMatcher {
  /** Equal keys, equal matchers. */
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

/** A term without conditions: it holds on every node. */
export const everyNode: NodeMatcher = { key: 'every node', terms: [{ requirements: [], names: [] }] };
export const noNode: NodeMatcher = { key: 'no node', terms: [] };

/**
 * `honourNames: false` is what kube-scheduler does with a PV's matchFields: it evaluates them against a node without a
 * name, where every field requirement holds.
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

/** Keys and values have been checked for label syntax, so that separators can't be part of them. */
export function requirementsKey(requirements: readonly Requirement[]): string {
  let key = '';
  for (const { key: label, operator, values, bound } of requirements) {
    key += `${label} ${operator} ${[...values].join(',')}${bound ?? ''};`;
  }
  return key;
}

function termKey(term: MatcherTerm): string {
  let key = requirementsKey(term.requirements);
  // Node names in a pool's list are free text, so they are quoted.
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
