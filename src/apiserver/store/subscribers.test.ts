import { expect, test } from 'vitest';
import type { StoreChange } from './store.ts';
import { Subscribers } from './subscribers.ts';

const change = (bucket: string, revision: number): StoreChange => ({
  type: 'put',
  bucket,
  entry: { key: 'a', bytes: Buffer.from('1'), createRevision: revision, revision },
  previous: undefined,
});

test('one that throws is not told again, the others are told all the same, and it is not kept quiet', () => {
  const subscribers = new Subscribers();
  const told: string[] = [];
  subscribers.add('pods', 1, () => told.push('first'));
  subscribers.add('pods', 1, () => {
    told.push('broken');
    throw new Error('broken');
  });
  subscribers.add('pods', 1, () => told.push('last'));
  subscribers.add('nodes', 1, () => told.push('node'));
  expect(() => subscribers.publish(2, (bucket) => [change(bucket, 2)])).toThrow('broken');
  subscribers.publish(3, (bucket) => [change(bucket, 3)]);
  expect(told).toEqual(['first', 'broken', 'last', 'node', 'first', 'last', 'node']);
});
