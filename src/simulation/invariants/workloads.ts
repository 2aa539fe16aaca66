import type { StatefulSet } from '../../kube/api/apps.ts';
import type { Pod } from '../../kube/api/core.ts';
import { getCondition } from '../../kube/conditions.ts';
import { controllerOf } from '../../kube/owner-references.ts';
import { pods, statefulSets } from '../../kube/resources.ts';
import type { Invariant } from './invariant.ts';
import type { StoredObjects } from './stored-objects.ts';

/** Pods are created in order, each when all before it are ready; so the first one that is missing follows one that is not ready. */
export const setsHaveTheirPods: Invariant = {
  name: 'when the system is at rest, a StatefulSet has the pods that it should have',
  atRest: (state) =>
    [...state.values(statefulSets)].flatMap((set) =>
      set.metadata?.deletionTimestamp === undefined ? problemsOf(set, state) : [],
    ),
};

/** People of the simulation delete no such claims, and the sets retain them. */
export const setsKeepTheirClaims: Invariant = {
  name: 'the claims of a StatefulSet outlive its pods',
  onVersion: ({ resource, key, before, after }) => {
    if (resource !== 'persistentvolumeclaims' || !/\/data-s\d-\d+$/.test(key)) return undefined;
    const wasDeleted = before?.metadata?.deletionTimestamp !== undefined;
    if (wasDeleted || (after !== undefined && after.metadata?.deletionTimestamp === undefined))
      return undefined;
    return `claim ${key} is deleted`;
  },
};

export const dependentsEndWithTheirOwner: Invariant = {
  name: 'when the system is at rest, no pod has an owner that does not exist',
  atRest: (state) => {
    const owners = new Set([...state.values(statefulSets)].map(({ metadata }) => metadata?.uid));
    return [...state.values(pods)].flatMap((pod) => {
      const owner = controllerOf(pod);
      if (owner?.kind !== 'StatefulSet' || owners.has(owner.uid)) return [];
      return [`pod ${pod.metadata?.name} exists, and its StatefulSet ${owner.name} does not`];
    });
  },
};

/** Pods that were deleted are removed by their node, or, without a node, by the collector of pods. */
export const deletedPodsGoAway: Invariant = {
  name: 'when the system is at rest, no pod is being deleted',
  atRest: (state) =>
    [...state.values(pods)].flatMap(({ metadata }) =>
      metadata?.deletionTimestamp === undefined ? [] : [`pod ${metadata.name} is being deleted`],
    ),
};

function problemsOf(set: StatefulSet, state: StoredObjects): readonly string[] {
  const { name, uid } = set.metadata ?? {};
  const members = [...state.values(pods)].filter((pod) => controllerOf(pod)?.uid === uid);
  const byName = new Map(members.map((pod) => [pod.metadata?.name, pod]));
  const wanted = Array.from({ length: set.spec?.replicas ?? 1 }, (_, ordinal) => `${name}-${ordinal}`);
  const missing = wanted.find((podName) => !byName.has(podName));
  const before = missing === undefined ? wanted : wanted.slice(0, wanted.indexOf(missing));
  const isWaiting = before.some((podName) => !isReady(byName.get(podName)));
  const extra = members.filter((pod) => !wanted.includes(pod.metadata?.name ?? ''));
  if (isWaiting || isBlocked(members, extra)) return [];
  return [
    ...(missing === undefined ? [] : [`StatefulSet ${name} lacks pod ${missing}`]),
    ...extra.map(({ metadata }) => `StatefulSet ${name} has pod ${metadata?.name}, which is too many`),
  ];
}

/** As in Kubernetes, a pod that is not ready is removed only if no pod of a lower ordinal is not ready either. */
function isBlocked(members: readonly Pod[], extra: readonly Pod[]): boolean {
  const last = extra.toSorted((a, b) => ordinalOf(b) - ordinalOf(a))[0];
  if (last === undefined || isReady(last)) return false;
  return members.some((pod) => ordinalOf(pod) < ordinalOf(last) && !isReady(pod));
}

function ordinalOf({ metadata }: Pod): number {
  return Number(metadata?.name?.split('-').at(-1));
}

function isReady(pod: Pod | undefined): boolean {
  return getCondition(pod?.status?.conditions, 'Ready')?.status === 'True';
}
