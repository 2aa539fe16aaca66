import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Cluster } from '../../cluster/cluster.ts';
import { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import { spreadGroupOf } from '../../engine/cluster-index/pools/policies/spread-group.ts';
import type { StatefulSet } from '../../kube/api/apps.ts';
import type { PersistentVolumeClaim, Pod } from '../../kube/api/core.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { notFound } from '../../kube/api-error.ts';
import type { Resource } from '../../kube/resource.ts';
import { claimOwnerGroup } from './claim-owner.ts';

const namespace = 'default';
const metadataOf = (name: string) => ({ namespace, name, uid: `uid-${name}`, resourceVersion: '1' });
const owned = (kind: string, name: string) => ({
  ownerReferences: [{ kind, name, uid: `uid-${name}`, controller: true }],
});

function setOf([name, templates]: readonly [string, readonly string[]]): StatefulSet {
  const volumeClaimTemplates = templates.map((template) => ({ metadata: { name: template } }));
  return { metadata: metadataOf(name), spec: { volumeClaimTemplates } } as unknown as StatefulSet;
}

/** The part of an API server that `claimOwnerGroup` reads; its lists are sorted by name. */
function clusterOf(objects: Readonly<Record<string, readonly KubeObject[]>>): Cluster {
  const resource = ({ kind, group, plural }: Resource<KubeObject>) => ({
    get: async ({ name }: { readonly name: string }) => {
      const found = objects[kind]?.find(({ metadata }) => metadata?.name === name);
      if (found === undefined) throw notFound({ group, plural }, name);
      return found;
    },
    list: async () => ({
      items: [...(objects[kind] ?? [])].sort((a, b) => (a.metadata!.name! < b.metadata!.name! ? -1 : 1)),
    }),
  });
  return { resource } as unknown as Cluster;
}

const names = fc.constantFrom('a', 'b', 'a-b', 'b-a', 'a-b-a', '1', 'a-1');
const owners = fc.oneof(
  fc.constant({}),
  names.map((name) => owned('StatefulSet', name)),
  names.map((name) => owned('Pod', name)),
);

test('CreateVolume and the scheduler spread a claim with the same owner', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(names, fc.array(names, { maxLength: 2 }), { maxKeys: 4, noNullPrototype: true }),
      fc.tuple(names, fc.constantFrom('-0', '-12', '', '-x')).map((parts) => parts.join('')),
      owners,
      fc.option(owners, { nil: undefined }),
      async (templates, claimName, claimOwner, podOwner) => {
        const spreading: PersistentVolumeClaim = {
          metadata: { ...metadataOf(claimName), ...claimOwner },
          spec: { storageClassName: 'spread' },
        };
        const sets = Object.entries(templates).map(setOf);
        const podName = 'ownerReferences' in claimOwner ? claimOwner.ownerReferences[0]!.name : 'none';
        const pods: Pod[] =
          podOwner === undefined ? [] : [{ metadata: { ...metadataOf(podName), ...podOwner } }];
        const index = new ClusterIndex();
        index.upsert('StorageClass', {
          metadata: { name: 'spread', resourceVersion: '1' },
          provisioner: 'drives.stowage.dev',
          parameters: { spreadBy: 'claim-owner' },
        });
        for (const set of sets) index.upsert('StatefulSet', set);
        for (const pod of pods) index.upsert('Pod', pod);
        index.upsert('PersistentVolumeClaim', spreading);
        const cluster = clusterOf({ PersistentVolumeClaim: [spreading], StatefulSet: sets, Pod: pods });
        const { signal } = new AbortController();
        const user = { namespace, name: claimName };
        expect(spreadGroupOf(index, index.claims.get(`default/${claimName}`)!)).toBe(
          await claimOwnerGroup(cluster, user, signal),
        );
      },
    ),
    { numRuns: 500, examples: [[{ a: ['b'], 'b-a': ['a'] }, 'a-b-a-0', {}, undefined]] },
  );
});
