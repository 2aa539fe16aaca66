import { expect, test } from 'vitest';
import { checkRiddles, countRiddles } from './sentence-rules.ts';
import { filesOf } from './testing/made-up-sources.ts';

test.each([
  ['a passive without a subject', '// The disk is looked at every second.'],
  ['a negated noun', "throw new Error('this is no address');"],
  ['a clause that begins with a bare what', '/** It leaves once that has what it has. */'],
  ['a comment that begins with a preposition', '/** Of the copy that is complete. */'],
])('%s counts', (_, text) => {
  expect(countRiddles(filesOf({ 'src/engine/a.ts': `\n${text}\n` }))).toEqual({ 'src/engine': 1 });
});

test('"is no longer" and prepositions inside of sentences do not count', () => {
  const text = '// The node is no longer ready.\n// A copy of an image, in the order of names.\n';
  expect(countRiddles(filesOf({ 'src/engine/a.ts': text }))).toEqual({});
});

test('a count that rises or falls is reported, with the folder', () => {
  const files = filesOf({ 'docs/a.md': 'It is taken back.', 'src/cli/a.ts': '' });
  expect(checkRiddles(files, { docs: 1 })).toEqual([]);
  expect(checkRiddles(files, {})[0]?.remedy).toContain('rewrite the new one');
  expect(checkRiddles(files, { docs: 1, 'src/cli': 2 })[0]?.remedy).toContain('record 0');
});
