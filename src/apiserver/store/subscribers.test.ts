import { expect, test } from 'vitest';
import type { StoreChange } from './store.ts';
import { Subscribers } from './subscribers.ts';

const change = (bucket: string, revision: number): StoreChange => ({
  type: 'put',
  bucket,
  entry: { key: 'a', bytes: Buffer.from('1'), createRevision: revision, revision },
  previous: undefined,
});

test('a listener that throws is removed, the others are still notified, and the exception is rethrown', () => {
  const subscribers = new Subscribers();
  const notified: string[] = [];
  subscribers.add('pods', 1, () => notified.push('first'));
  subscribers.add('pods', 1, () => {
    notified.push('broken');
    throw new Error('broken');
  });
  subscribers.add('pods', 1, () => notified.push('last'));
  subscribers.add('nodes', 1, () => notified.push('node'));
  expect(() => subscribers.publish(2, (bucket) => [change(bucket, 2)])).toThrow('broken');
  subscribers.publish(3, (bucket) => [change(bucket, 3)]);
  expect(notified).toEqual(['first', 'broken', 'last', 'node', 'first', 'last', 'node']);
});
