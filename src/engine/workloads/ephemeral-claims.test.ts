import { expect, test } from 'vitest';
import type { Pod } from '../../kube/api/core.ts';
import type { ObjectMeta } from '../../kube/api/meta.ts';
import { claimConflict, ephemeralVolumesOf, podsThatMayUse } from './ephemeral-claims.ts';

const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } as const;
const pod: Pod = {
  metadata: { namespace: 'shop', name: 'web-0', uid: 'u1' },
  spec: {
    volumes: [
      { name: 'config', configMap: { name: 'c' } },
      {
        name: 'scratch',
        ephemeral: {
          volumeClaimTemplate: {
            metadata: { labels: { a: 'b' }, annotations: { c: 'd' }, name: 'no' },
            spec,
          },
        },
      },
    ],
  },
};
const owner = { apiVersion: 'v1', kind: 'Pod', name: 'web-0', uid: 'u1' };

test('a claim has the labels, annotations and spec of its template, and is owned by its pod', () => {
  expect(ephemeralVolumesOf(pod)).toEqual([
    {
      volumeName: 'scratch',
      claimName: 'web-0-scratch',
      claim: {
        metadata: {
          namespace: 'shop',
          name: 'web-0-scratch',
          labels: { a: 'b' },
          annotations: { c: 'd' },
          ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
        },
        spec,
      },
    },
  ]);
});

test('a pod that is being deleted needs no claims', () => {
  const metadata = { ...pod.metadata, deletionTimestamp: '2025-01-01T00:00:00Z' };
  expect(ephemeralVolumesOf({ ...pod, metadata })).toEqual([]);
});

const notOwner = 'PVC shop/web-0-scratch was not created for pod shop/web-0 (pod is not owner)';
const claimed: readonly { what: string; metadata: ObjectMeta; expected: string | undefined }[] = [
  {
    what: 'the pod controls it',
    metadata: { ownerReferences: [{ ...owner, controller: true }] },
    expected: undefined,
  },
  { what: 'it has no owner', metadata: {}, expected: notOwner },
  {
    what: 'the pod owns it without controlling it',
    metadata: { ownerReferences: [owner] },
    expected: notOwner,
  },
  {
    what: 'a former pod of the same name owned it',
    metadata: { ownerReferences: [{ ...owner, uid: 'u0', controller: true }] },
    expected: notOwner,
  },
];

test.each(claimed)('whether a claim is for the pod if $what', ({ metadata, expected }) => {
  const claim = { metadata: { namespace: 'shop', name: 'web-0-scratch', ...metadata } };
  expect(claimConflict(claim, pod)).toBe(expected);
});

test.each([
  { name: 'web', expected: [] },
  { name: 'web-data', expected: ['shop/web'] },
  { name: 'web-0-scratch', expected: ['shop/web', 'shop/web-0'] },
])('a claim $name may belong to volumes of $expected', ({ name, expected }) => {
  expect(podsThatMayUse({ metadata: { namespace: 'shop', name } })).toEqual(expected);
});
