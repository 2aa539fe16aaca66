import type { KindCatalog } from '../kinds/kind-catalog.ts';

/** What follows from the kinds that are served, made when somebody asks, and again when they have changed. */
export function cachedPerCatalogVersion<T>(kinds: KindCatalog, make: (kinds: KindCatalog) => T): () => T {
  let made: { readonly edition: number; readonly value: T } | undefined;
  return () => {
    if (made?.edition !== kinds.version) made = { edition: kinds.version, value: make(kinds) };
    return made.value;
  };
}
