/** The affinity terms that concern one pod, with the matching pods counted by domain. */

import { matchesLabels } from '../../../kube/selectors/label-selector.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import type { Domains } from '../../cluster-index/nodes/domain-table.ts';
import type { ExistingTerm } from '../../cluster-index/pods/affinity-term-table.ts';
import {
  intersectScopes,
  isInScope,
  type NamespaceScope,
} from '../../cluster-index/pods/namespace-scopes.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import { type PodTerm, type PodTerms, podTermsOf } from '../../records/pod-shape/pod-affinity.ts';

/** How many pods there are in each domain of one topology key. */
export interface DomainCounts {
  readonly domains: Domains;
  readonly counts: Int32Array;
}

export interface PodAffinityState {
  readonly terms: PodTerms;
  /** Pods that all required terms select, for each topology key; empty if nothing is required. */
  readonly wanted: readonly DomainCounts[];
  /** No domain has such a pod, and this pod matches its own terms: then it may be the first. */
  readonly mayBeFirst: boolean;
  /** Pods that the required anti-affinity of this pod selects. */
  readonly unwanted: readonly DomainCounts[];
  /** Pods whose required anti-affinity selects this pod. */
  readonly refusing: readonly DomainCounts[];
  /** Terms of pods on nodes that score nodes for this pod. */
  readonly ranking: readonly ExistingTerm[];
}

/** Undefined if no term of this pod or of another pod applies. */
export function affinityStateOf(index: ClusterIndex, pod: PodRecord): PodAffinityState | undefined {
  const terms = podTermsOf(pod.shape);
  const about = index.relations.termTarget(pod);
  const repelling = index.relations.terms.antiAffinityTerms(about);
  const ranking = index.relations.terms.scoringTerms(about);
  const { required, requiredAnti, preferred } = terms;
  const own = required.length + requiredAnti.length + preferred.length;
  if (own + repelling.length + ranking.length === 0) return undefined;
  const wanted = countWanted(index, pod, required);
  return {
    terms,
    wanted,
    mayBeFirst: wanted.every(isEmpty) && required.every((term) => selects(index, pod, term, pod)),
    unwanted: countEach(index, pod, requiredAnti),
    refusing: countExisting(index, repelling),
    ranking,
  };
}

/** Sums by topology key, created on first use of a key. */
export class SumsByKey {
  readonly #index: ClusterIndex;
  readonly #byKey = new Map<string, DomainCounts>();

  constructor(index: ClusterIndex) {
    this.#index = index;
  }

  of(topologyKey: string): DomainCounts {
    let sums = this.#byKey.get(topologyKey);
    if (sums === undefined) {
      const domains = this.#index.relations.domains.of(topologyKey);
      sums = { domains, counts: new Int32Array(domains.count) };
      this.#byKey.set(topologyKey, sums);
    }
    return sums;
  }

  /** Adds the pods that a term of this pod selects. */
  addTerm(pod: PodRecord, term: PodTerm, weight: number): void {
    const { domains, counts } = this.of(term.topologyKey);
    const { selector } = term;
    const scope = scopeOfTerm(this.#index, pod, term);
    domains.sumInto(
      counts,
      this.#index.relations.counts.of({ scope, selector, countsTerminating: true }),
      weight,
    );
  }

  /** Adds the pods that have a term that selects this pod. */
  addExisting({ term, rows }: ExistingTerm, weight: number): void {
    const { domains, counts } = this.of(term.topologyKey);
    for (const [row, count] of rows) {
      const domain = domains.of[row]!;
      if (domain >= 0) counts[domain]! += count * weight;
    }
  }

  all(): readonly DomainCounts[] {
    return [...this.#byKey.values()];
  }
}

/** A pod counts only if all terms select it; it then counts for each of their keys. */
function countWanted(
  index: ClusterIndex,
  pod: PodRecord,
  required: readonly PodTerm[],
): readonly DomainCounts[] {
  if (required.length === 0) return noCounts;
  const scope = required.map((term) => scopeOfTerm(index, pod, term)).reduce(intersectScopes);
  const selector = { requirements: required.flatMap((term) => term.selector.requirements) };
  const column = index.relations.counts.of({ scope, selector, countsTerminating: true });
  const sums = new SumsByKey(index);
  for (const topologyKey of new Set(required.map((term) => term.topologyKey))) {
    const { domains, counts } = sums.of(topologyKey);
    domains.sumInto(counts, column, 1);
  }
  return sums.all();
}

function countEach(index: ClusterIndex, pod: PodRecord, terms: readonly PodTerm[]): readonly DomainCounts[] {
  if (terms.length === 0) return noCounts;
  const sums = new SumsByKey(index);
  for (const term of terms) sums.addTerm(pod, term, 1);
  return sums.all();
}

function countExisting(index: ClusterIndex, terms: readonly ExistingTerm[]): readonly DomainCounts[] {
  if (terms.length === 0) return noCounts;
  const sums = new SumsByKey(index);
  for (const term of terms) sums.addExisting(term, 1);
  return sums.all();
}

const noCounts: readonly DomainCounts[] = [];

function isEmpty({ counts }: DomainCounts): boolean {
  return counts.every((count) => count === 0);
}

/** Whether a term of `pod` selects `other`, with the current namespaces. */
export function selects(index: ClusterIndex, pod: PodRecord, term: PodTerm, other: PodRecord): boolean {
  return (
    matchesLabels(term.selector, other.labels) && isInScope(scopeOfTerm(index, pod, term), other.namespace)
  );
}

function scopeOfTerm(index: ClusterIndex, pod: PodRecord, term: PodTerm): NamespaceScope {
  return index.relations.scopes.of(
    term.isOwnNamespace ? { names: [pod.namespace], namespaceSelector: undefined } : term,
  );
}
