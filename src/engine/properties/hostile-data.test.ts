import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import type { Pod } from '../../kube/api/core.ts';
import type { IndexedKind } from '../cluster-index/cluster-change.ts';
import { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { stowageProfile, upstreamProfile } from '../cluster-index/profile.ts';
import { Ledger } from '../ledger/ledger.ts';
import { plan } from '../plan.ts';
import { claim, pod, storageClass } from '../testing/objects.ts';
import { arbCluster, randomNowMs as nowMs, type RandomCluster } from '../testing/random/cluster.ts';

const runs = propertyRuns(240);

/** Values that are too large to print in a counterexample, so that fast-check draws only their names. */
const hugeValues = new Map<string, () => unknown>([
  ['a long text', () => 'x'.repeat(100_000)],
  ['a deep value', () => nested(20_000)],
  ['many labels', () => Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`l${at}`, `v${at}`]))],
  [
    'many requirements',
    () => Array.from({ length: 2_000 }, (_, at) => ({ key: `k${at}`, operator: 'In', values: ['v'] })),
  ],
]);

/** Valid JSON that no field expects. */
const garbage: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    1e308,
    0.1,
    '',
    ' ',
    '-',
    '__proto__',
    'NaN',
    '1e999',
    [],
    {},
  ),
  fc.constantFrom<unknown>(
    [null],
    [[]],
    [{}],
    { '': null },
    { toString: 1 },
    { constructor: null },
    { length: 3 },
  ),
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(...hugeValues.keys()),
);

function nested(depth: number): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { in: value };
  return value;
}

/** A value, and the path where it is inserted: at each level the position of an existing key. */
interface Damage {
  readonly kind: number;
  readonly object: number;
  readonly path: readonly number[];
  readonly value: unknown;
}

const damages: fc.Arbitrary<Damage> = fc.record({
  kind: fc.nat(100),
  object: fc.nat(100),
  path: fc.array(fc.nat(20), { minLength: 1, maxLength: 8 }),
  value: garbage,
});

function damaged({ objects, pod: target }: RandomCluster, damage: readonly Damage[]): RandomCluster {
  const copy = JSON.parse(JSON.stringify({ ...objects, target: [target] })) as Record<string, unknown[]>;
  for (const { kind, object, path, value } of damage) {
    const kinds = Object.keys(copy);
    const list = copy[kinds[kind % kinds.length]!]!;
    const made = typeof value === 'string' ? (hugeValues.get(value)?.() ?? value) : value;
    if (list.length > 0) place(list, [object % list.length, ...path], made);
  }
  const { target: targets, ...rest } = copy;
  return { objects: rest as unknown as RandomCluster['objects'], pod: targets![0] as Pod };
}

/** Follows the path as far as it exists. */
function place(container: unknown, [step, ...rest]: readonly number[], value: unknown): void {
  const target = container as Record<string, unknown>;
  const keys = Object.keys(target);
  const key = keys[step! % Math.max(keys.length, 1)];
  if (key === undefined) return;
  const next = target[key];
  if (rest.length === 0 || typeof next !== 'object' || next === null) target[key] = value;
  else place(next, rest, value);
}

describe.each([stowageProfile, upstreamProfile])('garbage in any field, under profile $name', (profile) => {
  test('never throws: it causes a warning, a refusal or a plan without the field', () => {
    fc.assert(
      fc.property(arbCluster, fc.array(damages, { minLength: 1, maxLength: 4 }), (cluster, damage) => {
        const { objects, pod: target } = damaged(cluster, damage);
        const index = new ClusterIndex(profile);
        for (const [kind, list] of Object.entries(objects)) {
          for (const object of list) {
            const { warnings } = index.upsert(kind as 'Node', object as never);
            for (const warning of warnings)
              expect(warning).toMatchObject({ kind, problem: expect.stringContaining(': ') });
          }
        }
        useEverything(index, target);
      }),
      { numRuns: runs },
    );
  });

  test('never throws when it arrives as an update, or is removed again', () => {
    fc.assert(
      fc.property(arbCluster, fc.array(damages, { minLength: 1, maxLength: 4 }), (cluster, damage) => {
        const index = new ClusterIndex(profile);
        const damagedCluster = damaged(cluster, damage);
        for (const { objects } of [cluster, damagedCluster, cluster]) {
          for (const [kind, list] of Object.entries(objects))
            for (const object of list) index.upsert(kind as 'Node', withoutVersion(object));
          useEverything(index, damagedCluster.pod);
        }
        for (const [kind, list] of Object.entries(cluster.objects))
          for (const { metadata } of list) {
            index.remove(kind as IndexedKind, metadata!.name!);
            index.remove(kind as IndexedKind, `${metadata!.namespace}/${metadata!.name}`);
          }
        useEverything(index, cluster.pod);
      }),
      { numRuns: runs / 4 },
    );
  });
});

test('values that are not objects are ignored with a warning', () => {
  const index = new ClusterIndex();
  for (const value of [null, undefined, 1, 'x', [], true, { metadata: null }, { metadata: { name: 7 } }]) {
    const { change, warnings } = index.upsert('PersistentVolume', value as never);
    expect(change).toBeUndefined();
    expect(warnings).toHaveLength(1);
  }
});

test('deeply nested unused fields do not overflow the stack', () => {
  const index = new ClusterIndex();
  const deep = nested(100_000) as never;
  index.upsert('StorageClass', storageClass('local'));
  index.upsert(
    'PersistentVolumeClaim',
    claim('c', '1Gi', { spec: { selector: { matchLabels: { a: 'b' }, extra: deep } as never } }),
  );
  index.upsert('PersistentVolume', { metadata: { name: 'v', annotations: deep, labels: deep }, spec: deep });
  expect(plan(pod('p', ['c']), index, { nowMs }).kind).toBe('refusal');
});

/** Calls everything that a caller might call next. */
function useEverything(index: ClusterIndex, target: Pod): void {
  const ledger = new Ledger(index);
  const answer = plan(target, index, { nowMs });
  if (answer.kind === 'refusal') {
    expect(typeof answer.message).toBe('string');
    expect(answer.reasons.size + answer.nodeCount).toBeGreaterThanOrEqual(0);
    answer.explain();
    return;
  }
  const result = ledger.reserve(answer);
  if (result.kind === 'refused') return;
  ledger.conflicts(result.reservation);
  ledger.confirm(result.reservation);
  ledger.revert(result.reservation);
}

/** Without a version, as from a file, so that it always counts as newer. */
function withoutVersion(object: { readonly metadata?: unknown }): never {
  const metadata = object.metadata;
  if (typeof metadata !== 'object' || metadata === null) return object as never;
  return { ...object, metadata: { ...metadata, resourceVersion: undefined } } as never;
}
