import { type CompiledLabelSelector, matchesLabels } from '../../../kube/selectors/label-selector.ts';
import { lookUp } from '../../../kube/wire.ts';
import { addTo, removeFrom } from '../../maps.ts';
import { requirementsKey } from '../../records/node-matcher.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import type { NodeRow, NodeTable } from '../nodes/node-table.ts';
import { SelectorIndex } from '../primitives/selector-index.ts';
import { isInScope, type NamespaceScope } from './namespace-scopes.ts';
import type { OccupancyTable } from './occupancy.ts';

/** The pods to count. */
export interface PodSelection {
  readonly scope: NamespaceScope;
  readonly selector: CompiledLabelSelector;
  /** Whether pods that are being deleted count too. */
  readonly countsTerminating: boolean;
}

interface PodCount extends PodSelection {
  /** Indexed by node row. It has an entry for every row that was ever written or read. */
  column: Int32Array;
}

/** Counts are cheap to compute again, so only the most recently used are kept. */
const countsMax = 512;
/** How many label keys are indexed. Selectors on other keys check every pod. */
const indexedKeysMax = 32;

/**
 * How many selected pods each node has: one column per selection in use. A column is counted on first use and updated as pods are
 * added and removed.
 */
export class PodCountTable implements OccupancyTable {
  readonly #nodes: NodeTable;
  readonly #rows = new Map<PodRecord, NodeRow>();
  /** The pods by label key and value, for the keys that selectors have used. */
  readonly #podsByLabel = new Map<string, Map<string, Set<PodRecord>>>();
  /** Least recently used first. */
  readonly #counts = new Map<string, PodCount>();
  readonly #bySelector = new SelectorIndex<PodCount>();

  constructor(nodes: NodeTable) {
    this.#nodes = nodes;
  }

  /** The counts by node row, with at least as many entries as there are rows. Valid until the index changes. */
  of(selection: PodSelection): Int32Array {
    const key = selectionKey(selection);
    const known = this.#counts.get(key);
    const count = known ?? this.#build(selection);
    if (known !== undefined) this.#counts.delete(key);
    this.#counts.set(key, count);
    if (count.column.length < this.#nodes.rowCount) growColumn(count, this.#nodes.rowCount);
    return count.column;
  }

  podAdded(row: NodeRow, pod: PodRecord): void {
    this.#rows.set(pod, row);
    for (const [key, byValue] of this.#podsByLabel) {
      const value = lookUp(pod.labels, key);
      if (value !== undefined) addTo(byValue, value, pod);
    }
    this.#add(row, pod, 1);
  }

  podRemoved(row: NodeRow, pod: PodRecord): void {
    this.#rows.delete(pod);
    for (const [key, byValue] of this.#podsByLabel) {
      const value = lookUp(pod.labels, key);
      if (value !== undefined) removeFrom(byValue, value, pod);
    }
    this.#add(row, pod, -1);
  }

  #add(row: NodeRow, pod: PodRecord, step: 1 | -1): void {
    if (this.#counts.size === 0) return;
    for (const count of this.#bySelector.candidates(pod.labels)) {
      if (!isSelected(count, pod)) continue;
      if (row >= count.column.length) growColumn(count, Math.max(row + 1, this.#nodes.rowCount));
      count.column[row]! += step;
    }
  }

  #build(selection: PodSelection): PodCount {
    if (this.#counts.size >= countsMax) this.#evictOldest();
    const count: PodCount = { ...selection, column: new Int32Array(this.#nodes.rowCount) };
    for (const pods of this.#candidates(selection.selector)) {
      for (const pod of pods) if (isSelected(count, pod)) count.column[this.#rows.get(pod)!]! += 1;
    }
    this.#bySelector.add(count);
    return count;
  }

  #evictOldest(): void {
    for (const [key, count] of this.#counts) {
      this.#counts.delete(key);
      this.#bySelector.delete(count);
      return;
    }
  }

  /** Sets that together contain every pod that may match, by the most selective requirement. */
  #candidates({ requirements }: CompiledLabelSelector): Iterable<PodRecord>[] {
    let best: Iterable<PodRecord>[] = [this.#rows.keys()];
    let bestSize = this.#rows.size;
    for (const { key, operator, values } of requirements) {
      const byValue = operator === 'In' ? this.#podsByValue(key) : undefined;
      if (byValue === undefined) continue;
      const sets = [...values].flatMap((value) => byValue.get(value) ?? []);
      const size = sets.reduce((sum, set) => sum + set.size, 0);
      if (size >= bestSize) continue;
      best = sets;
      bestSize = size;
    }
    return best;
  }

  #podsByValue(key: string): Map<string, Set<PodRecord>> | undefined {
    const known = this.#podsByLabel.get(key);
    if (known !== undefined || this.#podsByLabel.size >= indexedKeysMax) return known;
    const byValue = new Map<string, Set<PodRecord>>();
    for (const pod of this.#rows.keys()) {
      const value = lookUp(pod.labels, key);
      if (value !== undefined) addTo(byValue, value, pod);
    }
    this.#podsByLabel.set(key, byValue);
    return byValue;
  }
}

function selectionKey({ scope, selector, countsTerminating }: PodSelection): string {
  return `${countsTerminating ? '+' : '-'}${scope.key} ${requirementsKey(selector.requirements)}`;
}

function isSelected({ scope, selector, countsTerminating }: PodSelection, pod: PodRecord): boolean {
  return (
    (countsTerminating || !pod.isDeleting) &&
    isInScope(scope, pod.namespace) &&
    matchesLabels(selector, pod.labels)
  );
}

function growColumn(count: PodCount, length: number): void {
  const longer = new Int32Array(Math.max(length, count.column.length * 2));
  longer.set(count.column);
  count.column = longer;
}
