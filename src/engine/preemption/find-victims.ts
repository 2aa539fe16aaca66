import type { Pod } from '../../kube/api/core.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { countedTexts } from '../evaluation/refusal-message.ts';
import { type PodRecord, readPod } from '../records/pod-record.ts';
import type { Refusal } from '../refusal/refusal.ts';
import type { AnyRule } from '../rules/framework/rule.ts';
import { bestCandidate, type Candidate } from './best-candidate.ts';
import type { Budget } from './budget.ts';
import { rivalsOf } from './rivals.ts';
import { lowerPodsOn, victimsOnNode } from './victims-on-node.ts';

/** How many candidates are enough to choose from: this part of the nodes, but no fewer than the least. */
interface EnoughCandidates {
  readonly percent: number;
  readonly least: number;
}

const enoughDefault: EnoughCandidates = { percent: 10, least: 100 };

export interface PreemptionOptions {
  readonly nowMs: number;
  /** Those that refused the pod. */
  readonly rules?: readonly AnyRule[];
  readonly budgets: readonly Budget[];
  /** Pods that wait for a node of their own. */
  readonly nominated: readonly PodRecord[];
  /** Where among the nodes the search begins: equal seeds, equal choices. A whole number, 0 or more. */
  readonly seed: number;
  readonly enough?: EnoughCandidates;
}

export type Preemption =
  | {
      readonly kind: 'victims';
      readonly node: string;
      /** The most important first. */
      readonly victims: readonly Victim[];
      /** How many of them break a budget. */
      readonly violations: number;
    }
  | {
      readonly kind: 'none';
      /** In kube-scheduler's words; it follows the refusal's own message. Empty if there is nothing to say. */
      readonly message: string;
      /** Whether a node that the pod is nominated to is still worth waiting for. */
      readonly keepsNomination: boolean;
      /** The rules that would refuse the pod even without the others: where they change their mind, evicting may help. */
      readonly objectors: readonly AnyRule[];
      /** The node that others are leaving for the pod already. */
      readonly roomOn: string | undefined;
    };

export interface Victim {
  readonly pod: PodRecord;
  /** It isn't bound yet: whoever is about to bind it can let go of it, and nothing has to be deleted. */
  readonly isAssumed: boolean;
}

/**
 * Whom to evict so that a refused pod fits, as kube-scheduler's default preemption decides it. The refusal must be the answer for
 * the index as it is now. Leaves the index as it was.
 */
export function findVictims(
  pod: Pod,
  refusal: Refusal,
  index: ClusterIndex,
  options: PreemptionOptions,
): Preemption {
  if (refusal.nodeCount === 0) return { kind: 'none', message: '', ...notTried };
  if (!index.profile.speaksOfDevices) return preempt(pod, refusal, index, options);
  if (refusal.podRefusals.length > 0) return { kind: 'none', message: 'not found', ...notTried };
  const preemption = preempt(pod, refusal, index, options);
  if (preemption.kind === 'victims') return preemption;
  return { ...preemption, message: `no new claims to deallocate, ${preemption.message}` };
}

function preempt(pod: Pod, refusal: Refusal, index: ClusterIndex, options: PreemptionOptions): Preemption {
  const nodes = [...refusal.nodesWithPodsInTheWay()].sort();
  const record = readPod(pod);
  if (!record.preemptsOthers)
    return { kind: 'none', message: 'preemption: not eligible due to preemptionPolicy=Never.', ...notTried };
  if (isRoomBeingMade(record, nodes, index)) {
    const message = 'preemption: not eligible due to a terminating pod on the nominated node.';
    return { kind: 'none', message, ...notTried, roomOn: record.nominatedNode };
  }
  const { candidates, texts, objectors } = findCandidates(record, nodes, index, options);
  const best = bestCandidate(candidates, options.nowMs);
  if (best !== undefined) return victimsOf(best, index);
  const message = notHelpful(refusal.nodeCount, nodes.length, texts);
  return { kind: 'none', message, keepsNomination: false, objectors, roomOn: undefined };
}

const notTried = { keepsNomination: true, objectors: [], roomOn: undefined } as const;

/** A node that is out of the question for good is not waited for, whoever terminates there. */
function isRoomBeingMade(pod: PodRecord, nodes: readonly string[], index: ClusterIndex): boolean {
  const { nominatedNode } = pod;
  return (
    nodes.includes(nominatedNode) &&
    lowerPodsOn(nominatedNode, pod, index).some(({ isDeleting, isPreempted }) => isDeleting && isPreempted)
  );
}

interface Search {
  readonly candidates: readonly Candidate[];
  /** How many nodes each text speaks of; complete only if there are no candidates. */
  readonly texts: ReadonlyMap<string, number>;
  readonly objectors: readonly AnyRule[];
}

function findCandidates(
  pod: PodRecord,
  nodes: readonly string[],
  index: ClusterIndex,
  { seed, enough = enoughDefault, nominated, ...rest }: PreemptionOptions,
): Search {
  const options = { ...rest, rivals: rivalsOf(pod, index, nominated) };
  const wanted = candidatesWanted(nodes.length, enough);
  const candidates: Candidate[] = [];
  const texts = new Map<string, number>();
  const objectors = new Set<AnyRule>();
  let harmless = 0;
  for (let tried = 0; tried < nodes.length; tried++) {
    const node = nodes[(seed + tried) % nodes.length]!;
    const dryRun = victimsOnNode(pod, node, index, options);
    if (dryRun.kind === 'hopeless') {
      for (const text of dryRun.texts) texts.set(text, (texts.get(text) ?? 0) + 1);
      for (const rule of dryRun.objectors) objectors.add(rule);
      continue;
    }
    candidates.push(dryRun.candidate);
    if (dryRun.candidate.violations === 0) harmless += 1;
    if (harmless > 0 && candidates.length >= wanted) break;
  }
  return { candidates, texts, objectors: [...objectors] };
}

function candidatesWanted(nodeCount: number, { percent, least }: EnoughCandidates): number {
  return Math.min(nodeCount, Math.max(least, Math.floor((nodeCount * percent) / 100)));
}

function victimsOf({ node, victims, violations }: Candidate, index: ClusterIndex): Preemption {
  const isAssumed = ({ key }: PodRecord) => (index.pods.stored(key)?.nodeName ?? '') === '';
  return {
    kind: 'victims',
    node,
    victims: victims.map((pod) => ({ pod, isAssumed: isAssumed(pod) })),
    violations,
  };
}

/** Every node that was no candidate from the start, and what was found on the others. */
function notHelpful(nodeCount: number, triedCount: number, texts: ReadonlyMap<string, number>): string {
  const counts = new Map(texts);
  if (triedCount < nodeCount) counts.set('Preemption is not helpful for scheduling', nodeCount - triedCount);
  return `preemption: 0/${nodeCount} nodes are available: ${countedTexts(counts)}.`;
}
