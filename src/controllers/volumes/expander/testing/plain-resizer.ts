import type { Resizer } from '../resizer.ts';

/** Volumes whose size is a number in their object. */
export const plainResizer: Resizer = {
  name: 'stowage.dev/plain',
  isFor: ({ spec }) => spec?.hostPath !== undefined,
  needsNode: false,
  expand: async () => ({ kind: 'expanded' }),
};
