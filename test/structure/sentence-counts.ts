import type { RiddleCounts } from './sentence-rules.ts';

/** How many sentences of each folder match the patterns of `sentence-rules.ts`. */
export const sentenceCounts: RiddleCounts = {
  '.': 2,
  bench: 1,
  docs: 27,
  scripts: 6,
  'src/cli': 67,
  'src/controllers': 124,
  'src/drives': 28,
  'src/engine': 15,
  'src/queries': 12,
  'src/reconcile': 1,
  test: 12,
};
