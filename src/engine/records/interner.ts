import type { NodeMatcher } from './node-matcher.ts';

/**
 * One instance for equal values. Objects fresh from JSON each bring their own copy of the class name and of the node
 * selector; a hundred thousand volumes share a handful of them.
 */
export class Interner {
  readonly #texts = new Map<string, string>();
  readonly #matchers = new Map<string, NodeMatcher>();

  text(value: string): string {
    const known = this.#texts.get(value);
    if (known !== undefined) return known;
    if (this.#texts.size >= entriesMax) this.#texts.clear();
    this.#texts.set(value, value);
    return value;
  }

  matcher(value: NodeMatcher): NodeMatcher {
    const known = this.#matchers.get(value.key);
    if (known !== undefined) return known;
    if (this.#matchers.size >= entriesMax) this.#matchers.clear();
    this.#matchers.set(value.key, value);
    return value;
  }
}

/** Past this we start over: sharing saves memory, it is never needed for correctness. */
const entriesMax = 200_000;
