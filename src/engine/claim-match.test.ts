import { expect, test } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim } from '../kube/api/core.ts';
import { couldServe, matchClaim } from './claim-match.ts';
import { clusterOf } from './testing/cluster.ts';
import { byName, claim, claimRefTo, localVolume, volume } from './testing/objects.ts';

/* kube-controller-manager's index_test.go, by what it shows. */

interface Case {
  readonly name: string;
  readonly volumes: readonly PersistentVolume[];
  readonly claim: PersistentVolumeClaim;
  readonly isDelayed?: boolean;
  readonly chosen: string | undefined;
}

const reader = { spec: { accessModes: ['ReadOnlyMany'] } } as const;
const both = { spec: { accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] } } as const;
const all = { spec: { accessModes: ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany'] } } as const;
const disk = { metadata: { labels: { disk: 'fast' } } } as const;

const cases: readonly Case[] = [
  {
    name: 'the smallest that is large enough',
    volumes: [volume('a', '10Gi'), volume('b', '5Gi'), volume('c', '1Gi')],
    claim: claim('c', '2Gi'),
    chosen: 'b',
  },
  {
    name: 'of equal ones the first by name',
    volumes: [volume('b', '1Gi'), volume('a', '1Gi')],
    claim: claim('c', '1Gi'),
    chosen: 'a',
  },
  {
    name: 'fewest access modes first, however large',
    volumes: [volume('a', '1Gi', all), volume('b', '9Gi', both), volume('c', '1Gi', reader)],
    claim: claim('c', '1Gi'),
    chosen: 'b',
  },
  {
    name: 'more access modes if need be',
    volumes: [volume('a', '1Gi', all), volume('b', '9Gi', both)],
    claim: claim('c', '1Gi', { spec: { accessModes: ['ReadWriteMany'] } }),
    chosen: 'a',
  },
  {
    name: 'none of another class',
    volumes: [volume('a', '1Gi', { className: 'other' })],
    claim: claim('c', '1Gi'),
    chosen: undefined,
  },
  {
    name: 'none whose labels the selector refuses',
    volumes: [volume('a', '1Gi'), volume('b', '9Gi', { metadata: { name: 'b', ...disk.metadata } })],
    claim: claim('c', '1Gi', { spec: { selector: { matchLabels: disk.metadata.labels } } }),
    chosen: 'b',
  },
  {
    name: 'none of another class of attributes',
    volumes: [volume('a', '1Gi'), volume('b', '9Gi', { spec: { volumeAttributesClassName: 'gold' } })],
    claim: claim('c', '1Gi', { spec: { volumeAttributesClassName: 'gold' } }),
    chosen: 'b',
  },
  {
    name: 'none that is Bound, Released, Failed or Pending',
    volumes: ['Bound', 'Released', 'Failed', 'Pending', ''].map((phase, at) =>
      volume(`v${at}`, '1Gi', { phase }),
    ),
    claim: claim('c', '1Gi'),
    chosen: undefined,
  },
  {
    name: 'none that is being deleted, though it names the claim',
    volumes: [
      volume('a', '1Gi', {
        metadata: { name: 'a', deletionTimestamp: '2026-01-01T00:00:00Z' },
        spec: claimRefTo('c'),
      }),
      volume('b', '1Gi', { metadata: { name: 'b', deletionTimestamp: '2026-01-01T00:00:00Z' } }),
    ],
    claim: claim('c', '1Gi'),
    chosen: undefined,
  },
  {
    name: 'sizes that a double cannot represent',
    volumes: [volume('a', '800E'), volume('b', '800000000000000000001')],
    claim: claim('c', '800000000000000000001'),
    chosen: 'b',
  },
  {
    name: 'a volume that names the claim comes first, whatever its class, phase and labels',
    volumes: [
      volume('a', '1Gi'),
      volume('b', '9Gi', { className: 'other', phase: 'Pending', spec: claimRefTo('c') }),
    ],
    claim: claim('c', '1Gi'),
    chosen: 'b',
  },
  {
    name: 'a volume that names the claim but is too small is ignored',
    volumes: [volume('a', '5Gi'), volume('b', '1Gi', { spec: claimRefTo('c') })],
    claim: claim('c', '2Gi'),
    chosen: 'a',
  },
  {
    name: 'a volume that names the claim but lacks an access mode is ignored',
    volumes: [volume('a', '5Gi', all), volume('b', '5Gi', { spec: claimRefTo('c') })],
    claim: claim('c', '2Gi', { spec: { accessModes: ['ReadWriteMany'] } }),
    chosen: 'a',
  },
  {
    name: 'a volume that names another claim, or an earlier claim with the same name, is ignored',
    volumes: [
      volume('a', '1Gi', { spec: claimRefTo('d') }),
      volume('b', '1Gi', { spec: claimRefTo('c', 'uid-of-another') }),
    ],
    claim: claim('c', '1Gi'),
    chosen: undefined,
  },
  {
    name: 'a claim that waits for its consumer gets no volume',
    volumes: [volume('a', '1Gi')],
    claim: claim('c', '1Gi'),
    isDelayed: true,
    chosen: undefined,
  },
  {
    name: 'a claim that waits for its consumer gets a volume that names it',
    volumes: [volume('a', '1Gi', { spec: claimRefTo('c', 'uid-c') })],
    claim: claim('c', '1Gi'),
    isDelayed: true,
    chosen: 'a',
  },
  {
    name: 'local volumes of all nodes are candidates',
    volumes: [localVolume('a', '3Gi', 'n1'), localVolume('b', '2Gi', 'n2'), localVolume('c', '1Gi', 'n3')],
    claim: claim('c', '2Gi'),
    chosen: 'b',
  },
];

test.each(byName(cases))('%s', (_, { volumes, claim: asked, isDelayed = false, chosen }) => {
  const index = clusterOf({ PersistentVolume: volumes, PersistentVolumeClaim: [asked] });
  const record = index.claims.get('default/c')!;
  const found = matchClaim(index, record, isDelayed);
  expect(found?.key).toBe(chosen);
  if (found !== undefined && found.claim === undefined) expect(couldServe(found, record)).toBe(true);
});
