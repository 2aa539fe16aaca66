import type { CompiledLabelSelector } from '../../../kube/selectors/label-selector.ts';
import type { Requirement } from '../../../kube/selectors/requirement.ts';
import { labelPair } from './label-pairs.ts';
import { addTo, removeFrom } from './maps.ts';

/**
 * Things that select by labels, arranged so that given labels are held against few of them: what requires `app In [web]` can
 * only match labels with that pair, and is filed under it. What requires no value of any label is always looked at.
 */
export class SelectorIndex<T extends { readonly selector: CompiledLabelSelector }> {
  readonly #byPair = new Map<string, Set<T>>();
  readonly #loose = new Set<T>();

  add(item: T): void {
    const anchor = anchorOf(item.selector);
    if (anchor === undefined) this.#loose.add(item);
    else for (const value of anchor.values) addTo(this.#byPair, labelPair(anchor.key, value), item);
  }

  delete(item: T): void {
    const anchor = anchorOf(item.selector);
    if (anchor === undefined) this.#loose.delete(item);
    else for (const value of anchor.values) removeFrom(this.#byPair, labelPair(anchor.key, value), item);
  }

  /** All that may match the labels, each once: labels have one value a key, and an item is filed under one key. */
  candidates(labels: Readonly<Record<string, string>>): T[] {
    const found = [...this.#loose];
    if (this.#byPair.size === 0) return found;
    for (const key of Object.keys(labels)) {
      const filed = this.#byPair.get(labelPair(key, labels[key]!));
      if (filed !== undefined) found.push(...filed);
    }
    return found;
  }
}

function anchorOf({ requirements }: CompiledLabelSelector): Requirement | undefined {
  return requirements.find(({ operator }) => operator === 'In');
}
