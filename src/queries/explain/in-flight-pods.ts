import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import { filterNodes } from '../../engine/evaluation/filter-nodes.ts';
import { decisionsAt } from '../../engine/plan.ts';
import { planWithNominated } from '../../engine/preemption/plan-with-nominated.ts';
import type { ClaimRecord } from '../../engine/records/claim-record.ts';
import { needsNode } from '../../engine/records/pending-pod.ts';
import type { PodRecord } from '../../engine/records/pod-record.ts';
import { volumeBindingRule } from '../../engine/rules/volume-binding/rule.ts';
import type { Pod } from '../../kube/api/core.ts';
import type { ClusterView } from '../view/cluster-view.ts';
import { isReportedUnschedulable } from './contradiction.ts';

interface InFlightOptions {
  readonly view: ClusterView;
  /** The key of the pod that the question is about. */
  readonly except: string;
  readonly nowMs: number;
}

/**
 * Calls `ask` with every pod on its node whose scheduler has chosen one and still waits for volumes: schedulers count such a pod as if it were
 * there, and keep its existing volumes for it, though the API server shows neither yet. Restores the index.
 */
export function withInFlightPods<T>(index: ClusterIndex, options: InFlightOptions, ask: () => T): T {
  const savepoint = index.savepoint();
  try {
    placeInFlightPods(index, options);
    return ask();
  } finally {
    index.rollback(savepoint);
  }
}

/** Places the pods of `withInFlightPods`; the caller restores the index. */
export function placeInFlightPods(index: ClusterIndex, options: InFlightOptions): void {
  for (const { pod, stored, nodeName, isCertain } of inFlightCandidates(index, options)) {
    if (!isCertain && waitsForVictims(pod, stored, index, options.nowMs)) continue;
    holdVolumes(pod, nodeName, index, options.nowMs);
    index.setAssumedPod(pod.key, { ...pod, nodeName });
  }
}

interface InFlightCandidate {
  readonly pod: PodRecord;
  readonly stored: Pod;
  readonly nodeName: string;
  /** False if the scheduler refused the pod once, and it may wait for pods that are evicted for it. */
  readonly isCertain: boolean;
  /** The newest version of its claims that have a selected node. */
  readonly since: number;
}

/** The certain ones first, each in the order in which their nodes were chosen. */
function inFlightCandidates(
  index: ClusterIndex,
  { view: { snapshot }, except }: InFlightOptions,
): readonly InFlightCandidate[] {
  const candidates = [...index.pods.records()].flatMap((pod) => {
    const stored = snapshot.get('Pod', pod.key);
    if (stored === undefined || pod.key === except) return [];
    const isCertain = !isReportedUnschedulable(stored);
    const nodeName = chosenNode(pod, index, isCertain);
    if (nodeName === undefined) return [];
    return [{ pod, stored, nodeName, isCertain, since: selectedSince(pod, index, snapshot) }];
  });
  return candidates.sort((a, b) => Number(b.isCertain) - Number(a.isCertain) || a.since - b.since);
}

/**
 * The existing volumes that the scheduler has chosen. It writes their claimRefs only after the provisioned volumes exist, so the choice is made
 * again here, in the order in which the scheduler made it: by the versions of the claims that got a selected node.
 */
function holdVolumes(pod: PodRecord, nodeName: string, index: ClusterIndex, nowMs: number): void {
  const claims = pod.claims.filter(({ key }) => {
    const claim = index.claims.get(key);
    return claim !== undefined && !claim.isBound && claim.selectedNode === '';
  });
  if (claims.length === 0) return;
  const options = { nowMs, rules: [volumeBindingRule], onlyNodes: [nodeName] };
  const { cycle, prepared } = filterNodes({ ...pod, claims }, index, options);
  const row = index.nodes.row(nodeName);
  if (row === undefined || prepared.refusedBy !== undefined || !cycle.isFeasible(row)) return;
  for (const { volume, claim } of decisionsAt(cycle, prepared.active, row).bindings)
    index.setHold(volume, claim);
}

function selectedSince(pod: PodRecord, index: ClusterIndex, snapshot: ClusterView['snapshot']): number {
  const versions = unboundClaims(pod, index)
    .filter(({ selectedNode }) => selectedNode !== '')
    .map(({ key }) => Number(snapshot.get('PersistentVolumeClaim', key)?.metadata?.resourceVersion ?? 0));
  return Math.max(0, ...versions);
}

function unboundClaims({ claims }: PodRecord, index: ClusterIndex): readonly ClaimRecord[] {
  return claims.flatMap(({ key }) => index.claims.get(key) ?? []).filter(({ isBound }) => !isBound);
}

/**
 * The selected node of the pod's claims. A pod that was refused afterwards keeps the selected node on its claims; it is in flight again when
 * its nominated node is that node too.
 */
function chosenNode(pod: PodRecord, index: ClusterIndex, isCertain: boolean): string | undefined {
  if (!needsNode(pod)) return undefined;
  const unbound = unboundClaims(pod, index);
  const selected = unbound.flatMap(({ selectedNode }) => (selectedNode === '' ? [] : [selectedNode]));
  const [nodeName] = selected;
  if (nodeName === undefined || selected.some((other) => other !== nodeName)) return undefined;
  if (pod.nominatedNode !== '' && pod.nominatedNode !== nodeName) return undefined;
  if (isCertain) return nodeName;
  // The pod may be nominated because others are evicted for it, and share a claim with a pod in flight. Its other claims show that.
  const isWhole = unbound.every(
    ({ className, selectedNode }) => selectedNode !== '' || !index.classes.get(className)?.canProvision,
  );
  return pod.nominatedNode !== '' && isWhole ? nodeName : undefined;
}

/** Whether pods are being evicted from the pod's nominated node, and the pod does not fit there beside them and the pods in flight. */
function waitsForVictims(pod: PodRecord, stored: Pod, index: ClusterIndex, nowMs: number): boolean {
  const onNode = [...index.pods.onNode(pod.nominatedNode)];
  if (!onNode.some(({ isDeleting, priority }) => isDeleting && priority < pod.priority)) return false;
  const options = { nowMs, nominated: nominatedPods(index), onlyNodes: [pod.nominatedNode] };
  return planWithNominated(stored, index, options).kind === 'refusal';
}

/** The pods that are nominated to a node and have none yet. */
export function nominatedPods(index: ClusterIndex): readonly PodRecord[] {
  return [...index.pods.records()].filter((pod) => pod.nominatedNode !== '' && needsNode(pod));
}
