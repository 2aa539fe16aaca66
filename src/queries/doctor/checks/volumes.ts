import type { PersistentVolume } from '../../../kube/api/core.ts';
import { listOf, textOf } from '../../../kube/wire.ts';
import { type Check, type Found, objectOf } from '../check.ts';
import { type ClusterFacts, factItems, factValue } from '../facts.ts';

export const volumeChecks: readonly Check[] = [
  {
    subject: 'the node affinity of volumes',
    needs: ['volumes', 'nodes', 'csiNodes'],
    find: affinityFindings,
  },
];

function affinityFindings(facts: ClusterFacts): readonly Found[] {
  // On a single node every volume is where the pod is.
  if (factValue(facts.lists.nodes).length < 2) return [];
  const isLocalDriver = nodeLimited(facts);
  return factValue(facts.lists.volumes).flatMap((volume) => {
    if (listOf(volume.spec?.nodeAffinity?.required?.nodeSelectorTerms).length > 0) return [];
    const object = objectOf('PersistentVolume', volume);
    const what = whyLimited(volume, isLocalDriver);
    if (what === undefined) return [];
    return [{ code: 'VolumeWithoutNodeAffinity', object, ...what } as const];
  });
}

function whyLimited(
  { spec }: PersistentVolume,
  isLocalDriver: (driver: string) => boolean,
): Pick<Found, 'detail' | 'severity'> | undefined {
  if (spec?.local !== undefined) return { detail: 'is a local volume without spec.nodeAffinity' };
  const driver = textOf(spec?.csi?.driver);
  if (driver !== '' && isLocalDriver(driver))
    return { detail: `is a volume of ${driver}, which is limited to some nodes, without spec.nodeAffinity` };
  if (spec?.hostPath === undefined) return undefined;
  return { detail: 'is a directory of a node (hostPath) without spec.nodeAffinity', severity: 'warning' };
}

/** A driver whose nodes have their own value for a topology key. Volumes of a driver by zone may be everywhere in a cluster of one zone. */
function nodeLimited({ lists }: ClusterFacts): (driver: string) => boolean {
  const keys = new Map<string, ReadonlySet<string>>();
  for (const { spec } of factItems(lists.csiNodes))
    for (const { name, topologyKeys } of listOf(spec?.drivers))
      keys.set(textOf(name), new Set([...(keys.get(textOf(name)) ?? []), ...listOf(topologyKeys)]));
  const all = factItems(lists.nodes);
  return (driver) =>
    [...(keys.get(driver) ?? [])].some((key) => {
      const values = all.flatMap(({ metadata }) => metadata?.labels?.[key] ?? []);
      return new Set(values).size > 1;
    });
}
