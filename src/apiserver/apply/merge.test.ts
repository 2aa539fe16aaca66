import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { shapeOfType } from '../patch/type-shapes.ts';
import { mergeConfiguration } from './merge.ts';

const pod = shapeOfType('core/v1.Pod');

describe('a configuration over an object', () => {
  test('puts the members of sets into the order of Kubernetes', () => {
    const lines = readFileSync(new URL('testing/list-orders.ndjson', import.meta.url), 'utf8').trimEnd();
    const vectors = lines.split('\n').map((line) => JSON.parse(line) as readonly (readonly string[])[]);
    expect(vectors).toHaveLength(300);
    for (const [live = [], config = [], merged] of vectors) {
      const { metadata } = mergeConfiguration(
        { metadata: { finalizers: live } },
        { metadata: { finalizers: config } },
        pod,
      );
      expect(metadata, JSON.stringify([live, config])).toEqual({ finalizers: merged });
    }
  });

  test.each([
    [
      'scalars, null included',
      { nodeName: 'a', priority: 1 },
      { nodeName: null },
      { nodeName: null, priority: 1 },
    ],
    [
      'granular maps by key',
      { overhead: { cpu: '1' } },
      { overhead: { memory: '1' } },
      { overhead: { cpu: '1', memory: '1' } },
    ],
    [
      'atomic maps as a whole',
      { nodeSelector: { a: '1' } },
      { nodeSelector: { b: '1' } },
      { nodeSelector: { b: '1' } },
    ],
    ['atomic lists as a whole', { tolerations: [{ key: 'a' }] }, { tolerations: [] }, { tolerations: [] }],
    [
      'elements with the same keys',
      { containers: [{ name: 'a', image: '1' }, { name: 'b' }] },
      { containers: [{ name: 'c' }, { name: 'a', workingDir: '/' }] },
      { containers: [{ name: 'c' }, { name: 'a', image: '1', workingDir: '/' }, { name: 'b' }] },
    ],
    [
      'nothing for a map that is null',
      { overhead: { cpu: '1' } },
      { overhead: null },
      { overhead: { cpu: '1' } },
    ],
    [
      'a name like any other',
      {},
      JSON.parse('{"overhead":{"__proto__":"1"}}'),
      JSON.parse('{"overhead":{"__proto__":"1"}}'),
    ],
  ])('merges %s', (_, live, config, merged) => {
    expect(mergeConfiguration({ spec: live }, { spec: config }, pod)).toEqual({ spec: merged });
  });
});
