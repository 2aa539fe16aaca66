import { type CompiledLabelSelector, matchesLabels } from '../../../kube/selectors/label-selector.ts';
import { lookUp } from '../../../kube/wire.ts';
import { requirementsKey } from '../../records/node-matcher.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import type { NodeRow, NodeTable } from '../nodes/node-table.ts';
import { addTo, removeFrom } from '../primitives/maps.ts';
import { SelectorIndex } from '../primitives/selector-index.ts';
import { isInScope, type NamespaceScope } from './namespace-scopes.ts';
import type { OccupancyTable } from './occupancy.ts';

/** Which pods are counted. */
export interface PodSelection {
  readonly scope: NamespaceScope;
  readonly selector: CompiledLabelSelector;
  /** Pods that are being deleted count too. */
  readonly countsTerminating: boolean;
}

interface PodCount extends PodSelection {
  /** By node row; as long as the highest row that was ever written or read. */
  column: Int32Array;
}

/** Counts are cheap to make anew, so only those asked for lately are kept. */
const countsMax = 512;
/** Label keys by whose values pods are filed; selectors by others look at every pod. */
const filedKeysMax = 32;

/**
 * How many of the pods that a selector selects stand on each node: for each selection in use a column, counted when it is first
 * asked for and kept true as pods come and go.
 */
export class PodCountTable implements OccupancyTable {
  readonly #nodes: NodeTable;
  readonly #rows = new Map<PodRecord, NodeRow>();
  /** The pods by label value, for the keys that selectors have asked for. */
  readonly #filed = new Map<string, Map<string, Set<PodRecord>>>();
  /** The one used last is last. */
  readonly #counts = new Map<string, PodCount>();
  readonly #anchored = new SelectorIndex<PodCount>();

  constructor(nodes: NodeTable) {
    this.#nodes = nodes;
  }

  /** By node row, at least as long as there are rows; valid until the index changes. */
  of(selection: PodSelection): Int32Array {
    const key = keyOf(selection);
    const known = this.#counts.get(key);
    const count = known ?? this.#build(selection);
    if (known !== undefined) this.#counts.delete(key);
    this.#counts.set(key, count);
    if (count.column.length < this.#nodes.rowCount) stretch(count, this.#nodes.rowCount);
    return count.column;
  }

  podAdded(row: NodeRow, pod: PodRecord): void {
    this.#rows.set(pod, row);
    for (const [key, byValue] of this.#filed) {
      const value = lookUp(pod.labels, key);
      if (value !== undefined) addTo(byValue, value, pod);
    }
    this.#add(row, pod, 1);
  }

  podRemoved(row: NodeRow, pod: PodRecord): void {
    this.#rows.delete(pod);
    for (const [key, byValue] of this.#filed) {
      const value = lookUp(pod.labels, key);
      if (value !== undefined) removeFrom(byValue, value, pod);
    }
    this.#add(row, pod, -1);
  }

  #add(row: NodeRow, pod: PodRecord, step: 1 | -1): void {
    if (this.#counts.size === 0) return;
    for (const count of this.#anchored.candidates(pod.labels)) {
      if (!isSelected(count, pod)) continue;
      if (row >= count.column.length) stretch(count, Math.max(row + 1, this.#nodes.rowCount));
      count.column[row]! += step;
    }
  }

  #build(selection: PodSelection): PodCount {
    if (this.#counts.size >= countsMax) this.#forgetOldest();
    const count: PodCount = { ...selection, column: new Int32Array(this.#nodes.rowCount) };
    for (const pods of this.#candidates(selection.selector)) {
      for (const pod of pods) if (isSelected(count, pod)) count.column[this.#rows.get(pod)!]! += 1;
    }
    this.#anchored.add(count);
    return count;
  }

  #forgetOldest(): void {
    for (const [key, count] of this.#counts) {
      this.#counts.delete(key);
      this.#anchored.delete(count);
      return;
    }
  }

  /** Sets that together hold every pod that may match: those of the requirement that leaves the fewest. */
  #candidates({ requirements }: CompiledLabelSelector): Iterable<PodRecord>[] {
    let best: Iterable<PodRecord>[] = [this.#rows.keys()];
    let bestSize = this.#rows.size;
    for (const { key, operator, values } of requirements) {
      const byValue = operator === 'In' ? this.#filedBy(key) : undefined;
      if (byValue === undefined) continue;
      const sets = [...values].flatMap((value) => byValue.get(value) ?? []);
      const size = sets.reduce((sum, set) => sum + set.size, 0);
      if (size >= bestSize) continue;
      best = sets;
      bestSize = size;
    }
    return best;
  }

  #filedBy(key: string): Map<string, Set<PodRecord>> | undefined {
    const known = this.#filed.get(key);
    if (known !== undefined || this.#filed.size >= filedKeysMax) return known;
    const byValue = new Map<string, Set<PodRecord>>();
    for (const pod of this.#rows.keys()) {
      const value = lookUp(pod.labels, key);
      if (value !== undefined) addTo(byValue, value, pod);
    }
    this.#filed.set(key, byValue);
    return byValue;
  }
}

function keyOf({ scope, selector, countsTerminating }: PodSelection): string {
  return `${countsTerminating ? '+' : '-'}${scope.key} ${requirementsKey(selector.requirements)}`;
}

function isSelected({ scope, selector, countsTerminating }: PodSelection, pod: PodRecord): boolean {
  return (
    (countsTerminating || !pod.isDeleting) &&
    isInScope(scope, pod.namespace) &&
    matchesLabels(selector, pod.labels)
  );
}

function stretch(count: PodCount, length: number): void {
  const longer = new Int32Array(Math.max(length, count.column.length * 2));
  longer.set(count.column);
  count.column = longer;
}
