import type { BuiltInResizer } from '../resizer.ts';

/** Volumes whose size is a number in their object. */
export const plainResizer: BuiltInResizer = {
  name: 'stowage.dev/plain',
  isFor: ({ spec }) => spec?.hostPath !== undefined,
  expand: async (_volume, size) => ({ kind: 'expanded', size, needsNode: false }),
};
