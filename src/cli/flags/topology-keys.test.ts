import { expect, test } from 'vitest';
import { topologyKeysIn } from './topology-keys.ts';

test('labels are separated by commas; those that are segments anyway are left out', () => {
  expect(topologyKeysIn(undefined, '--topology-keys')).toEqual([]);
  const text = 'example.com/rack, row,row,,topology.kubernetes.io/zone,stowage.dev/node';
  expect(topologyKeysIn(text, '--topology-keys')).toEqual(['example.com/rack', 'row']);
});

test.each([
  ['rack=r1', '--topology-keys: "rack=r1" must be the key of a label of Nodes'],
  [Array.from({ length: 17 }, (_, at) => `k${at}`).join(), '--topology-keys: name at most 16 labels'],
])('%s is refused', (text, problem) => {
  expect(() => topologyKeysIn(text, '--topology-keys')).toThrow(problem);
});
