import type { NodeSelector } from '../../kube/core.ts';
import { compileNodeSelector } from '../../kube/node-selector.ts';
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
export class AffinityCache {
  readonly #honourNames: boolean;
  readonly #byText = new Map<string, CompiledAffinity>();

  constructor(honourNames: boolean) {
    this.#honourNames = honourNames;
  }

  compile(selector: NodeSelector, field: string): CompiledAffinity {
    const text = JSON.stringify(selector);
    const known = this.#byText.get(text);
    if (known !== undefined) return known;
    if (this.#byText.size >= entriesMax) this.#byText.clear();
    const compiled = compileNodeSelector(selector, field);
    const entry = { nodes: matcherOfSelector(compiled, this.#honourNames), problems: compiled.problems };
    this.#byText.set(text, entry);
    return entry;
  }
}
