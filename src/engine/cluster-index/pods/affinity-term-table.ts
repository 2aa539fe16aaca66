import type { CompiledLabelSelector } from '../../../kube/selectors/label-selector.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import {
  type PodTerm,
  podTermsOf,
  type TermTarget,
  termMatches,
} from '../../records/pod-shape/pod-affinity.ts';
import type { NodeRow } from '../nodes/node-table.ts';
import { SelectorIndex } from '../primitives/selector-index.ts';
import type { OccupancyTable } from './occupancy.ts';

/** An affinity term of existing pods, and the nodes of these pods. The replicas of a workload share one. */
export interface ExistingTerm {
  readonly term: PodTerm;
  /** The namespace of the pods that have the term. Relevant only if `term.isOwnNamespace`. */
  readonly namespace: string;
  readonly selector: CompiledLabelSelector;
  /** How many pods with the term each node has, by row. */
  readonly rows: Map<NodeRow, number>;
}

/** The affinity terms of existing pods, each distinct term once. A pending pod finds the terms that may match it by its labels. */
export class AffinityTermTable implements OccupancyTable {
  /** Required anti-affinity. */
  readonly #antiAffinity = new TermSet();
  /** The terms that score nodes: required affinity, and preferred affinity and anti-affinity. */
  readonly #scoring = new TermSet();

  podAdded(row: NodeRow, pod: PodRecord): void {
    this.#count(row, pod, 1);
  }

  podRemoved(row: NodeRow, pod: PodRecord): void {
    this.#count(row, pod, -1);
  }

  /** The required anti-affinity terms of existing pods that match this pod. */
  antiAffinityTerms(pod: TermTarget): ExistingTerm[] {
    return this.#antiAffinity.matching(pod);
  }

  scoringTerms(pod: TermTarget): ExistingTerm[] {
    return this.#scoring.matching(pod);
  }

  #count(row: NodeRow, { shape, namespace }: PodRecord, step: 1 | -1): void {
    const { required, requiredAnti, preferred } = podTermsOf(shape);
    for (const term of requiredAnti) this.#antiAffinity.count(term, namespace, row, step);
    for (const term of required) this.#scoring.count(term, namespace, row, step);
    for (const term of preferred) this.#scoring.count(term, namespace, row, step);
  }
}

class TermSet {
  readonly #byKey = new Map<string, ExistingTerm>();
  readonly #bySelector = new SelectorIndex<ExistingTerm>();

  matching(pod: TermTarget): ExistingTerm[] {
    if (this.#byKey.size === 0) return [];
    return this.#bySelector
      .candidates(pod.labels)
      .filter(({ term, namespace }) => termMatches(term, namespace, pod));
  }

  count(term: PodTerm, namespace: string, row: NodeRow, step: 1 | -1): void {
    const key = term.isOwnNamespace ? `${namespace} ${term.key}` : term.key;
    const existing = this.#byKey.get(key) ?? this.#add(key, term, namespace);
    const count = (existing.rows.get(row) ?? 0) + step;
    if (count > 0) existing.rows.set(row, count);
    else existing.rows.delete(row);
    if (existing.rows.size > 0) return;
    this.#byKey.delete(key);
    this.#bySelector.delete(existing);
  }

  #add(key: string, term: PodTerm, namespace: string): ExistingTerm {
    const existing = { term, namespace, selector: term.selector, rows: new Map<NodeRow, number>() };
    this.#byKey.set(key, existing);
    this.#bySelector.add(existing);
    return existing;
  }
}
