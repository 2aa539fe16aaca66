import type { TopologySelectorTerm } from '../api/core.ts';
import { isRecord } from '../wire.ts';
import type { CompiledNodeSelector, CompiledTerm } from './node-selector.ts';
import { compileRequirement, type Requirement } from './requirement.ts';

/**
 * Compiles a class's `allowedTopologies` to a node selector. Undefined means every node: the list is
 * absent or empty. A term without expressions, or with an invalid one, matches no node.
 */
export function compileTopologySelector(
  terms: readonly TopologySelectorTerm[] | null | undefined,
  field = 'allowedTopologies',
): CompiledNodeSelector | undefined {
  if (terms === undefined || terms === null) return undefined;
  if (!Array.isArray(terms))
    return { terms: [], problems: [`${field}: is not a list; write a list of terms`] };
  if (terms.length === 0) return undefined;
  const problems: string[] = [];
  const compiled: CompiledTerm[] = [];
  for (const [index, term] of terms.entries()) {
    const requirements = compileExpressions(term, `${field}[${index}].matchLabelExpressions`, problems);
    if (requirements.length > 0) compiled.push({ requirements, names: [] });
  }
  return { terms: compiled, problems };
}

/** Empty if the term matches nothing. */
function compileExpressions(term: unknown, field: string, problems: string[]): readonly Requirement[] {
  const expressions = isRecord(term) ? term.matchLabelExpressions : undefined;
  if (expressions === undefined || expressions === null) return [];
  if (!Array.isArray(expressions)) {
    problems.push(`${field}: is not a list; write a list of keys and values`);
    return [];
  }
  const found = problems.length;
  const requirements = expressions.map((expression: unknown, index) => {
    const asIn = isRecord(expression) ? { ...expression, operator: 'In' } : expression;
    return compileRequirement(asIn, ['In'], `${field}[${index}]`, problems);
  });
  return problems.length > found ? [] : requirements.filter((requirement) => requirement !== undefined);
}
