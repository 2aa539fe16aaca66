import type { CompiledLabelSelector } from '../../../kube/selectors/label-selector.ts';
import type { Requirement } from '../../../kube/selectors/requirement.ts';
import { addTo, removeFrom } from '../../maps.ts';
import { labelPair } from './label-pairs.ts';

/**
 * Items with label selectors, indexed so that given labels are compared with few of them. An item that requires `app In [web]` can
 * only match labels with that pair, and is indexed by it. An item without such a requirement is always a candidate.
 */
export class SelectorIndex<T extends { readonly selector: CompiledLabelSelector }> {
  readonly #byPair = new Map<string, Set<T>>();
  readonly #unanchored = new Set<T>();

  add(item: T): void {
    const anchor = anchorOf(item.selector);
    if (anchor === undefined) this.#unanchored.add(item);
    else for (const value of anchor.values) addTo(this.#byPair, labelPair(anchor.key, value), item);
  }

  delete(item: T): void {
    const anchor = anchorOf(item.selector);
    if (anchor === undefined) this.#unanchored.delete(item);
    else for (const value of anchor.values) removeFrom(this.#byPair, labelPair(anchor.key, value), item);
  }

  /** All items that may match the labels, each once: labels have one value per key, and an item is indexed by one key. */
  candidates(labels: Readonly<Record<string, string>>): T[] {
    const found = [...this.#unanchored];
    if (this.#byPair.size === 0) return found;
    for (const key of Object.keys(labels)) {
      const matching = this.#byPair.get(labelPair(key, labels[key]!));
      if (matching !== undefined) found.push(...matching);
    }
    return found;
  }
}

function anchorOf({ requirements }: CompiledLabelSelector): Requirement | undefined {
  return requirements.find(({ operator }) => operator === 'In');
}
