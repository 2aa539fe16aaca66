import type { RiddleCounts } from './sentence-rules.ts';

/** How many sentences of each folder match the patterns of `sentence-rules.ts`. */
export const sentenceCounts: RiddleCounts = {
  '.': 2,
  bench: 1,
  docs: 17,
  scripts: 6,
  'src/cli': 35,
  'src/controllers': 23,
  'src/drives': 3,
  'src/engine': 8,
  'src/queries': 2,
  'src/reconcile': 1,
  test: 12,
};
