import type { KindCatalog } from '../kinds/kind-catalog.ts';

/** Caches a value computed from the served kinds: computed on first use, and again after the catalog has changed. */
export function cachedPerCatalogVersion<T>(kinds: KindCatalog, make: (kinds: KindCatalog) => T): () => T {
  let made: { readonly edition: number; readonly value: T } | undefined;
  return () => {
    if (made?.edition !== kinds.version) made = { edition: kinds.version, value: make(kinds) };
    return made.value;
  };
}
