import type { PersistentVolumeClaim, Pod } from '../../kube/api/core.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { filterNodes } from '../evaluation/filter-nodes.ts';
import { Ledger } from '../ledger/ledger.ts';
import { type Placement, placeOnNode, plan } from '../plan.ts';
import { tieBreakSeed } from '../records/pending-pod.ts';
import { readPod } from '../records/pod-record.ts';
import type { Refusal } from '../refusal/refusal.ts';
import type { AnyRule, PodRefusal } from '../rules/framework/rule.ts';
import type { Reason } from '../rules/reasons.ts';
import { storageCells } from './storage-cells.ts';

/** One more pod, with the claims that are created for it. */
export interface ReplicaToFit {
  readonly pod: Pod;
  readonly claims: readonly PersistentVolumeClaim[];
}

/** The replicas in order; the names and uids of their pods and claims must differ from each other, and from those in the index. */
export type ReplicaTemplate = (number: number) => ReplicaToFit;

export interface HeadroomOptions {
  readonly nowMs: number;
  readonly rules?: readonly AnyRule[] | undefined;
  /** Counting ends here. */
  readonly countMax?: number | undefined;
  /** Called with each replica that the rules place; if it returns false, the replica does not fit. */
  readonly alsoFits?: ((replica: ReplicaToFit) => boolean) | undefined;
}

/** How many more replicas fit. */
export interface Headroom {
  readonly count: number;
  /** True if counting ended before one was refused. */
  readonly isCapped: boolean;
  readonly byNode: ReadonlyMap<string, number>;
  /** Why the next one does not fit, with the number of nodes, the most frequent first; only of nodes that one would have fitted on. */
  readonly limits: readonly HeadroomLimit[];
  readonly podRefusals: readonly PodRefusal[];
}

export interface HeadroomLimit {
  readonly reason: Reason;
  readonly nodes: number;
}

/** Counting further costs a plan for each; larger numbers rarely matter. */
const countMaxDefault = 1_000;

/**
 * Counts how many more replicas fit at the same time, by placing them under a savepoint: with `N` of them placed, one more is refused. Where nodes do not
 * compete with each other, each is filled by itself, which costs a plan of one node for each replica. Otherwise each replica is planned in all of the
 * cluster, in the order of the scheduler.
 */
export function measureHeadroom(
  template: ReplicaTemplate,
  index: ClusterIndex,
  options: HeadroomOptions,
): Headroom {
  const savepoint = index.savepoint();
  try {
    return new Filling(template, index, options).fill();
  } finally {
    index.rollback(savepoint);
  }
}

/** The largest size in bytes for which the replica fits, among these nodes or all; undefined if any size fits. At most `upperBoundBytes`, if given. */
export function largestFit(
  withSize: (bytes: number) => ReplicaToFit,
  index: ClusterIndex,
  options: HeadroomOptions & {
    readonly onlyNodes?: readonly string[];
    readonly upperBoundBytes?: number | undefined;
  },
): number | undefined {
  const fits = (bytes: number) => bytes === 0 || fitsOnce(withSize(bytes), index, options);
  const { upperBoundBytes } = options;
  if (upperBoundBytes !== undefined && fits(Math.floor(upperBoundBytes))) return Math.floor(upperBoundBytes);
  let tooLarge = upperBoundBytes === undefined ? 2 ** 60 : Math.floor(upperBoundBytes);
  if (upperBoundBytes === undefined && fits(tooLarge)) return undefined;
  let known = 0;
  while (tooLarge - known > 1) {
    const middle = known + Math.floor((tooLarge - known) / 2);
    // Beyond 2^53 not every number of bytes can be written: then the two are neighbours.
    if (middle <= known || middle >= tooLarge) break;
    if (fits(middle)) known = middle;
    else tooLarge = middle;
  }
  return known;
}

function fitsOnce(
  { pod, claims }: ReplicaToFit,
  index: ClusterIndex,
  { nowMs, rules, onlyNodes }: HeadroomOptions & { readonly onlyNodes?: readonly string[] },
): boolean {
  const savepoint = index.savepoint();
  try {
    for (const claim of claims) index.upsert('PersistentVolumeClaim', claim);
    return plan(pod, index, { nowMs, ...(rules && { rules }), onlyNodes }).kind === 'placement';
  } finally {
    index.rollback(savepoint);
  }
}

class Filling {
  readonly #template: ReplicaTemplate;
  readonly #index: ClusterIndex;
  readonly #options: HeadroomOptions;
  readonly #ledger: Ledger;
  readonly #byNode = new Map<string, number>();
  readonly #countMax: number;
  #count = 0;

  constructor(template: ReplicaTemplate, index: ClusterIndex, options: HeadroomOptions) {
    this.#template = template;
    this.#index = index;
    this.#options = options;
    this.#ledger = new Ledger(index);
    this.#countMax = options.countMax ?? countMaxDefault;
  }

  fill(): Headroom {
    const first = this.#next();
    const usable = this.#usableNodes(first);
    if (usable.length > 0 && this.#areNodesIndependent(first)) this.#fillEach(usable);
    else this.#fillTogether();
    const isCapped = this.#count >= this.#countMax;
    const answer = this.#plan(this.#next(), usable.length === 0 ? undefined : usable);
    return {
      count: this.#count,
      isCapped,
      byNode: this.#byNode,
      limits: answer.kind === 'refusal' && !isCapped ? limitsOf(answer) : [],
      podRefusals: answer.kind === 'refusal' && !isCapped ? answer.podRefusals : [],
    };
  }

  /** The next replica, with its claims in the index. */
  #next(): ReplicaToFit {
    const replica = this.#template(this.#count);
    for (const claim of replica.claims) this.#index.upsert('PersistentVolumeClaim', claim);
    return replica;
  }

  #usableNodes({ pod }: ReplicaToFit): readonly string[] {
    const { nowMs, rules } = this.#options;
    const { cycle, prepared } = filterNodes(readPod(pod), this.#index, { nowMs, ...(rules && { rules }) });
    if (prepared.refusedBy !== undefined) return [];
    const { nodes } = this.#index;
    return nodes.rowsByName.filter((row) => cycle.isFeasible(row)).map((row) => nodes.record(row)!.key);
  }

  /** Whether a replica on one node leaves all other nodes as they are, apart from the nodes that share its pools. */
  #areNodesIndependent({ pod, claims }: ReplicaToFit): boolean {
    const { affinity, topologySpreadConstraints = [] } = pod.spec ?? {};
    const isBoundToOthers =
      affinity?.podAffinity !== undefined ||
      affinity?.podAntiAffinity !== undefined ||
      topologySpreadConstraints.length > 0;
    if (isBoundToOthers || readPod(pod).inlineVolumes.length > 0) return false;
    return claims.every(({ metadata }) => {
      const record = this.#index.claims.get(`${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`);
      if (record === undefined || record.isBound) return record !== undefined;
      const { cells, areIndependent } = storageCells(this.#index, record);
      // Several claims of one pod may compete for pools that several nodes reach; then the order decides.
      return areIndependent && (claims.length === 1 || cells.every(({ nodes }) => nodes.length === 1));
    });
  }

  #fillEach(nodes: readonly string[]): void {
    const { nowMs, rules } = this.#options;
    const on = (node: string) => {
      const replica = this.#next();
      const placement = placeOnNode(replica.pod, this.#index, node, { nowMs, ...(rules && { rules }) });
      return placement !== undefined && this.#take(replica, placement);
    };
    for (const node of nodes) while (this.#count < this.#countMax && on(node));
  }

  #fillTogether(): void {
    while (this.#count < this.#countMax && this.#placeNext());
  }

  #placeNext(): boolean {
    const replica = this.#next();
    const answer = this.#plan(replica, undefined);
    return answer.kind === 'placement' && this.#take(replica, answer);
  }

  #take(replica: ReplicaToFit, placement: Placement): boolean {
    if (this.#options.alsoFits?.(replica) === false) return false;
    if (this.#ledger.reserve(placement).kind !== 'reserved') return false;
    this.#count += 1;
    this.#byNode.set(placement.node, (this.#byNode.get(placement.node) ?? 0) + 1);
    return true;
  }

  #plan({ pod }: ReplicaToFit, onlyNodes: readonly string[] | undefined): Placement | Refusal {
    const { nowMs, rules } = this.#options;
    const tieSeed = tieBreakSeed(readPod(pod));
    return plan(pod, this.#index, { nowMs, ...(rules && { rules }), onlyNodes, tieSeed });
  }
}

function limitsOf({ reasons }: Refusal): readonly HeadroomLimit[] {
  return [...reasons].map(([reason, nodes]) => ({ reason, nodes })).sort((a, b) => b.nodes - a.nodes);
}
