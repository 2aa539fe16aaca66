import { expect, test } from 'vitest';
import { documentsOf } from './read-manifests.ts';

test.each([
  // A parser that quotes the line of every error needs a minute for this.
  [`a: "${'\\z'.repeat(80_000)}"`, 'line 1: invalid escape sequence \\z'],
  ['a: b\n---\nc: "\\z"\n', 'line 3: invalid escape sequence \\z'],
  ['a: 1\nb: 2\na: 3\n', 'line 3: key "a" already set in map'],
])('a file is refused by its first error, case %#', (text, message) => {
  expect(() => documentsOf(text, 'f')).toThrow(`f: is not valid YAML: yaml: ${message}`);
});

test('a file has any number of documents, read as kubectl reads them', () => {
  expect(documentsOf('a: yes\n---\n---\nb: 0644\n', 'f')).toEqual([{ a: true }, { b: 420 }]);
});
