import type { NodeSelector } from '../../../kube/api/core.ts';
import { compileNodeSelector, compileTerm, type Requirement } from '../../../kube/selectors/node-selector.ts';
import { isRecord, listOf } from '../../../kube/wire.ts';
import { nonNullItems } from '../field-readers.ts';
import { type MatcherTerm, matcherOfSelector, type NodeMatcher } from '../node-matcher.ts';
import type { PreferredNodes } from '../preferred-nodes.ts';
import { memoByShape, type ShapeSpec } from './pod-shape.ts';

/** The nodes that a pod requires or prefers by name and label. */
export interface PodNodeAffinity {
  /** The node selector and the required node affinity combined; undefined if the pod has neither. */
  readonly required: NodeMatcher | undefined;
  /**
   * The only node names that the required affinity allows, whatever the labels; undefined if it doesn't restrict names. Empty if the
   * names contradict each other.
   */
  readonly requiredNames: ReadonlySet<string> | undefined;
  readonly preferred: readonly PreferredNodes[];
}

/**
 * An unreadable term matches no node, as in kube-scheduler. This also holds for preferred terms, for which kube-scheduler fails the
 * pod; a preference must not keep a pod pending.
 */
export const podNodeAffinityOf = memoByShape((spec: ShapeSpec): PodNodeAffinity => {
  const affinity = spec.affinity?.nodeAffinity;
  const selector = affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? undefined;
  return {
    required: requiredNodes(spec.nodeSelector, selector),
    requiredNames: selector && requiredNamesOf(selector),
    preferred: nonNullItems(affinity?.preferredDuringSchedulingIgnoredDuringExecution).flatMap(
      ({ weight, preference }) => {
        const term = compileTerm(preference, '', []);
        if (term === undefined || typeof weight !== 'number' || !(weight > 0)) return [];
        return [{ weight, nodes: matcherOfSelector({ terms: [term], problems: [] }) }];
      },
    ),
  };
});

function requiredNodes(nodeSelector: unknown, selector: NodeSelector | undefined): NodeMatcher | undefined {
  const matcher = selector && matcherOfSelector(compileNodeSelector(selector));
  const pairs = isRecord(nodeSelector) ? Object.entries(nodeSelector) : [];
  if (pairs.length === 0) return matcher;
  const labels = pairs.map(equality);
  const terms: readonly MatcherTerm[] = matcher?.terms ?? [{ requirements: [], names: [] }];
  return {
    // The pairs are not validated, so they are quoted.
    key: `pod ${JSON.stringify(pairs)} ${matcher?.key ?? ''}`,
    terms: terms.map(({ requirements, names }) => ({ requirements: [...labels, ...requirements], names })),
  };
}

/** Requires the exact label value. kube-scheduler checks no syntax here. A value that is not a string matches no label. */
function equality([key, value]: readonly [string, unknown]): Requirement {
  return { key, operator: 'In', values: new Set(typeof value === 'string' ? [value] : []), bound: undefined };
}

const nameField = 'metadata.name';

/** Reads the terms as written, not as compiled: a term that matches no node still restricts the names. */
function requiredNamesOf({ nodeSelectorTerms }: NodeSelector): ReadonlySet<string> | undefined {
  const terms = listOf(nodeSelectorTerms);
  if (terms.length === 0) return undefined;
  const names = new Set<string>();
  for (const term of terms) {
    const conditions = nonNullItems(term?.matchFields).filter(
      ({ key, operator }) => key === nameField && operator === 'In',
    );
    if (conditions.length === 0) return undefined;
    const [first, ...others] = conditions.map(({ values }) => nonNullItems(values));
    for (const name of first!) if (others.every((values) => values.includes(name))) names.add(name);
  }
  return names;
}
