import type { PersistentVolume, Pod } from '../../kube/api/core.ts';
import { pods } from '../../kube/resources.ts';
import { labels } from '../../kube/well-known.ts';
import { nodeOf } from '../base-cluster.ts';
import { segmentDriverName } from '../simulated-segment-driver.ts';
import type { Invariant } from './invariant.ts';

/**
 * A volume cannot change its node, so a pod whose volume is where it may not run waits forever. The labels of nodes and the selectors of pods
 * stay the same here; whether a node is full or cordoned may change after the segments were recorded, and does not count.
 */
export const volumesAreWherePodsMayRun: Invariant = {
  name: 'a driver that chooses any segment of its request creates no volume where the labels of nodes exclude its pod',
  onVersion: ({ resource, key, before, after }, state) => {
    if (resource !== 'persistentvolumes' || before !== undefined) return undefined;
    const { spec } = (after ?? {}) as PersistentVolume;
    if (spec?.csi?.driver !== segmentDriverName) return undefined;
    const [node = ''] = hostsOf(spec.nodeAffinity);
    const { name: claimName, namespace } = spec.claimRef ?? {};
    const users = [...state.values(pods)].filter((pod) => pod.metadata?.namespace === namespace);
    const excluded = users.find(
      (pod) => claimNamesOf(pod).includes(claimName) && !isSelected(pod, nodeOf(node).metadata?.labels ?? {}),
    );
    return excluded && `volume ${key} is on ${node}, where pod ${excluded.metadata?.name} may not run`;
  },
};

function hostsOf(affinity: NonNullable<PersistentVolume['spec']>['nodeAffinity']): readonly string[] {
  const terms = affinity?.required?.nodeSelectorTerms ?? [];
  return terms.flatMap(({ matchExpressions = [] }) =>
    matchExpressions.filter(({ key }) => key === labels.hostname).flatMap(({ values = [] }) => values),
  );
}

function claimNamesOf({ spec }: Pod): readonly (string | undefined)[] {
  return (spec?.volumes ?? []).map(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName);
}

function isSelected({ spec }: Pod, nodeLabels: Readonly<Record<string, string>>): boolean {
  return Object.entries(spec?.nodeSelector ?? {}).every(([key, value]) => nodeLabels[key] === value);
}
