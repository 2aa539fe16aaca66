import { expect, test } from 'vitest';
import { clusterOf } from '../../../engine/testing/cluster.ts';
import { claim, volume } from '../../../engine/testing/objects.ts';
import { WaitingClaims } from './waiting-claims.ts';

const sizes = ['1Gi', '2Gi', '4Gi', '4Gi', '8Gi'];
const labelled = { selector: { matchLabels: { disk: 'fast' } } };
const index = clusterOf({
  PersistentVolumeClaim: [
    ...sizes.map((size, at) => claim(`c${at}`, size)),
    claim('picky', '5Gi', { spec: labelled }),
    claim('other', '5Gi', { className: 'other' }),
    claim('shared', '5Gi', { spec: { accessModes: ['ReadWriteMany'] } }),
  ],
  PersistentVolume: [
    ...['1Gi', '3Gi', '5Gi', '100Gi'].map((size) => volume(size.toLowerCase(), size)),
    volume('tiny', '1Mi'),
    volume('fast', '6Gi', { metadata: { name: 'fast', labels: { disk: 'fast' } } }),
    volume('another', '6Gi', { className: 'another' }),
  ],
});

function allWaiting(): WaitingClaims {
  const waiting = new WaitingClaims();
  for (const record of index.claims.records()) waiting.add(record);
  return waiting;
}

function bestFor(waiting: WaitingClaims, name: string): string | undefined {
  return waiting.bestFor(index.volumes.get(name)!)?.name;
}

test.each([
  ['1gi', 'c0'],
  ['3gi', 'c1'],
  ['5gi', 'c3'],
  ['100gi', 'c4'],
  ['tiny', undefined],
  ['fast', 'picky'],
  ['another', undefined],
])('volume %s is for claim %s', (name, expected) => {
  expect(bestFor(allWaiting(), name)).toBe(expected);
});

test('claims that no longer wait are not found, and adding one twice changes nothing', () => {
  const waiting = allWaiting();
  for (const record of index.claims.records()) waiting.add(record);
  expect(waiting.size).toBe(8);
  for (const name of ['c3', 'c2', 'c1', 'c1']) waiting.delete(`default/${name}`);
  expect(bestFor(waiting, '5gi')).toBe('c0');
  for (const record of index.claims.records()) waiting.delete(record.key);
  expect([waiting.size, bestFor(waiting, '100gi')]).toEqual([0, undefined]);
});
