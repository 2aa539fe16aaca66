/**
 * All known differences from kube-scheduler, with their reasons.
 *
 * Profile `stowage` differs by switches. A difference is known only if it disappears with the switches that explain it, and has the
 * direction that is listed for each. Profile `upstream` differs where kube-scheduler miscounts; such clusters are not generated, so that
 * everything else is compared exactly (see the end).
 */
import type { Profile } from '../../../src/engine/cluster-index/profile.ts';
import type { Container, PersistentVolumeClaim, Pod, PodSpec } from '../../../src/kube/api/core.ts';
import type { QuantityText } from '../../../src/kube/api/meta.ts';
import { parseQuantity, quantityToNano } from '../../../src/kube/quantities/quantity.ts';
import { isFullyBound } from '../../../src/kube/volumes.ts';
import type { Theme } from './themes.ts';

/** The switches that affect where a pod fits. */
export type ProfileSwitch = Extract<
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

export interface SwitchDifference {
  /** Whether kube-scheduler accepts nodes that we refuse (`fewer`), we accept nodes that it refuses (`more`), or either. */
  readonly gives: 'fewer' | 'more' | 'either';
  readonly reason: string;
}

export const switchDifferences: Readonly<Record<ProfileSwitch, SwitchDifference>> = {
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
    reason: 'a volume names its nodes by matchFields, which kube-scheduler treats as true on every node',
  },
  preboundIsFinal: {
    gives: 'either',
    reason:
      'a volume that is reserved for the claim is the one that it will be bound to, whatever class either has',
  },
  retestSelectedNode: {
    gives: 'more',
    reason: 'a claim that is being provisioned keeps its promised capacity, and need not fit again',
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

// ── Not compared ──

/**
 * If other pods are nominated to a node, kube-scheduler reports its verdict with them on the node. Ours does so only if they are the
 * obstacle, and otherwise reports the verdict without them. The nodes that fit and the victims are the same; the messages may differ.
 */
export function comparesMessages(pods: readonly Pod[]): boolean {
  return pods.every(({ status }) => (status?.nominatedNodeName ?? '') === '');
}

// ── Not generated ──

const billion = 1_000_000_000n;
const tooLarge = 2n ** 63n;

/** kube-scheduler's sizes overflow at 2^63 bytes, and it rounds fractions of a byte up when it compares pools; ours are exact. */
export function comparableSize(size: QuantityText): QuantityText {
  const read = parseQuantity(size);
  if (!read.ok) return size; // The server rejects this quantity.
  const nano = quantityToNano(read.quantity);
  if (nano >= tooLarge * billion) return '7E';
  return nano % billion === 0n ? size : '2';
}

/**
 * kube-scheduler records that a port is used, but not by how many pods. When one of several pods with the same port on a node ends, or is
 * removed for a preemption dry run, it treats the port as free. No scheduler assigns a port twice, so only the first pod keeps its ports.
 */
export function withUniquePorts(pods: readonly Pod[]): readonly Pod[] {
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
 * kube-scheduler ignores terminating pods for topology spread, yet it subtracts such a pod when it removes the pod for a preemption dry
 * run, and so may find a fit where there is none. In clusters with spread constraints, no pod is terminating.
 */
export function drawsTerminating({ spread }: Theme): boolean {
  return spread === 0;
}

/**
 * kube-scheduler counts a ReadWriteOncePod claim in use as used once, and treats it as free when it removes any pod that names such a
 * claim, in any namespace. So only the first pod that names it keeps it, and only in the namespace of the claims.
 */
export function withUniqueClaims(
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
 * kube-scheduler resolves the namespaces that the affinity terms of an incoming pod select, but then keeps the selector and matches it
 * against an empty set of labels. So a selector that requires the absence of a label selects every namespace. Terms of existing pods are
 * matched against the real labels.
 */
export function drawsNamespacesByAbsence(whose: 'incoming' | 'existing'): boolean {
  return whose === 'existing';
}

/**
 * kube-scheduler needs one volume for each time that a pod names an unbound claim, and would reserve them all. So only bound claims are
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
 * kube-scheduler skips inter-pod affinity if neither the incoming pod nor any existing pod has a relevant term. It then ignores the terms
 * of nominated pods, so nominated pods have none here.
 */
export function withoutPodAntiAffinity(spec: Partial<PodSpec>): Partial<PodSpec> {
  const { podAntiAffinity: _, ...affinity } = spec.affinity ?? {};
  return { ...spec, affinity };
}
