import { expect, test } from 'vitest';
import type { PersistentVolumeClaim } from '../../kube/api/core.ts';
import { spreadPosition } from './spread.ts';

interface Owner {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

function claim(
  name: string,
  owner?: Owner,
  creationTimestamp = '2024-01-01T00:00:00Z',
): PersistentVolumeClaim {
  const ownerReferences = owner === undefined ? [] : [{ apiVersion: 'v1', ...owner }];
  return { metadata: { namespace: 'default', name, creationTimestamp, ownerReferences } };
}

const set = { kind: 'StatefulSet', name: 'my-web', uid: 's' };
const job = { kind: 'Job', name: 'batch', uid: 'j' };

test.each([
  ['data-web-0', 0],
  ['data-web-12', 12],
  ['data', 0],
  ['data-web-x1', 0],
  ['data-99999999999999999999', 0],
])('the ordinal of %s is %d', (name, ordinal) => {
  expect(spreadPosition(claim(name), []).ordinal).toBe(ordinal);
});

test('the hash is the one by which disks of cloud providers were spread', () => {
  // FNV-1 of "web", as Go's hash/fnv New32 gives it.
  expect(spreadPosition(claim('data-web-0'), []).hash).toBe(fnv1('web'));
});

test.each([
  ['templates of one set', claim('data-my-web-1', set), claim('logs-my-web-1', set), true],
  ['templates of one set, by name alone', claim('data-web-1'), claim('logs-web-1'), true],
  [
    'ephemeral volumes of one pod',
    claim('p-a', { kind: 'Pod', name: 'p', uid: '1' }),
    claim('p-b', { kind: 'Pod', name: 'p', uid: '1' }),
    true,
  ],
  ['replicas of one set', claim('data-my-web-1', set), claim('data-my-web-2', set), false],
  [
    'ephemeral volumes of two pods of a set',
    claim('w-0-a', { kind: 'Pod', name: 'w-0', uid: '1' }),
    claim('w-1-a', { kind: 'Pod', name: 'w-1', uid: '2' }),
    false,
  ],
])('%s', (_, one, other, isTogether) => {
  const [a, b] = [spreadPosition(one, []), spreadPosition(other, [])];
  expect(a.hash).toBe(b.hash);
  expect(a.ordinal === b.ordinal).toBe(isTogether);
});

test('claims of another owner are counted in the order of their creation', () => {
  const claims = [
    claim('z', job, '2024-01-01T00:00:00Z'),
    claim('b', job, '2024-01-02T00:00:00Z'),
    claim('c', job, '2024-01-02T00:00:00Z'),
  ];
  const ordinals = claims.map((one) => spreadPosition(one, [...claims, claim('unknown')]).ordinal);
  expect(ordinals).toEqual([0, 1, 2]);
});

function fnv1(text: string): number {
  let hash = 2166136261n;
  for (const char of text) hash = ((hash * 16777619n) % 2n ** 32n) ^ BigInt(char.charCodeAt(0));
  return Number(hash);
}
