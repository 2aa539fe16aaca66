import type { KindCatalogue } from '../kinds/kind-catalog.ts';

/** What follows from the kinds that are served, made when somebody asks, and again when they have changed. */
export function perEdition<T>(kinds: KindCatalogue, make: (kinds: KindCatalogue) => T): () => T {
  let made: { readonly edition: number; readonly value: T } | undefined;
  return () => {
    if (made?.edition !== kinds.edition) made = { edition: kinds.edition, value: make(kinds) };
    return made.value;
  };
}
