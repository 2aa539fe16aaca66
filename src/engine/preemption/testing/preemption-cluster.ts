/** Builders of clusters in which pods compete for cpu. */
import type { Node, Pod } from '../../../kube/api/core.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { plan } from '../../plan.ts';
import { readPod } from '../../records/pod-record.ts';
import { type AnyRule, eraseState } from '../../rules/framework/rule.ts';
import { nodeResourcesRule } from '../../rules/node-resources/rule.ts';
import { clusterOf } from '../../testing/cluster.ts';
import { node, pod } from '../../testing/objects.ts';
import { findVictims, type Preemption, type PreemptionOptions } from '../find-victims.ts';

export const nowMs = Date.parse('2026-01-01T00:00:00Z');

export const negative = -100;
export const low = 0;
export const middle = 100;
export const high = 1000;
export const veryHigh = 10_000;

/** Thousandths of a cpu; nodes have 500 by default. */
export const small = 100;
export const medium = 200;
export const large = 300;
export const veryLarge = 500;

export const resourceRules: readonly AnyRule[] = [eraseState(nodeResourcesRule)];

export interface PodTraits {
  readonly labels?: Readonly<Record<string, string>>;
  /** Seconds since 1970. */
  readonly started?: number;
  readonly nominatedTo?: string;
  readonly isVictim?: boolean;
  readonly isDeleting?: boolean;
  readonly neverPreempts?: boolean;
}

/** A pod without a node. */
export function pendingPod(name: string, priority: number, cpuMilli: number, traits: PodTraits = {}): Pod {
  const { labels = {}, started, nominatedTo, isVictim, isDeleting, neverPreempts } = traits;
  const base = pod(name, []);
  return {
    metadata: { ...base.metadata, labels, ...(isDeleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
    spec: {
      ...base.spec,
      priority,
      ...(neverPreempts && { preemptionPolicy: 'Never' }),
      containers: [{ name: 'main', resources: { requests: { cpu: `${cpuMilli}m` } } }],
    },
    status: {
      ...(nominatedTo !== undefined && { nominatedNodeName: nominatedTo }),
      ...(started !== undefined && { startTime: `1970-01-01T00:00:0${started}Z` }),
      ...(isVictim && {
        conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }],
      }),
    },
  };
}

export function runningPod(
  name: string,
  nodeName: string,
  priority: number,
  cpuMilli: number,
  traits: PodTraits = {},
): Pod {
  const base = pendingPod(name, priority, cpuMilli, traits);
  return { ...base, spec: { ...base.spec, nodeName } };
}

export function nodeWithCpu(name: string, cpuMilli = veryLarge, pods = 32): Node {
  return { ...node(name), status: { allocatable: { cpu: `${cpuMilli}m`, pods: String(pods) } } };
}

/** An index with nodes of the default size with these names, and the pods. */
export function preemptionCluster(nodes: readonly (string | Node)[], pods: readonly Pod[]): ClusterIndex {
  const all = nodes.map((entry) => (typeof entry === 'string' ? nodeWithCpu(entry) : entry));
  return clusterOf({ Node: all, Pod: pods });
}

/** Assumes the pod on the node, without an event from the cluster. */
export function assume(index: ClusterIndex, podObject: Pod, nodeName: string): void {
  index.upsert('Pod', podObject);
  const record = readPod(podObject);
  index.setAssumedPod(record.key, { ...record, nodeName });
}

/** The preemption decision for a pod that does not fit. */
export function preempt(
  index: ClusterIndex,
  refusedPod: Pod,
  options: Partial<PreemptionOptions> = {},
): Preemption {
  const { rules = resourceRules } = options;
  const refusal = plan(refusedPod, index, { nowMs, rules });
  if (refusal.kind === 'placement') throw new Error(`${refusedPod.metadata?.name} fits on ${refusal.node}`);
  return findVictims(refusedPod, refusal, index, {
    nowMs,
    budgets: [],
    nominated: [],
    seed: 0,
    rules,
    ...options,
  });
}

/** The decision as `node: victim, victim`, or the message. */
export function describePreemption(answer: Preemption): string {
  if (answer.kind === 'none') return answer.message;
  const names = answer.victims.map(({ pod: { name }, isAssumed }) =>
    isAssumed ? `${name} (assumed)` : name,
  );
  const broken = answer.violations > 0 ? ` (${answer.violations} budget)` : '';
  return `${answer.node}: ${names.join(', ')}${broken}`;
}
