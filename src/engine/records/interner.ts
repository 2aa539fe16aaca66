import type { NodeMatcher } from './node-matcher.ts';

/**
 * Replaces equal values by one shared instance. Each object parsed from JSON has its own copies of class names and node selectors,
 * though a hundred thousand volumes share a few distinct values.
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

/** The maps are cleared when they are full: sharing saves memory and is never needed for correctness. */
const entriesMax = 200_000;
