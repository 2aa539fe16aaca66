import type { NodeSelectorTerm } from '../../kube/api/core.ts';
import { compileNodeSelector } from '../../kube/selectors/node-selector.ts';
import { annotations } from '../../kube/well-known.ts';
import { matcherOfSelector, type NodeMatcher } from './node-matcher.ts';

/**
 * Soft affinity of a volume: nodes that reach it better than others, with weights from 1 to 100. Kubernetes has no
 * field for it, so it is read from an annotation in the form of a pod's preferred node affinity.
 */
export interface PreferredNodes {
  readonly weight: number;
  readonly nodes: NodeMatcher;
}

const none: readonly PreferredNodes[] = [];
const termsMax = 64;

export function readPreferredNodes(text: unknown, problems: string[]): readonly PreferredNodes[] {
  if (typeof text !== 'string' || text === '') return none;
  const field = `metadata.annotations[${annotations.preferredNodeAffinity}]`;
  const terms = parseList(text);
  if (terms === undefined) {
    problems.push(
      `${field}: is not a JSON list; write [{"weight": 1, "preference": {"matchExpressions": [...]}}]`,
    );
    return none;
  }
  if (terms.length > termsMax)
    problems.push(`${field}: has ${terms.length} terms; the first ${termsMax} count`);
  return terms
    .slice(0, termsMax)
    .flatMap((term, position) => readTerm(term, `${field}[${position}]`, problems));
}

function parseList(text: string): readonly unknown[] | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed : undefined;
  } catch {
    // Somebody's annotation, not our data: the caller reports it with the field's name.
    return undefined;
  }
}

function readTerm(term: unknown, field: string, problems: string[]): PreferredNodes[] {
  const { weight, preference } = (term ?? {}) as { weight?: unknown; preference?: NodeSelectorTerm };
  if (typeof weight !== 'number' || !Number.isInteger(weight) || weight < 1 || weight > 100) {
    problems.push(`${field}.weight: must be a whole number from 1 to 100`);
    return [];
  }
  const selector = compileNodeSelector({ nodeSelectorTerms: [preference ?? {}] }, `${field}.preference`);
  problems.push(...selector.problems);
  return [{ weight, nodes: matcherOfSelector(selector) }];
}
