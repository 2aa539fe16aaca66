import type { CompiledLabelSelector } from '../../../kube/selectors/label-selector.ts';
import { type PodTerm, podTermsOf, type TermTarget, termMatches } from '../../records/pod-affinity.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import type { NodeRow } from '../nodes/node-table.ts';
import { SelectorIndex } from '../primitives/selector-index.ts';
import type { OccupancyTable } from './occupancy.ts';

/** A term that pods on nodes have, and where they stand; the replicas of a workload have it between them. */
export interface ExistingTerm {
  readonly term: PodTerm;
  /** Of the pods that have it, where that makes a difference. */
  readonly namespace: string;
  readonly selector: CompiledLabelSelector;
  /** How many of them stand on each node, by row. */
  readonly rows: Map<NodeRow, number>;
}

/** Terms by which pods on nodes have a say about pods to come: each distinct one once, found by the newcomer's labels. */
export class AffinityTermTable implements OccupancyTable {
  /** Required anti-affinity. */
  readonly #repelling = new TermSet();
  /** Whatever ranks nodes: required affinity, and what is preferred. */
  readonly #ranking = new TermSet();

  podAdded(row: NodeRow, pod: PodRecord): void {
    this.#step(row, pod, 1);
  }

  podRemoved(row: NodeRow, pod: PodRecord): void {
    this.#step(row, pod, -1);
  }

  /** The required anti-affinity of pods on nodes that is about this one. */
  antiAffinityTerms(pod: TermTarget): ExistingTerm[] {
    return this.#repelling.about(pod);
  }

  scoringTerms(pod: TermTarget): ExistingTerm[] {
    return this.#ranking.about(pod);
  }

  #step(row: NodeRow, { shape, namespace }: PodRecord, step: 1 | -1): void {
    const { required, requiredAnti, preferred } = podTermsOf(shape);
    for (const term of requiredAnti) this.#repelling.count(term, namespace, row, step);
    for (const term of required) this.#ranking.count(term, namespace, row, step);
    for (const term of preferred) this.#ranking.count(term, namespace, row, step);
  }
}

class TermSet {
  readonly #byKey = new Map<string, ExistingTerm>();
  readonly #anchored = new SelectorIndex<ExistingTerm>();

  about(pod: TermTarget): ExistingTerm[] {
    if (this.#byKey.size === 0) return [];
    return this.#anchored
      .candidates(pod.labels)
      .filter(({ term, namespace }) => termMatches(term, namespace, pod));
  }

  count(term: PodTerm, namespace: string, row: NodeRow, step: 1 | -1): void {
    const key = term.isOwnNamespace ? `${namespace} ${term.key}` : term.key;
    const standing = this.#byKey.get(key) ?? this.#add(key, term, namespace);
    const count = (standing.rows.get(row) ?? 0) + step;
    if (count > 0) standing.rows.set(row, count);
    else standing.rows.delete(row);
    if (standing.rows.size > 0) return;
    this.#byKey.delete(key);
    this.#anchored.delete(standing);
  }

  #add(key: string, term: PodTerm, namespace: string): ExistingTerm {
    const standing = { term, namespace, selector: term.selector, rows: new Map<NodeRow, number>() };
    this.#byKey.set(key, standing);
    this.#anchored.add(standing);
    return standing;
  }
}
