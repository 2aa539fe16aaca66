import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Pod } from '../../kube/api/core.ts';
import { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { pod } from '../testing/objects.ts';
import { WhatIfCluster } from '../what-if/what-if-cluster.ts';
import { isActive } from '../workloads/pod-state.ts';

const owners = ['ReplicaSet/web', 'ReplicaSet/api'] as const;
const names = ['p1', 'p2', 'p3', 'p4'] as const;

const arbPod: fc.Arbitrary<Pod> = fc
  .record({
    name: fc.constantFrom(...names),
    owner: fc.constantFrom(...owners, undefined),
    nodeName: fc.constantFrom('n1', undefined),
    isDeleting: fc.boolean(),
    phase: fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed'),
  })
  .map(({ name, owner, nodeName, isDeleting, phase }) => {
    const [kind = '', ownerName = ''] = owner?.split('/') ?? [];
    const reference = { apiVersion: 'apps/v1', kind, name: ownerName, uid: ownerName, controller: true };
    const made = pod(name, [], nodeName === undefined ? {} : { nodeName });
    return {
      ...made,
      metadata: {
        ...made.metadata,
        ...(owner !== undefined && { ownerReferences: [reference] }),
        ...(isDeleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      },
      status: { phase },
    } as Pod;
  });

const arbStep = fc.oneof(
  { weight: 3, arbitrary: arbPod.map((put) => ({ put })) },
  fc.constantFrom(...names).map((remove) => ({ remove: `default/${remove}` })),
);

function clusterWith(known: ReadonlyMap<string, Pod>): WhatIfCluster {
  const index = new ClusterIndex();
  for (const each of known.values()) index.upsert('Pod', each);
  const objects = { get: (_: string, key: string) => known.get(key), values: () => known.values() };
  return new WhatIfCluster(index, objects as never, { nowMs: 0, onChange: () => {} });
}

/** The slow and obvious way. */
function walked(pods: Iterable<Pod>, owner: string): { present: number; active: number; placed: number } {
  const present = [...pods].filter(
    ({ metadata, status }) =>
      metadata?.ownerReferences?.some(({ kind, name }) => `${kind}/${name}` === owner) &&
      status?.phase !== 'Succeeded' &&
      status?.phase !== 'Failed',
  );
  const active = present.filter(isActive);
  const placed = active.filter(({ spec }) => spec?.nodeName !== undefined);
  return { present: present.length, active: active.length, placed: placed.length };
}

test('the pods of a controller are counted as a walk over all pods would do it', () => {
  const arbSteps = fc.array(arbStep, { maxLength: 20, size: 'max' });
  fc.assert(
    fc.property(fc.array(arbPod, { maxLength: 4 }), arbSteps, (start, steps) => {
      const pods = new Map(start.map((each) => [`default/${each.metadata?.name}`, each]));
      const cluster = clusterWith(new Map(pods));
      for (const step of [{ remove: '' }, ...steps]) {
        if ('put' in step) {
          pods.set(`default/${step.put.metadata?.name}`, step.put);
          cluster.put('Pod', step.put);
        } else {
          pods.delete(step.remove);
          cluster.remove('Pod', step.remove);
        }
        for (const owner of owners) {
          const counts = cluster.podCounts(owner, 'default');
          const { present, active, placed } = counts;
          expect({ present, active, placed }).toEqual(walked(pods.values(), owner));
          const found = cluster.podsOf(owner, 'default');
          expect(found).toHaveLength(active);
          expect(cluster.firstPodOf(owner, 'default')).toBe(found[0]);
          expect(cluster.podsWith(owner, 'default')).toHaveLength(present);
        }
      }
    }),
    { numRuns: 60 },
  );
});
