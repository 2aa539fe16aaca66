import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileNodeSelector, matchesNode } from '../../kube/selectors/node-selector.ts';
import { NodeSet } from '../cluster-index/nodes/node-set.ts';
import { NodeTable } from '../cluster-index/nodes/node-table.ts';
import { type Topology, TopologyTable } from '../cluster-index/nodes/topology-table.ts';
import {
  clearBit,
  countBits,
  hasBit,
  membersInto,
  newBitset,
  withBit,
} from '../cluster-index/primitives/bitset.ts';
import { SortedLists } from '../cluster-index/primitives/sorted-lists.ts';
import { matcherOfSelector } from '../records/node-matcher.ts';
import { readNode } from '../records/node-record.ts';
import {
  addSizes,
  compareSizes,
  nanoOf,
  type Size,
  scaleSize,
  sizeOfBytes,
  sizeOfNano,
  subtractSizes,
} from '../size.ts';
import { nodeNames } from '../testing/random/names.ts';
import { arbNode } from '../testing/random/nodes.ts';
import { nodeSelectors } from '../testing/random/selectors.ts';

const runs = 500;
const rowsMax = 150;

const setSteps = fc.array(
  fc.record({ type: fc.constantFrom('add', 'add', 'add', 'delete'), row: fc.nat(rowsMax) }),
  { maxLength: 80, size: 'max' },
);

test('a bitset behaves like a set of numbers', () => {
  fc.assert(
    fc.property(setSteps, (steps) => {
      const model = new Set<number>();
      let bits = newBitset(4);
      for (const { type, row } of steps) {
        if (type === 'add') bits = withBit(bits, row);
        else if (model.has(row)) clearBit(bits, row);
        model[type](row);
      }
      const members = new Int32Array(rowsMax + 1);
      const count = membersInto(bits, members);
      expect(Array.from(members.subarray(0, count))).toEqual([...model].sort((a, b) => a - b));
      expect(countBits(bits)).toBe(model.size);
      const present = Array.from({ length: rowsMax + 1 }, (_, row) => row).filter((row) => hasBit(bits, row));
      expect(present).toEqual([...model].sort((a, b) => a - b));
    }),
    { numRuns: runs },
  );
});

test('a node set behaves like a set of numbers, as a list and as a bitset', () => {
  fc.assert(
    fc.property(setSteps, (steps) => {
      const model = new Set<number>();
      const set = new NodeSet();
      for (const { type, row } of steps) {
        expect(set[type](row)).toBe(type === 'add' ? !model.has(row) : model.has(row));
        model[type](row);
        expect(set.size).toBe(model.size);
        expect(set.has(row)).toBe(model.has(row));
      }
      expect(set.rows()).toEqual([...model].sort((a, b) => a - b));
      const seen: number[] = [];
      set.each((row) => seen.push(row));
      expect(seen.sort((a, b) => a - b)).toEqual(set.rows());
    }),
    { numRuns: runs },
  );
});

describe('sorted lists', () => {
  const steps = fc.array(
    fc.record({
      type: fc.constantFrom('insert', 'insert', 'insert', 'insert', 'remove', 'create', 'destroy'),
      list: fc.nat(5),
      bytes: fc.integer({ min: 0, max: 6 }),
      pick: fc.nat(1000),
    }),
    { maxLength: 150, size: 'max' },
  );

  test('contain the inserted entries in order, after any inserts, removals, creations and destructions', () => {
    fc.assert(
      fc.property(steps, (drawn) => {
        // Rows with equal bytes are in descending order, to test that `compareRows` is used.
        const lists = new SortedLists((a, b) => b - a);
        const models: { readonly list: number; readonly entries: { row: number; bytes: number }[] }[] = [];
        let rows = 0;
        for (const { type, list: at, bytes, pick } of drawn) {
          const model = models[at % Math.max(models.length, 1)];
          if (type === 'create' || model === undefined) models.push({ list: lists.create(), entries: [] });
          else if (type === 'destroy') {
            lists.destroy(model.list);
            models.splice(models.indexOf(model), 1);
          } else if (type === 'insert') {
            lists.insert(model.list, rows, bytes);
            model.entries.push({ row: rows++, bytes });
          } else {
            const [entry] = model.entries.splice(pick % Math.max(model.entries.length, 1), 1);
            expect(lists.remove(model.list, entry?.row ?? -1, entry?.bytes ?? 0)).toBe(entry !== undefined);
          }
        }
        for (const each of models) expectSorted(lists, each.list, each.entries);
      }),
      { numRuns: runs },
    );
  });

  function expectSorted(
    lists: SortedLists,
    list: number,
    entries: readonly { readonly row: number; readonly bytes: number }[],
  ): void {
    const start = lists.starts[list]!;
    const end = lists.ends[list]!;
    const right = [...entries].sort((a, b) => a.bytes - b.bytes || b.row - a.row);
    expect(Array.from(lists.rows.subarray(start, end))).toEqual(right.map(({ row }) => row));
    expect(lists.length(list)).toBe(right.length);
    for (let bytes = 0; bytes <= 7; bytes++) {
      const first = right.findIndex((entry) => entry.bytes >= bytes);
      expect(lists.lowerBound(list, bytes, start)).toBe(first < 0 ? end : start + first);
    }
  }
});

test('a topology has the nodes that its selector matches, after any changes of nodes', () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({
        type: fc.constant('put' as const),
        node: fc.oneof(...nodeNames.map((name) => arbNode(name))),
      }),
      fc.record({ type: fc.constant('delete' as const), name: fc.constantFrom(...nodeNames) }),
      fc.record({ type: fc.constant('acquire' as const), selector: nodeSelectors }),
      fc.record({ type: fc.constant('release' as const), pick: fc.nat(20) }),
    ),
    { maxLength: 40, size: 'max' },
  );
  fc.assert(
    fc.property(steps, (drawn) => {
      const nodes = new NodeTable();
      const topologies = new TopologyTable(nodes);
      const labels = new Map<string, Readonly<Record<string, string>>>();
      const held: {
        readonly topology: Topology;
        readonly selector: ReturnType<typeof compileNodeSelector>;
      }[] = [];
      for (const step of drawn) {
        if (step.type === 'put') {
          const record = readNode(step.node);
          const before = nodes.get(record.key);
          topologies.nodeChanged(nodes.put(record), before, record);
          labels.set(record.key, record.labels);
        } else if (step.type === 'delete') {
          const before = nodes.get(step.name);
          const row = nodes.delete(step.name);
          if (row !== undefined) topologies.nodeChanged(row, before, undefined);
          labels.delete(step.name);
        } else if (step.type === 'acquire') {
          const selector = compileNodeSelector(step.selector);
          held.push({ topology: topologies.acquire(matcherOfSelector(selector)), selector });
        } else {
          const [dropped] = held.splice(step.pick % Math.max(held.length, 1), 1);
          if (dropped !== undefined) topologies.release(dropped.topology);
        }
        for (const { topology, selector } of held) {
          const found = topology.nodes.rows().map((row) => nodes.record(row)!.key);
          const right = [...labels]
            .filter(([name, of]) => matchesNode(selector, name, of))
            .map(([name]) => name);
          expect(found.sort()).toEqual(right.sort());
        }
      }
      for (const { topology } of held) topologies.release(topology);
      expect(topologies.size).toBe(0);
    }),
    { numRuns: runs / 2 },
  );
});

describe('a size', () => {
  /** Around zero, around 2^53 bytes, and far beyond; integers and fractions. */
  const nanos = fc.oneof(
    fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }),
    fc.bigInt({ min: -3n, max: 3n }).map((step) => (2n ** 53n + step) * 10n ** 9n),
    fc.bigInt({ min: -2n, max: 2n }).map((step) => 2n ** 53n * 10n ** 9n + step),
    fc.bigInt({ min: 0n, max: 10n ** 31n }),
    fc.bigInt({ min: 0n, max: 10n ** 22n }).map((bytes) => bytes * 10n ** 9n),
  );

  test('keeps its exact value when it is read, compared, added and subtracted', () => {
    fc.assert(
      fc.property(nanos, nanos, (left, right) => {
        const [a, b] = [sizeOfNano(left), sizeOfNano(right)];
        expect(nanoOf(a)).toBe(left);
        expect(Math.sign(compareSizes(a, b))).toBe(left === right ? 0 : left < right ? -1 : 1);
        expect(nanoOf(addSizes(a, b))).toBe(left + right);
        expect(nanoOf(subtractSizes(a, b))).toBe(left - right);
        expectCanonical(a);
        expectCanonical(addSizes(a, b));
        expectCanonical(subtractSizes(a, b));
      }),
      { numRuns: 2_000 },
    );
  });

  test('is scaled exactly and rounded up to whole bytes', () => {
    const positive = nanos.map((nano) => (nano < 0n ? -nano : nano));
    fc.assert(
      fc.property(positive, positive, positive, (size, numerator, denominator) => {
        const scaled = nanoOf(scaleSize(sizeOfNano(size), sizeOfNano(numerator), sizeOfNano(denominator)));
        if (denominator === 0n) {
          expect(scaled).toBe(size);
          return;
        }
        const bytes = scaled / 10n ** 9n;
        expect(scaled % 10n ** 9n).toBe(0n);
        // bytes - 1 < size * numerator / denominator / 10^9 <= bytes, without dividing.
        const exact = size * numerator;
        expect(bytes * denominator * 10n ** 9n).toBeGreaterThanOrEqual(exact);
        expect((bytes - 1n) * denominator * 10n ** 9n).toBeLessThan(exact);
      }),
      { numRuns: 2_000 },
    );
  });

  test('of a number of bytes is that number', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.maxSafeInteger(),
          fc.maxSafeNat().map((bytes) => bytes * 1024),
        ),
        (bytes) => {
          expect(nanoOf(sizeOfBytes(bytes))).toBe(BigInt(bytes) * 10n ** 9n);
        },
      ),
      { numRuns: runs },
    );
  });

  /** A plain number whenever a double represents it exactly: comparisons rely on this. */
  function expectCanonical(size: Size): void {
    const nano = nanoOf(size);
    const isPlain = nano % 10n ** 9n === 0n && Number.isSafeInteger(Number(nano / 10n ** 9n));
    expect(size.exactNano === undefined).toBe(isPlain);
  }
});
