import type { Invariant } from './invariant.ts';

export const answersAreTrue: Invariant = {
  name: 'the server stores every write that it acknowledged, and a write replaces the version that it names',
  atRest: (_, { wrongAnswers }) => wrongAnswers.slice(0, 1),
};

/** Each controller removes only its own finalizer, so the last version before an object is removed has one at most. */
export const finalizersHoldObjects: Invariant = {
  name: 'no object is removed while a finalizer holds it',
  onVersion: ({ resource, key, before, after }) => {
    const { finalizers = [] } = before?.metadata ?? {};
    if (after !== undefined || finalizers.length < 2) return undefined;
    return `${resource}/${key} is removed, and had ${finalizers.join(', ')}`;
  },
};
