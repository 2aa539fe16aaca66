import { findUntoleratedTaint } from '../../../kube/selectors/tolerations.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { type Domains, noDomain } from '../../cluster-index/nodes/domain-table.ts';
import { scopeOf } from '../../cluster-index/pods/namespace-scopes.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import { podNodeAffinityOf } from '../../records/pod-shape/pod-node-affinity.ts';
import { type SpreadConstraint, selectorFor } from '../../records/pod-shape/spread-constraints.ts';

/** The count of a domain in which no node counts. */
export const notCounted = -1;

/** Indexed by node row: 1 if the node counts. Undefined if all nodes count. */
type NodeMask = Uint8Array | undefined;

/** Which nodes count for a pod's spread constraints, and how many of the selected pods each has. */
export class SpreadNodes {
  readonly #index: ClusterIndex;
  readonly #pod: PodRecord;
  readonly #masks = new Map<string, NodeMask>();

  constructor(index: ClusterIndex, pod: PodRecord) {
    this.#index = index;
    this.#pod = pod;
  }

  domainsOf({ topologyKey }: SpreadConstraint): Domains {
    return this.#index.relations.domains.of(topologyKey);
  }

  /**
   * Pods of the namespace that are not being deleted, by node row. As in kube-scheduler, an empty selector counts none, although the pod
   * itself matches it.
   */
  podsOf(constraint: SpreadConstraint): Int32Array {
    const selector = selectorFor(constraint, this.#pod.labels);
    if (selector.requirements.length === 0) return new Int32Array(this.#index.nodes.rowCount);
    const scope = scopeOf([this.#pod.namespace]);
    return this.#index.relations.counts.of({ scope, selector, countsTerminating: false });
  }

  /** Rows that have a domain under each of the keys. */
  withAll(keys: readonly Domains[]): Uint8Array {
    const mask = new Uint8Array(this.#index.nodes.rowCount).fill(1);
    for (const { of } of keys) {
      for (let row = 0; row < mask.length; row++) if (of[row] === noDomain) mask[row] = 0;
    }
    return mask;
  }

  /** The nodes that count by the constraint's policies. */
  counted({ honoursAffinity, honoursTaints }: SpreadConstraint): NodeMask {
    const key = `${honoursAffinity} ${honoursTaints}`;
    if (!this.#masks.has(key)) this.#masks.set(key, this.#maskOf(honoursAffinity, honoursTaints));
    return this.#masks.get(key);
  }

  #maskOf(honoursAffinity: boolean, honoursTaints: boolean): NodeMask {
    const asked = honoursAffinity ? podNodeAffinityOf(this.#pod.shape).required : undefined;
    const hasTaints = honoursTaints && !this.#index.nodeTraits.taints.isEmpty;
    if (asked === undefined && !hasTaints) return undefined;
    const mask = new Uint8Array(this.#index.nodes.rowCount).fill(asked === undefined ? 1 : 0);
    if (asked !== undefined) {
      this.#index.topologyCache.get(asked).nodes.each((row) => {
        mask[row] = 1;
      });
    }
    if (hasTaints) this.#excludeTainted(mask);
    return mask;
  }

  #excludeTainted(mask: Uint8Array): void {
    const { tolerations } = this.#pod.shape.spec;
    for (const { taints, nodes } of this.#index.nodeTraits.taints.lists()) {
      if (findUntoleratedTaint(taints, tolerations, ['NoSchedule', 'NoExecute']) === undefined) continue;
      nodes.each((row) => {
        mask[row] = 0;
      });
    }
  }
}

/** The pods of each domain, on nodes in both masks; {@link notCounted} if the domain has no such node. */
export function countByDomain(
  domains: Domains,
  pods: Int32Array,
  masks: readonly [Uint8Array, NodeMask],
): Int32Array {
  const counts = new Int32Array(domains.count).fill(notCounted);
  const [first, second] = masks;
  const { of } = domains;
  for (let row = 0; row < first.length; row++) {
    const domain = of[row]!;
    if (domain === noDomain || first[row] === 0 || (second !== undefined && second[row] === 0)) continue;
    counts[domain] = Math.max(counts[domain]!, 0) + pods[row]!;
  }
  return counts;
}
