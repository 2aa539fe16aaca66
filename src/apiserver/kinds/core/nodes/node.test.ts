import { expect, test } from 'vitest';
import { nodeKind } from './node.ts';

test('a node without spec.unschedulable is selected as schedulable', () => {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: {}, spec: {}, status: {} };
  const read = nodeKind.selectableFields?.['spec.unschedulable'];
  expect(read?.(node as never)).toBe('false');
});
