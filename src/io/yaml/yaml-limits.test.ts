import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { costProblem } from './yaml-limits.ts';
import { readYaml } from './yaml-reader.ts';

/** As large as a request may be. Without limits, each of these would take minutes to parse or end the process. */
const count = 1_000_000;
const depth = 'yaml: exceeded max depth of 10000';
const large = 'yaml: document is too large, send it as JSON';
const nothing = 'yaml: line 1: did not find expected node content';

test.each([
  ['lists in lists', '- '.repeat(count), depth],
  ['keys in keys', '? '.repeat(count), depth],
  ['values in values', 'a: '.repeat(count), depth],
  ['brackets in brackets', '['.repeat(count), depth],
  ['braces in braces', '{a: '.repeat(count), depth],
  [
    'blocks in blocks',
    Array.from({ length: 2_000 }, (_, column) => `${' '.repeat(column)}a:`).join('\n'),
    depth,
  ],
  [
    'anchors',
    Array.from({ length: 5_000 }, (_, i) => `k${i}: &a${i} [*a${i}]`).join('\n'),
    'yaml: document contains excessive aliasing',
  ],
  ['unterminated anchors', '&a '.repeat(count), 'yaml: document contains excessive aliasing'],
  ['unmatched closing brackets', '}'.repeat(count), nothing],
  ['tags', '!!a '.repeat(count), 'yaml: document contains excessive tags'],
  ['items', `[${'a,'.repeat(count)}]`, large],
  ['keys', 'a: b\n'.repeat(count), large],
  ['comments', '#a\n'.repeat(count), large],
  ['empty lines', '\n '.repeat(count), large],
  ['documents', '---\n'.repeat(count), large],
  ['lines of a literal', `a: |\n${'  x\n'.repeat(count)}`, large],
  ['empty lines of a text', `a: "${'\n'.repeat(count)}"`, large],
  ['commas without items', `[${','.repeat(count)}`, nothing],
])('a text of a million %s is refused before parsing', (_what, text, message) => {
  expect(() => readYaml(text)).toThrow(message);
});

describe('the limits allow', () => {
  const manifest = {
    apiVersion: 'v1',
    kind: 'List',
    items: Array.from({ length: 2_000 }, (_, index) => ({
      metadata: { name: `n${index}`, annotations: { json: '[[[[{,,}}}}', '- - -': '? : -\n- - - [' } },
      spec: { containers: [{ name: 'c', args: ['a', '-', ',', ']'], env: [] }] },
    })),
  };

  test.each([
    ['in blocks', stringify(manifest)],
    ['in brackets', stringify(manifest, { collectionStyle: 'flow' })],
    ['as JSON', JSON.stringify(manifest, undefined, 2)],
    ['in many documents', '---\n- - [a, b,]\n...\n'.repeat(2_000)],
    ['with a few anchors', 'a: &x {b: c, }\nd: [*x, *x]\n# ]]]] ,,,\n'],
    [
      'with text that resembles syntax',
      `a: |\n${'  - - - [[[[ ,, }}}\n'.repeat(1_000)}b: "${']'.repeat(1_000)}"\n`,
    ],
  ])('a manifest %s', (_form, text) => {
    expect(costProblem(text)).toBeUndefined();
  });
});
