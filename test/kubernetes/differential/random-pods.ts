/** Random valid pods: existing pods and pods to be scheduled. */
import fc from 'fast-check';
import { sometimes, withoutUndefined } from '../../../src/engine/testing/random/chance.ts';
import { claimNames, named, nodeNames, otherClaimNames } from '../../../src/engine/testing/random/names.ts';
import type { Pod, PodSpec, PodStatus } from '../../../src/kube/api/core.ts';
import { drawsTerminating, withoutPodAntiAffinity } from './differences.ts';
import { priorities } from './names.ts';
import { arbNodeAffinity, arbPodAffinity, arbSpread, arbTolerations } from './random-constraints.ts';
import { arbContainers, arbGrants } from './random-containers.ts';
import { arbVolumes, cacheVolume } from './random-pod-volumes.ts';
import type { Theme } from './themes.ts';

const arbLabels = fc.record(
  { app: fc.constantFrom('x', 'x', 'y'), tier: fc.constantFrom('1', '2') },
  { requiredKeys: [] },
) as fc.Arbitrary<Record<string, string>>;

/** A pod to be scheduled. It gets its name at creation. */
export function arbIncomingPod(theme: Theme): fc.Arbitrary<Pod> {
  return fc
    .record({
      namespace:
        theme.volumes > 0 ? fc.constant('default') : fc.constantFrom('default', 'default', 'default', 'blue'),
      labels: arbLabels,
      containers: arbContainers(theme),
      volumes: arbVolumes(theme, claimNames),
      nodes: sometimes(theme.nodes, arbNodeAffinity),
      tolerations: sometimes(theme.nodes, arbTolerations),
      affinity: sometimes(theme.podAffinity, arbPodAffinity('incoming')),
      spread: sometimes(theme.spread, arbSpread),
      priorityClassName: sometimes(
        theme.priorities,
        fc.constantFrom('high', 'high', 'high', 'high', 'polite', 'low'),
      ),
    })
    .map(({ namespace, labels, containers, volumes, nodes, affinity, ...rest }) => ({
      metadata: { namespace, labels },
      spec: withoutUndefined({
        ...containers,
        volumes,
        nodeSelector: nodes?.nodeSelector,
        affinity: withoutUndefined({ nodeAffinity: nodes?.nodeAffinity, ...affinity }),
        tolerations: rest.tolerations,
        topologySpreadConstraints: rest.spread,
        priorityClassName: rest.priorityClassName,
      }) as PodSpec,
    }));
}

export const existingNames = named('other', 8);

interface ExistingPod {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly nodeName: string | undefined;
  /** A pending pod that is nominated to this node, instead of a pod with a node. */
  readonly nominatedTo: string | undefined;
  readonly spec: Partial<PodSpec>;
  readonly state: string;
  readonly grants: PodStatus | undefined;
}

/** A pod that is on a node, has finished there, is pending, or belongs to a scheduler that does not exist. */
export function arbExistingPod(name: string, theme: Theme, nodes: readonly string[]): fc.Arbitrary<Pod> {
  return fc
    .record({
      namespace: fc.constantFrom('default', 'default', 'default', 'blue'),
      labels: arbLabels,
      nodeName: sometimes(
        94,
        fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...nodes) }, fc.constantFrom(...nodeNames)),
      ),
      nominatedTo: sometimes(Math.round(theme.priorities / 20), fc.constantFrom(...nodes)),
      spec: arbExistingSpec(theme),
      state: fc.constantFrom(
        '',
        '',
        '',
        '',
        '',
        '',
        '',
        'finished',
        drawsTerminating(theme) ? 'deleting' : '',
      ),
      grants: sometimes(Math.round(theme.resources / 5), arbGrants),
    })
    .map((existing) =>
      existing.nominatedTo === undefined ? existingPod(name, existing) : nominatedPod(name, existing),
    );
}

function arbExistingSpec(theme: Theme): fc.Arbitrary<Partial<PodSpec>> {
  return fc
    .record({
      containers: arbContainers(theme),
      volumes: sometimes(60, arbVolumes(theme, [...otherClaimNames, ...claimNames])),
      hasCache: sometimes(Math.round(theme.volumes / 8), fc.constant(true)),
      affinity: sometimes(theme.podAffinity, arbPodAffinity('existing')),
      priorityClassName: sometimes(60, fc.constantFrom('low', ...Object.keys(priorities))),
    })
    .map(
      ({ containers, volumes, hasCache, affinity, priorityClassName }) =>
        withoutUndefined({
          ...containers,
          volumes: [...(volumes ?? []), ...(hasCache ? [cacheVolume] : [])],
          affinity,
          priorityClassName,
        }) as Partial<PodSpec>,
    );
}

function existingPod(name: string, { namespace, labels, nodeName, spec, state, grants }: ExistingPod): Pod {
  const isDeleting = state === 'deleting';
  if (nodeName === undefined)
    return { metadata: { namespace, name, labels }, spec: { ...spec, schedulerName: 'absent-scheduler' } };
  return {
    metadata: { namespace, name, labels, ...(isDeleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
    spec: { ...spec, nodeName },
    status: {
      ...(state === 'finished' ? { phase: 'Succeeded' as const } : { phase: 'Running' as const, ...grants }),
      startTime: startTimeOf(name),
    },
  };
}

/** Start times are unique: of pods with equal start times, kube-scheduler may evict either. */
function startTimeOf(name: string): string {
  return `2026-01-0${(Number(name.slice(-1)) * 5) % 9 || 9}T00:00:00Z`;
}

/**
 * A pod that is nominated to a node after a preemption. The gate keeps kube-scheduler from placing it. Its priority is the highest: a pod
 * with a higher priority that is nominated to the same node would clear the nomination, and so change the cluster.
 */
function nominatedPod(name: string, { namespace, labels, nominatedTo = '', spec }: ExistingPod): Pod {
  return {
    metadata: { namespace, name, labels },
    spec: {
      ...withoutPodAntiAffinity(spec),
      priorityClassName: 'high',
      schedulingGates: [{ name: 'stowage.dev/waits' }],
    },
    status: { nominatedNodeName: nominatedTo },
  };
}
