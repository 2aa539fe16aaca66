import type { NodeSelector } from '../../kube/api/core.ts';
import { compileNodeSelector, compileTerm, type Requirement } from '../../kube/selectors/node-selector.ts';
import { isRecord, listOf } from '../../kube/wire.ts';
import { nonNullItems } from './field-readers.ts';
import { type MatcherTerm, matcherOfSelector, type NodeMatcher } from './node-matcher.ts';
import { memoByShape, type ShapeSpec } from './pod-shape.ts';
import type { PreferredNodes } from './preferred-nodes.ts';

/** The nodes that a pod asks for by name and label. */
export interface PodNodeAffinity {
  /** Its node selector and its required affinity in one; undefined if it asks for nothing. */
  readonly required: NodeMatcher | undefined;
  /**
   * The only nodes that its required affinity lets it have by name, whatever their labels; undefined if that leaves any. None at all
   * if the names contradict each other.
   */
  readonly requiredNames: ReadonlySet<string> | undefined;
  readonly preferred: readonly PreferredNodes[];
}

/**
 * Terms that can't be read match no node, as in kube-scheduler. So do preferred ones, on which kube-scheduler gives up: no reason to
 * leave a pod waiting.
 */
export const podNodeAffinityOf = memoByShape((spec: ShapeSpec): PodNodeAffinity => {
  const affinity = spec.affinity?.nodeAffinity;
  const selector = affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? undefined;
  return {
    required: requiredNodes(spec.nodeSelector, selector),
    requiredNames: selector && pinsOf(selector),
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
  const affine = selector && matcherOfSelector(compileNodeSelector(selector));
  const pairs = isRecord(nodeSelector) ? Object.entries(nodeSelector) : [];
  if (pairs.length === 0) return affine;
  const labels = pairs.map(equality);
  const terms: readonly MatcherTerm[] = affine?.terms ?? [{ requirements: [], names: [] }];
  return {
    // Nobody has checked the pairs, so they are quoted.
    key: `pod ${JSON.stringify(pairs)} ${affine?.key ?? ''}`,
    terms: terms.map(({ requirements, names }) => ({ requirements: [...labels, ...requirements], names })),
  };
}

/** The label, exactly; kube-scheduler checks no syntax here. What isn't text equals no label. */
function equality([key, value]: readonly [string, unknown]): Requirement {
  return { key, operator: 'In', values: new Set(typeof value === 'string' ? [value] : []), bound: undefined };
}

const nameField = 'metadata.name';

/** Read from what is written rather than from what it comes to: a term that matches nothing pins all the same. */
function pinsOf({ nodeSelectorTerms }: NodeSelector): ReadonlySet<string> | undefined {
  const terms = listOf(nodeSelectorTerms);
  if (terms.length === 0) return undefined;
  const pins = new Set<string>();
  for (const term of terms) {
    const conditions = nonNullItems(term?.matchFields).filter(
      ({ key, operator }) => key === nameField && operator === 'In',
    );
    if (conditions.length === 0) return undefined;
    const [first, ...others] = conditions.map(({ values }) => nonNullItems(values));
    for (const name of first!) if (others.every((values) => values.includes(name))) pins.add(name);
  }
  return pins;
}
