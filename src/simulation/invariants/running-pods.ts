import type { Pod } from '../../kube/api/core.ts';
import { isFinished } from '../../kube/pods.ts';
import { nodes, persistentVolumeClaims, pods } from '../../kube/resources.ts';
import { annotations } from '../../kube/well-known.ts';
import type { Invariant } from './invariant.ts';

/** The mark that a claim is mounted keeps schedulers from withdrawing its volume, so it is written before anything is mounted. */
export const runningPodsHaveMarkedClaims: Invariant = {
  name: 'a pod runs only when all of its claims are marked as mounted',
  onVersion: ({ resource, key, before, after }, state) => {
    if (resource !== 'pods' || after === undefined) return undefined;
    const pod = after as Pod;
    if (!isRunning(pod) || isRunning(before as Pod | undefined)) return undefined;
    const problems = claimNamesOf(pod).flatMap((name) => {
      const claim = state.get(persistentVolumeClaims, `${pod.metadata?.namespace}/${name}`);
      const isMarked = claim?.metadata?.annotations?.[annotations.mounted] !== undefined;
      return isMarked ? [] : [`claim ${name} is not marked as mounted`];
    });
    return problems.length === 0 ? undefined : `pod ${key} runs: ${problems.join('; ')}`;
  },
};

/** A pod that runs keeps its claims, also those that people delete. */
export const claimsInUseStay: Invariant = {
  name: 'no claim is removed while a pod runs with it',
  onVersion: ({ resource, key, before, after }, state) => {
    if (resource !== 'persistentvolumeclaims' || after !== undefined) return undefined;
    const { namespace, name = '' } = before?.metadata ?? {};
    const user = [...state.values(pods)].find(
      (pod) =>
        pod.metadata?.namespace === namespace &&
        isRunning(pod) &&
        !isFinished(pod) &&
        claimNamesOf(pod).includes(name),
    );
    return user && `claim ${key} is removed, and pod ${user.metadata?.name} runs with it`;
  },
};

/** Checked when a pod gets its node: the requests of all pods there fit. Pods that were created with their node do not count. */
export const nodesAreNotOvercommitted: Invariant = {
  name: 'the pods that a scheduler places on a node fit there',
  onVersion: ({ resource, key, before, after }, state) => {
    if (resource !== 'pods' || before === undefined || after === undefined) return undefined;
    const nodeName = (after as Pod).spec?.nodeName ?? '';
    if (nodeName === '' || (before as Pod).spec?.nodeName === nodeName) return undefined;
    const limit = Number(state.get(nodes, nodeName)?.status?.allocatable?.cpu ?? Number.POSITIVE_INFINITY);
    let cpu = 0;
    for (const pod of state.values(pods))
      if (pod.spec?.nodeName === nodeName && !isFinished(pod)) cpu += cpuOf(pod);
    return cpu <= limit
      ? undefined
      : `pod ${key}: ${cpu} CPUs are requested on ${nodeName}, which has ${limit}`;
  },
};

/** The simulation uses whole CPUs only. */
function cpuOf({ spec }: Pod): number {
  return (spec?.containers ?? []).reduce(
    (sum, { resources }) => sum + Number(resources?.requests?.cpu ?? 0),
    0,
  );
}

function isRunning(pod: Pod | undefined): boolean {
  return pod?.status?.phase === 'Running';
}

function claimNamesOf({ spec }: Pod): readonly string[] {
  return (spec?.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
}
