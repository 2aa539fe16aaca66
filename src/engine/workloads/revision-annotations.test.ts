import { expect, test } from 'vitest';
import { annotationsToAdd, revisionAnnotation } from './revision-annotations.ts';

const setWith = (revision: string | undefined) => ({
  metadata: { annotations: revision === undefined ? {} : { [revisionAnnotation]: revision } },
});

/** The revision that the current set gets, when the old one and the current one have these. */
function nextRevision(old: string | undefined, current?: string): string | undefined {
  const set = setWith(current);
  return annotationsToAdd({ metadata: {} }, set, { current: set, old: [setWith(old)] })[revisionAnnotation];
}

test.each([
  { old: undefined, next: '1' },
  { old: '7', next: '8' },
  { old: '9007199254740993', next: '9007199254740994' },
  { old: '1234567890123305832', next: '1234567890123305833' },
  { old: 'seven', next: '1' },
  { old: '99999999999999999999', next: '1' },
])('after revision $old comes revision $next, exactly', ({ old, next }) => {
  expect(nextRevision(old)).toBe(next);
});

test('a revision beyond 2^53 is compared exactly', () => {
  expect(nextRevision('9007199254740992', '9007199254740993')).toBeUndefined();
  expect(nextRevision('9007199254740993', '9007199254740993')).toBe('9007199254740994');
});
