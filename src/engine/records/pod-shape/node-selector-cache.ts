import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from '../../../kube/api/core.ts';
import { compileNodeSelector } from '../../../kube/selectors/node-selector.ts';
import { matcherOfSelector, type NodeMatcher } from '../node-matcher.ts';

interface CompiledSelector {
  readonly nodes: NodeMatcher;
  readonly problems: readonly string[];
}

/** The cache is cleared when it is full. */
const entriesMax = 50_000;

/**
 * A cache of compiled node selectors, by their text. The volumes of one node have equal selectors, and a volume that is bound or freed
 * keeps its selector. Compiling the selector is by far the most expensive part of reading a volume.
 */
export class NodeSelectorCache {
  readonly #honourNames: boolean;
  readonly #byText = new Map<string, CompiledSelector>();

  constructor(honourNames: boolean) {
    this.#honourNames = honourNames;
  }

  compile(selector: NodeSelector, field: string): CompiledSelector {
    const text = textOfSelector(selector);
    const known = text === undefined ? undefined : this.#byText.get(text);
    if (known !== undefined) return known;
    if (this.#byText.size >= entriesMax) this.#byText.clear();
    const compiled = compileNodeSelector(selector, field);
    const entry = { nodes: matcherOfSelector(compiled, this.#honourNames), problems: compiled.problems };
    if (text !== undefined) this.#byText.set(text, entry);
    return entry;
  }
}

/**
 * A text that is equal exactly for equal selectors; undefined for a malformed selector, which is compiled each time. This function
 * reads only the levels that a selector has: deeply nested garbage would overflow the stack of a general serializer.
 */
function textOfSelector({ nodeSelectorTerms }: NodeSelector): string | undefined {
  if (!Array.isArray(nodeSelectorTerms)) return undefined;
  let text = '';
  for (const term of nodeSelectorTerms as readonly (NodeSelectorTerm | null)[]) {
    const expressions = textOfRequirements(term?.matchExpressions);
    const fields = textOfRequirements(term?.matchFields);
    if (expressions === undefined || fields === undefined) return undefined;
    text += `${expressions}|${fields}\n`;
  }
  return text;
}

function textOfRequirements(
  requirements: readonly NodeSelectorRequirement[] | undefined,
): string | undefined {
  if (requirements === undefined) return '';
  if (!Array.isArray(requirements)) return undefined;
  let text = '';
  for (const requirement of requirements as readonly (NodeSelectorRequirement | null)[]) {
    const { key, operator, values = [] } = requirement ?? {};
    if (typeof key !== 'string' || typeof operator !== 'string' || !Array.isArray(values)) return undefined;
    if (!values.every((value) => typeof value === 'string')) return undefined;
    // Quoted, because these strings are not validated yet.
    text += `${JSON.stringify([key, operator, ...values])};`;
  }
  return text;
}
