/** Random valid clusters, each with pods to be scheduled. */
import fc from 'fast-check';
import type { ClusterObjects } from '../../../src/engine/testing/cluster.ts';
import { arbFewSlots } from '../../../src/engine/testing/random/attach-slots.ts';
import { sometimes } from '../../../src/engine/testing/random/chance.ts';
import { arbClaim } from '../../../src/engine/testing/random/claims.ts';
import { arbObjects, type RandomObjects } from '../../../src/engine/testing/random/cluster.ts';
import { distributions, mixed } from '../../../src/engine/testing/random/distribution.ts';
import { nodeNames } from '../../../src/engine/testing/random/names.ts';
import type { PersistentVolumeClaim, Pod } from '../../../src/kube/api/core.ts';
import type { OwnerReference } from '../../../src/kube/api/meta.ts';
import { withClaimsNamedOnce } from './differences.ts';
import type { ClusterView } from './our-scheduler.ts';
import { arbBudgets } from './random-budgets.ts';
import { arbNode } from './random-nodes.ts';
import { cacheVolume } from './random-pod-volumes.ts';
import { arbExistingPod, arbIncomingPod, existingNames } from './random-pods.ts';
import { arbStorageVariants } from './random-storage.ts';
import { type Theme, themes } from './themes.ts';
import { makeValid, validClaim } from './valid-objects.ts';

export interface RandomCase extends ClusterView {
  readonly pods: readonly PodCase[];
}

export interface PodCase {
  readonly pod: Pod;
  /** The claim of its ephemeral volume, if the claim exists. */
  readonly cache: EphemeralClaim | undefined;
}

export interface EphemeralClaim {
  readonly claim: PersistentVolumeClaim;
  /** If false, the claim belongs to another owner and has the name by chance. */
  readonly isOwned: boolean;
}

const podsPerCluster = 10;

const mostlyBound = { ...mixed, boundClaims: 70, volumes: 90, oddVolumes: 5 };

/** Deterministic for a seed. */
export function randomCase(seed: number): RandomCase {
  return fc.sample(arbCase, { seed, numRuns: 1 })[0]!;
}

const arbCase: fc.Arbitrary<RandomCase> = fc
  .record({
    theme: fc.constantFrom(...themes),
    storage: fc.constantFrom(...distributions.map(arbObjects), arbObjects(mostlyBound), arbFewSlots),
    names: fc
      .constantFrom(1, 1, 2, 3, 4, 6)
      .chain((count) => fc.shuffledSubarray(nodeNames, { minLength: count, maxLength: count })),
  })
  .chain(({ theme, storage, names }) => arbCaseOf(theme, storage, names));

function arbCaseOf(
  theme: Theme,
  arbStorage: fc.Arbitrary<RandomObjects>,
  names: readonly string[],
): fc.Arbitrary<RandomCase> {
  return fc
    .record({
      storage: arbStorage,
      Node: fc.tuple(...names.map((name) => arbNode(name, theme))),
      Pod: fc
        .tuple(...existingNames.map((name) => sometimes(60, arbExistingPod(name, theme, names))))
        .map((existing) => existing.filter((pod) => pod !== undefined)),
      pods: fc.array(arbPodCase(theme), { minLength: podsPerCluster, maxLength: podsPerCluster }),
    })
    .chain(({ storage: { DriverCapacity: _ours, ...storage }, Node, Pod, pods }) =>
      fc
        .tuple(arbStorageVariants(storage), arbCaches(Pod), arbBudgets(theme))
        .map(([varied, caches, budgets]) =>
          caseOf({ objects: withClaims({ ...varied, Node, Pod }, caches), budgets, pods }),
        ),
    );
}

function caseOf({ objects, budgets, pods }: RandomCase): RandomCase {
  const served = makeValid(objects);
  const claims = served.PersistentVolumeClaim ?? [];
  const incoming = pods.map((one) => ({ ...one, pod: withClaimsNamedOnce(one.pod, claims) }));
  return { objects: served, budgets, pods: incoming };
}

function withClaims(objects: ClusterObjects, more: readonly PersistentVolumeClaim[]): ClusterObjects {
  return { ...objects, PersistentVolumeClaim: [...(objects.PersistentVolumeClaim ?? []), ...more] };
}

function arbPodCase(theme: Theme): fc.Arbitrary<PodCase> {
  return fc
    .record({
      pod: arbIncomingPod(theme),
      claim: sometimes(Math.round(theme.volumes / 5), arbClaim('cache')),
      outcome: fc.constantFrom('owned', 'owned', 'owned', 'owned', 'another', 'missing'),
    })
    .map(({ pod, claim, outcome }) => {
      if (claim === undefined) return { pod, cache: undefined };
      const cache = { claim: validClaim(claim), isOwned: outcome === 'owned' };
      return { pod: withCache(pod), cache: outcome === 'missing' ? undefined : cache };
    });
}

function withCache(pod: Pod): Pod {
  return { ...pod, spec: { ...pod.spec, volumes: [...(pod.spec?.volumes ?? []), cacheVolume] } };
}

/** Claims for the ephemeral volumes of existing pods; each is owned by its pod. */
function arbCaches(pods: readonly Pod[]): fc.Arbitrary<PersistentVolumeClaim[]> {
  const owners = pods.filter(({ spec }) => spec?.volumes?.includes(cacheVolume));
  const claims = owners.map(({ metadata: { name = '', namespace = '' } = {} }) =>
    arbClaim(`${name}-cache`, mostlyBound).map((claim) => ({
      ...claim,
      metadata: { ...claim.metadata, namespace, ownerReferences: [ownerReference(name)] },
    })),
  );
  return fc.tuple(...claims);
}

/** The uid is set when the pod has one. */
function ownerReference(name: string): OwnerReference {
  return { apiVersion: 'v1', kind: 'Pod', name, uid: `uid-${name}`, controller: true };
}
