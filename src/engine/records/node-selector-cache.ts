import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from '../../kube/api/core.ts';
import { compileNodeSelector } from '../../kube/selectors/node-selector.ts';
import { matcherOfSelector, type NodeMatcher } from './node-matcher.ts';

interface CompiledAffinity {
  readonly nodes: NodeMatcher;
  readonly problems: readonly string[];
}

/** Past this the cache starts over. */
const entriesMax = 50_000;

/**
 * Node selectors that have been compiled before, by their text. The volumes of one node have the same selector, and a volume
 * that is bound or freed has the one it had: compiling is by far the dearest part of reading it.
 */
export class NodeSelectorCache {
  readonly #honourNames: boolean;
  readonly #byText = new Map<string, CompiledAffinity>();

  constructor(honourNames: boolean) {
    this.#honourNames = honourNames;
  }

  compile(selector: NodeSelector, field: string): CompiledAffinity {
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
 * A text that equal selectors share and no others; undefined for one that isn't as the API has it, which is compiled anew each
 * time. Walks only as deep as a selector is: nested junk would overflow a general serializer's stack.
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
    // Quoted, because nobody has checked these texts yet.
    text += `${JSON.stringify([key, operator, ...values])};`;
  }
  return text;
}
