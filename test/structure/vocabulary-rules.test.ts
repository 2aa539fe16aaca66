import { expect, test } from 'vitest';
import { filesOf, places } from './testing/made-up-sources.ts';
import { checkVocabulary } from './vocabulary-rules.ts';

test.each([
  ['a comment', '/** The queue is told of it. */'],
  ['a message', "throw new Error('nobody asked');"],
  ['a name', 'class BindingDesk {}'],
  ['several words', '// It is taken for a node.'],
])('a word that is ruled out is found in %s', (_, text) => {
  expect(places(checkVocabulary(filesOf({ 'src/a.ts': `\n${text}` }), []))).toEqual(['src/a.ts:2']);
});

test('parts of other words are not found', () => {
  expect(
    checkVocabulary(filesOf({ 'docs/a.md': 'untold worldwide, a desktop, amend, recommended' }), []),
  ).toEqual([]);
});

test('a use that is right is allowed, with a reason, in its file only', () => {
  const files = filesOf({ 'a.md': 'Hello World', 'b.md': 'Hello World' });
  const allowed = [{ file: 'a.md', word: 'world', reason: 'quotes the image that the example runs' }];
  expect(places(checkVocabulary(files, allowed))).toEqual(['b.md:1']);
});
