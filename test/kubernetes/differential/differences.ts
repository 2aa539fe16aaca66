/**
 * All differences from kube-scheduler that are known, and why they are there.
 *
 * Profile `stowage` differs by switches: a difference is known only if it goes away with the switches that it is explained by, and goes
 * in the direction that is given for each. Profile `upstream` differs where kube-scheduler miscounts; such clusters are not drawn, so
 * that everything else is compared to the letter (see the end).
 */
import type { Profile } from '../../../src/engine/index/profile.ts';
import type { PersistentVolumeClaim, Pod } from '../../../src/kube/core.ts';
import type { QuantityText } from '../../../src/kube/meta.ts';
import { parseQuantity, quantityToNano } from '../../../src/kube/quantity.ts';
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
    const keys = (pod.spec?.containers ?? [])
      .flatMap(({ ports = [] }) => ports)
      .map(({ protocol, hostPort }) => `${pod.spec?.nodeName} ${protocol} ${hostPort}`);
    const isFree = keys.every((key) => !taken.has(key));
    for (const key of keys) taken.add(key);
    if (isFree) return pod;
    const containers = pod.spec?.containers?.map(({ ports: _taken, ...container }) => container) ?? [];
    return { ...pod, spec: { ...pod.spec, containers } };
  });
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
