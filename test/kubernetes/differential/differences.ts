/**
 * All differences from kube-scheduler that are known, and why they are there.
 *
 * Profile `stowage` differs by switches: a difference is known only if it goes away with the switches that it is explained by, and goes
 * in the direction that is given for each. Profile `upstream` differs where kube-scheduler miscounts; such clusters are not drawn, so
 * that everything else is compared to the letter (see the end).
 */
import type { Profile } from '../../../src/engine/cluster-index/profile.ts';
import type { Container, PersistentVolumeClaim, Pod, PodSpec } from '../../../src/kube/api/core.ts';
import type { QuantityText } from '../../../src/kube/api/meta.ts';
import { parseQuantity, quantityToNano } from '../../../src/kube/quantities/quantity.ts';
import { isFullyBound } from '../../../src/kube/volumes.ts';
import type { Theme } from './themes.ts';

/** The switches that decide about where a pod fits. */
export type Switch = Extract<
  keyof Profile,
  | 'assignment'
  | 'inFlight'
  | 'honourMatchFields'
  | 'preboundIsFinal'
  | 'retestSelectedNode'
  | 'limitChosenVolumes'
  | 'trustAttachments'
  | 'affinityReplacesZones'
  | 'zonesOfEphemeral'
  | 'requireInstalledDriver'
  | 'zonesNeedVolumes'
  | 'emptySelectedNodePins'
>;

export interface Difference {
  /** Nodes that only kube-scheduler would take, nodes that only we would, or either. */
  readonly gives: 'fewer' | 'more' | 'either';
  readonly reason: string;
}

export const differences: Readonly<Record<Switch, Difference>> = {
  assignment: {
    gives: 'more',
    reason:
      'all claims have a volume if they are given out in another way than smallest first; each is one that its rules allow',
  },
  inFlight: {
    gives: 'fewer',
    reason:
      'the claims of the pod do not fit their pools together, or beside what has been promised to others',
  },
  honourMatchFields: {
    gives: 'fewer',
    reason: 'a volume names its nodes by matchFields, which kube-scheduler takes as true everywhere',
  },
  preboundIsFinal: {
    gives: 'either',
    reason:
      'a volume that is reserved for the claim is the one that it will be bound to, whatever class either has',
  },
  retestSelectedNode: {
    gives: 'more',
    reason: 'a claim that is being provisioned has been promised its room, and need not find it again',
  },
  limitChosenVolumes: {
    gives: 'either',
    reason:
      'attach limits are for the volumes that the pod would really get, not for the provisioners of their classes',
  },
  trustAttachments: {
    gives: 'either',
    reason:
      'a volume that is attached to the node takes the slot that it has, and no second one; it counts for its own driver',
  },
  affinityReplacesZones: {
    gives: 'more',
    reason: 'a volume with node affinity says there where it can be reached; its zone labels are from before',
  },
  zonesOfEphemeral: {
    gives: 'fewer',
    reason: 'the zone labels of an ephemeral volume count as those of any other',
  },
  requireInstalledDriver: {
    gives: 'fewer',
    reason: 'the driver wants its volumes on nodes that have it (alpha in Kubernetes 1.36)',
  },
  zonesNeedVolumes: {
    gives: 'either',
    reason: 'a claim whose volume is gone is refused for each node, not for the pod',
  },
  emptySelectedNodePins: {
    gives: 'more',
    reason: 'a selected-node annotation without a value selects no node',
  },
};

// ── What is not compared ──

/**
 * Of a node that others are nominated to, kube-scheduler tells what it says with them there; ours does so only where it is they who are in
 * the way, and else tells what it says as things are. Which nodes fit, and who can be evicted, is the same; the words need not be.
 */
export function comparesWords(pods: readonly Pod[]): boolean {
  return pods.every(({ status }) => (status?.nominatedNodeName ?? '') === '');
}

// ── What is not drawn ──

const billion = 1_000_000_000n;
const tooLarge = 2n ** 63n;

/** kube-scheduler's sizes overflow at 2^63 bytes, and it rounds fractions of a byte up where it compares pools; ours are exact. */
export function comparableSize(size: QuantityText): QuantityText {
  const read = parseQuantity(size);
  if (!read.ok) return size; // The server will not take it.
  const nano = quantityToNano(read.quantity);
  if (nano >= tooLarge * billion) return '7E';
  return nano % billion === 0n ? size : '2';
}

/**
 * kube-scheduler notes that a port is taken, not by how many: when one of several pods on a node that have the same port ends, or is
 * thought away for a preemption, it takes the port for free. No scheduler gives a port twice, so only the first keeps its ports.
 */
export function withPortsOfTheirOwn(pods: readonly Pod[]): readonly Pod[] {
  const taken = new Set<string>();
  return pods.map((pod) => {
    const { containers = [], initContainers = [], nodeName } = pod.spec ?? {};
    const keys = [...containers, ...initContainers]
      .flatMap(({ ports = [] }) => ports)
      .map(({ protocol, hostPort }) => `${nodeName} ${protocol} ${hostPort}`);
    const isFree = keys.every((key) => !taken.has(key));
    for (const key of keys) taken.add(key);
    if (isFree) return pod;
    const spec = { containers: withoutPorts(containers), initContainers: withoutPorts(initContainers) };
    return { ...pod, spec: { ...pod.spec, ...spec } };
  });
}

function withoutPorts(containers: readonly Container[]): Container[] {
  return containers.map(({ ports: _taken, ...container }) => container);
}

/**
 * kube-scheduler leaves terminating pods out of what it spreads by, yet counts one pod less when such a pod is thought away for a
 * preemption, and so may find room where there is none. Where pods are spread, none is terminating.
 */
export function drawsTerminating({ spread }: Theme): boolean {
  return spread === 0;
}

/**
 * kube-scheduler counts a ReadWriteOncePod claim that is in use as used once, and takes it for free when any pod is thought away that
 * names such a claim, in whatever namespace. So only the first pod that names it keeps it, and only in the namespace of the claims.
 */
export function withClaimsOfTheirOwn(
  pods: readonly Pod[],
  claims: readonly PersistentVolumeClaim[],
): readonly Pod[] {
  const exclusive = claims
    .filter(({ spec }) => spec?.accessModes?.includes('ReadWriteOncePod'))
    .map(({ metadata }) => metadata?.name);
  const taken = new Set<string>();
  return pods.map((pod) => {
    const volumes = pod.spec?.volumes?.filter(({ persistentVolumeClaim }) => {
      const name = persistentVolumeClaim?.claimName ?? '';
      if (!exclusive.includes(name)) return true;
      const isFree = !taken.has(name) && pod.metadata?.namespace === 'default';
      if (isFree) taken.add(name);
      return isFree;
    });
    return { ...pod, spec: { ...pod.spec, volumes: volumes ?? [] } };
  });
}

/**
 * kube-scheduler works out the namespaces that the terms of a pod to be placed select, and then forgets to put the selector away: it goes
 * on holding it against no labels at all. A selector that asks for the absence of a label so selects every namespace. Terms of
 * pods that stand somewhere are held against the labels that there are.
 */
export function drawsNamespacesByAbsence(whose: 'asking' | 'standing'): boolean {
  return whose === 'standing';
}

/**
 * kube-scheduler wants a volume for each time that a pod names a claim without one, and would reserve them all. Only bound claims are
 * named twice.
 */
export function withClaimsNamedOnce(pod: Pod, claims: readonly PersistentVolumeClaim[]): Pod {
  const isNamedBefore = new Set<string>();
  const volumes = pod.spec?.volumes?.filter(({ persistentVolumeClaim }) => {
    const name = persistentVolumeClaim?.claimName;
    if (name === undefined || !isNamedBefore.has(name)) {
      if (name !== undefined) isNamedBefore.add(name);
      return true;
    }
    return claims.some((claim) => claim.metadata?.name === name && isFullyBound(claim));
  });
  return { ...pod, spec: { ...pod.spec, volumes: volumes ?? [] } };
}

/**
 * kube-scheduler does not ask its rule about other pods at all where neither the pod nor anybody who stands somewhere has a term that matters;
 * that a pod which is nominated may have one then goes unnoticed. None of those has.
 */
export function withoutRepelling(spec: Partial<PodSpec>): Partial<PodSpec> {
  const { podAntiAffinity: _, ...affinity } = spec.affinity ?? {};
  return { ...spec, affinity };
}
