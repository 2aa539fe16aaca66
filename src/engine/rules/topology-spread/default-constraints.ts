/** The default spread of pods without constraints: soft, over nodes and zones, relative to pods of the same service or controller. */
import type { CompiledLabelSelector } from '../../../kube/selectors/label-selector.ts';
import type { Requirement } from '../../../kube/selectors/requirement.ts';
import { labels as wellKnownLabels } from '../../../kube/well-known.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import type { SpreadConstraint } from '../../records/pod-shape/spread-constraints.ts';

const skews: readonly (readonly [topologyKey: string, maxSkew: number])[] = [
  [wellKnownLabels.hostname, 3],
  [wellKnownLabels.zone, 5],
];

const noConstraints: readonly SpreadConstraint[] = [];

/** None for a pod that no service selects and no known controller owns. */
export function defaultConstraints(index: ClusterIndex, pod: PodRecord): readonly SpreadConstraint[] {
  const selector = defaultSelector(index, pod);
  if (selector.requirements.length === 0) return noConstraints;
  return skews.map(([topologyKey, maxSkew]) => ({
    topologyKey,
    maxSkew,
    minDomains: 1,
    selector,
    matchLabelKeys: [],
    honoursAffinity: true,
    honoursTaints: false,
  }));
}

/** The combined selector of the services that select the pod and of the controller that owns it. */
function defaultSelector(index: ClusterIndex, pod: PodRecord): CompiledLabelSelector {
  const services = index.relations.services
    .selecting(pod.namespace, pod.labels)
    .flatMap(({ requirements }) => requirements);
  const [kind, ...name] = pod.owner.split('/');
  const key = `${pod.namespace}/${name.join('/')}`;
  switch (kind) {
    case 'ReplicationController':
      return {
        requirements: overlaid(services, index.podSelectors.ReplicationController.get(key)?.selector),
      };
    case 'ReplicaSet':
    case 'StatefulSet':
      return {
        requirements: [...services, ...(index.podSelectors[kind].get(key)?.selector?.requirements ?? [])],
      };
    default:
      return { requirements: services };
  }
}

/** Both are plain labels; the later label wins. */
function overlaid(
  services: readonly Requirement[],
  controller: CompiledLabelSelector | undefined,
): readonly Requirement[] {
  const own = controller?.requirements ?? [];
  return [...services.filter(({ key }) => !own.some((requirement) => requirement.key === key)), ...own];
}
