import type { DeducedShape } from './merge-shape.ts';

/** Where nothing says what a value is, the value decides: maps are granular, however deep, and lists atomic. */
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
