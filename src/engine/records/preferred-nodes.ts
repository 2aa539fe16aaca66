import type { NodeSelectorTerm } from '../../kube/api/core.ts';
import { compileNodeSelector } from '../../kube/selectors/node-selector.ts';
import { annotations } from '../../kube/well-known.ts';
import { matcherOfSelector, type NodeMatcher } from './node-matcher.ts';

/**
 * Preferred node affinity of a volume: nodes with better access to it, with weights from 1 to 100. Kubernetes has no field for it, so
 * it is read from an annotation in the format of a pod's preferred node affinity.
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
      `${field}: must be a JSON list such as [{"weight": 1, "preference": {"matchExpressions": [...]}}]`,
    );
    return none;
  }
  if (terms.length > termsMax)
    problems.push(`${field}: has ${terms.length} terms; only the first ${termsMax} are used`);
  return terms
    .slice(0, termsMax)
    .flatMap((term, position) => readTerm(term, `${field}[${position}]`, problems));
}

function parseList(text: string): readonly unknown[] | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return Array.isArray(parsed) ? parsed : undefined;
  } catch {
    // Users write the annotation, so invalid JSON is expected. The caller reports it with the field's name.
    return undefined;
  }
}

function readTerm(term: unknown, field: string, problems: string[]): PreferredNodes[] {
  const { weight, preference } = (term ?? {}) as { weight?: unknown; preference?: NodeSelectorTerm };
  if (typeof weight !== 'number' || !Number.isInteger(weight) || weight < 1 || weight > 100) {
    problems.push(`${field}.weight: must be an integer from 1 to 100`);
    return [];
  }
  const selector = compileNodeSelector({ nodeSelectorTerms: [preference ?? {}] }, `${field}.preference`);
  problems.push(...selector.problems);
  return [{ weight, nodes: matcherOfSelector(selector) }];
}
