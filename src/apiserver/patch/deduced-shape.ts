import type { DeducedShape } from './merge-shape.ts';

/** For values whose type no schema states, the value decides: maps are granular at any depth, and lists are atomic. */
export const deducedShape: DeducedShape = {
  kind: 'deduced',
  list: { kind: 'list', relation: 'atomic', keys: [], keyOrder: [], element: { kind: 'any' } },
  map: {
    kind: 'map',
    isAtomic: false,
    get value() {
      return deducedShape;
    },
  },
};
