import type { Cluster } from '../../cluster/cluster.ts';
import { persistentVolumeClaims, persistentVolumes, pods } from '../../kube/resources.ts';
import { annotations, labels } from '../../kube/well-known.ts';
import { localClassName, nodeNames } from '../base-cluster.ts';
import {
  boundVolumesAreLargeEnough,
  claimsHaveNoMarksAtRest,
  volumesAreReleasedAfterTheirClaims,
  volumesAreWhereTheyShouldBe,
} from '../invariants/claims.ts';
import { volumesAreWherePodsMayRun } from '../invariants/segments.ts';
import {
  boundClaimsOwnTheirVolume,
  claimRefsAreReplacedOnlyWhenReleased,
  reservationsEndWithTheirClaims,
  volumeServesOneClaim,
  volumesInUseStay,
} from '../invariants/volumes.ts';
import type { ActionContext, SimulationPart } from '../part.ts';
import type { ActionParameters } from '../scenario.ts';
import { namespace, podNames } from './pod-objects.ts';

const volumeNames = ['v0', 'v1', 'v2', 'v3', 'v4', 'v5'] as const;
const claimNames = podNames.flatMap((pod) => [`${pod}-l0`, `${pod}-d0`]);

/** Local volumes, claims, and people who edit them at the worst moment. */
export const volumesPart: SimulationPart = {
  name: 'volumes',
  processes: [
    {
      name: 'volumes',
      controllers: ['pv-binder', 'provisioner', 'protection', 'ephemeral', 'zonal-upgrade'],
      knowsSegmentDriver: true,
    },
  ],
  invariants: [
    volumeServesOneClaim,
    boundClaimsOwnTheirVolume,
    claimRefsAreReplacedOnlyWhenReleased,
    volumesInUseStay,
    reservationsEndWithTheirClaims,
    volumesAreReleasedAfterTheirClaims,
    boundVolumesAreLargeEnough,
    claimsHaveNoMarksAtRest,
    volumesAreWhereTheyShouldBe,
    volumesAreWherePodsMayRun,
  ],
  probes: [
    {
      name: 'every node gets a volume',
      run: async ({ cluster }) => {
        for (const node of nodeNames) await createVolume(cluster, { name: `probe-${node}`, node, gib: 10 });
      },
    },
  ],
  actions: [
    {
      name: 'create-volume',
      weight: 8,
      draw: (random) => ({
        volume: random.pick(volumeNames),
        node: random.pick(nodeNames),
        gib: 1 + random.int(6),
      }),
      run: async ({ cluster }, { volume, node, gib }) => {
        await createVolume(cluster, { name: String(volume), node: String(node), gib: Number(gib) });
      },
    },
    {
      name: 'delete-volume',
      weight: 1,
      draw: (random) => ({ volume: random.pick(volumeNames) }),
      run: async ({ cluster }, { volume }) =>
        void (await cluster.resource(persistentVolumes).delete({ name: String(volume) })),
    },
    {
      name: 'reuse-volume',
      weight: 2,
      draw: (random) => ({ volume: random.pick(volumeNames) }),
      run: async ({ cluster }, { volume }) => {
        const client = cluster.resource(persistentVolumes);
        const { metadata, status } = await client.get({ name: String(volume) });
        if (status?.phase !== 'Released') return;
        const { uid, resourceVersion } = metadata ?? {};
        const body = { metadata: { uid, resourceVersion }, spec: { claimRef: null } };
        await client.patch({ name: String(volume) }, { type: 'merge', body });
      },
    },
    {
      name: 'reserve-volume',
      weight: 1,
      draw: (random) => ({ volume: random.pick(volumeNames), claim: random.pick(claimNames) }),
      run: async ({ cluster }, { volume, claim }) => {
        const client = cluster.resource(persistentVolumes);
        const { metadata, spec } = await client.get({ name: String(volume) });
        if (spec?.claimRef !== undefined) return;
        const { uid, resourceVersion } = metadata ?? {};
        const claimRef = { namespace, name: String(claim) };
        const body = { metadata: { uid, resourceVersion }, spec: { claimRef } };
        await client.patch({ name: String(volume) }, { type: 'merge', body });
      },
    },
    {
      name: 'delete-claim',
      weight: 3,
      draw: (random) => ({ claim: random.pick(claimNames) }),
      run: async ({ cluster }, { claim }) =>
        void (await cluster.resource(persistentVolumeClaims).delete({ namespace, name: String(claim) })),
    },
    {
      name: 'delete-pending-claim',
      weight: 2,
      draw: (random) => ({ pod: random.int(8), claim: random.int(4) }),
      run: deletePendingClaim,
    },
    {
      name: 'grow-claim',
      weight: 1,
      draw: (random) => ({ claim: random.pick(claimNames), gib: 2 + random.int(8) }),
      run: async ({ cluster }, { claim, gib }) => {
        const body = { spec: { resources: { requests: { storage: `${gib}Gi` } } } };
        await cluster
          .resource(persistentVolumeClaims)
          .patch({ namespace, name: String(claim) }, { type: 'merge', body });
      },
    },
    {
      name: 'clear-selected-node',
      weight: 1,
      draw: (random) => ({ claim: random.pick(claimNames) }),
      run: async ({ cluster }, { claim }) => {
        const body = { metadata: { annotations: { [annotations.selectedNode]: null } } };
        await cluster
          .resource(persistentVolumeClaims)
          .patch({ namespace, name: String(claim) }, { type: 'merge', body });
      },
    },
  ],
};

interface LocalVolume {
  readonly name: string;
  readonly node: string;
  readonly gib: number;
}

async function createVolume(cluster: Cluster, { name, node, gib }: LocalVolume): Promise<void> {
  const matchExpressions = [{ key: labels.hostname, operator: 'In' as const, values: [node] }];
  await cluster.resource(persistentVolumes).create({
    metadata: { name },
    spec: {
      capacity: { storage: `${gib}Gi` },
      accessModes: ['ReadWriteOnce'],
      storageClassName: localClassName,
      persistentVolumeReclaimPolicy: 'Retain',
      local: { path: `/mnt/${name}` },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
    },
  });
}

/** Deletes a claim of a pod that has no node yet: perhaps its other volumes are just being bound. */
async function deletePendingClaim(
  { cluster }: ActionContext,
  { pod, claim }: ActionParameters,
): Promise<void> {
  const { items } = await cluster.resource(pods).list({ namespace });
  const pending = items.filter(({ spec }) => (spec?.nodeName ?? '') === '');
  const { spec, metadata } = pending[Number(pod) % pending.length] ?? {};
  const names = (spec?.volumes ?? []).flatMap(
    ({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? [],
  );
  const name = names[Number(claim) % names.length];
  // The claims of StatefulSets outlive everything, and an invariant relies on that.
  if (name === undefined || metadata?.ownerReferences !== undefined) return;
  await cluster.resource(persistentVolumeClaims).delete({ namespace, name });
}
