import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DiskVerdict } from '../../kube/stowage/disk-schedule.ts';
import { type DiskDecision, type DiskPass, decideDisk } from './decide-disk.ts';
import type { DiskState } from './disk-state.ts';

type Sizes = Readonly<Record<string, number>>;

interface Facts {
  readonly replicas?: Sizes;
  readonly backingImages?: Sizes;
  readonly before?: Partial<Pick<DiskDecision, 'replicas' | 'backingImages'>>;
  readonly disk?: DiskState;
  readonly data?: readonly string[];
  readonly createdAt?: Readonly<Record<string, string>>;
  readonly held?: Sizes;
}

const closed = { reason: 'SchedulingDisabled', message: 'disk d1 has allowScheduling: false' } as const;
const unknown: DiskState = { kind: 'unknown', message: 'it does not answer' };

function ready(limitBytes: number): DiskState {
  return { kind: 'ready', limitBytes };
}

function passOf({
  replicas,
  backingImages,
  before = {},
  disk = ready(100),
  data = [],
  createdAt,
  held,
}: Facts): DiskPass {
  return {
    spec: { ...(replicas && { replicas }), ...(backingImages && { backingImages }) },
    status: before,
    disk,
    hasData: (_, name) => data.includes(name),
    createdAt: (_, name) => createdAt?.[name] ?? '',
    heldBytes: (name) => held?.[name] ?? 0,
  };
}

const decide = (facts: Facts): DiskDecision => decideDisk(passOf(facts));

function granted(size: number): DiskVerdict {
  return { state: 'scheduled', scheduledSize: size, observedSize: size };
}

function refused(asked: number, had = 0, reason: DiskVerdict['reason'] = 'InsufficientStorage'): DiskVerdict {
  return { state: 'rejected', scheduledSize: had, observedSize: asked, ...(reason && { reason }) };
}

describe('basic', () => {
  test('1. one request fits exactly (sum = limit)', () => {
    expect(decide({ replicas: { a: 100 } })).toEqual({
      replicas: { a: granted(100) },
      backingImages: {},
      storageScheduled: 100,
      storageLimit: 100,
    });
  });

  test('2. one byte too much: rejected, size 0, sum unchanged', () => {
    expect(decide({ replicas: { a: 101 } })).toMatchObject({
      replicas: { a: refused(101) },
      storageScheduled: 0,
    });
  });

  test('3. the example of the proposal (r1, r2, b1, b2 scheduled; r3 rejected; r4 pending): one pass settles r4', () => {
    const gib = 2 ** 30;
    const before = {
      replicas: { r1: granted(50 * gib), r2: granted(50 * gib), r3: refused(500 * gib) },
      backingImages: { b1: granted(50 * gib), b2: granted(50 * gib) },
    };
    const replicas = { r1: 50 * gib, r2: 50 * gib, r3: 500 * gib, r4: 5 * gib };
    const backingImages = { b1: 50 * gib, b2: 50 * gib };
    const after = decide({ replicas, backingImages, before, disk: ready(400 * gib) });
    expect(after.replicas).toEqual({ ...before.replicas, r4: granted(5 * gib) });
    expect(after.backingImages).toEqual(before.backingImages);
    expect(after.storageScheduled).toBe(205 * gib);
  });

  test('4. a replica and a backing image with the same name do not clash', () => {
    const after = decide({ replicas: { a: 60 }, backingImages: { a: 40 } });
    expect(after).toMatchObject({
      replicas: { a: granted(60) },
      backingImages: { a: granted(40) },
      storageScheduled: 100,
    });
    // The bytes of the replica do not count for the image.
    const grown = decide({ replicas: { a: 60 }, backingImages: { a: 50 }, before: after });
    expect([grown.backingImages, grown.storageScheduled]).toEqual([{ a: refused(50, 40) }, 100]);
  });

  test('7. missing maps behave as empty maps', () => {
    expect(decide({})).toEqual({ replicas: {}, backingImages: {}, storageScheduled: 0, storageLimit: 100 });
  });

  test('names of the prototype are names like any other', () => {
    expect(decide({ replicas: { constructor: 10 } }).replicas).toEqual({ constructor: granted(10) });
  });

  test('a rejected request does not hold up smaller ones behind it', () => {
    const after = decide({ replicas: { a: 200, b: 10 } });
    expect(after.replicas).toEqual({ a: refused(200), b: granted(10) });
  });

  test('the oldest is served first, then by name', () => {
    const createdAt = { a: '2026-01-02T00:00:00Z', b: '2026-01-01T00:00:00Z' };
    expect(decide({ replicas: { a: 60, b: 60 }, createdAt }).replicas).toEqual({
      a: refused(60),
      b: granted(60),
    });
    expect(decide({ replicas: { b: 60, a: 60 } }).replicas).toEqual({ a: granted(60), b: refused(60) });
  });

  test('8. a second pass on unchanged input changes nothing', () => {
    const facts = { replicas: { a: 60, b: 60 }, backingImages: { c: 30 } };
    const first = decide(facts);
    expect(decide({ ...facts, before: first })).toEqual(first);
  });

  test('9. a wrong stored sum is repaired', () => {
    const stored = { replicas: { a: granted(60) }, storageScheduled: 7 };
    expect(decide({ replicas: { a: 60 }, before: stored }).storageScheduled).toBe(60);
  });

  test('10. a rejected entry becomes scheduled after another release, without being touched', () => {
    const before = { replicas: { a: granted(60), b: refused(60) } };
    expect(decide({ replicas: { b: 60 }, before })).toMatchObject({
      replicas: { b: granted(60) },
      storageScheduled: 60,
    });
  });
});

describe('resize', () => {
  test('11. growth accepted', () => {
    const before = { replicas: { a: granted(50) } };
    expect(decide({ replicas: { a: 100 }, before }).replicas).toEqual({ a: granted(100) });
  });

  test('12. growth rejected: old non-zero size and sum unchanged', () => {
    const before = { replicas: { a: granted(50) } };
    expect(decide({ replicas: { a: 101 }, before })).toMatchObject({
      replicas: { a: refused(101, 50) },
      storageScheduled: 50,
    });
  });

  test('13. rejected growth set back to the old size: scheduled again', () => {
    const before = { replicas: { a: refused(101, 50) } };
    expect(decide({ replicas: { a: 50 }, before }).replicas).toEqual({ a: granted(50) });
  });

  test('14. rejected 101, then 80 asked: scheduled by the next pass', () => {
    const before = { replicas: { a: refused(101, 50) } };
    expect(decide({ replicas: { a: 80 }, before }).replicas).toEqual({ a: granted(80) });
  });

  test('15. shrinking is always accepted; the freed bytes serve another request in the same pass', () => {
    const before = { replicas: { m: granted(60), z: granted(40) } };
    const after = decide({ replicas: { a: 50, m: 10, z: 40 }, before });
    expect(after.replicas).toEqual({ a: granted(50), m: granted(10), z: granted(40) });
    const overCommitted = decide({ replicas: { m: 10, z: 40 }, before, disk: ready(0) });
    expect(overCommitted.replicas).toEqual({ m: granted(10), z: granted(40) });
  });

  test('what the volume holds is not taken back, and counts', () => {
    const before = { replicas: { a: granted(60), b: granted(30) } };
    const facts = { replicas: { a: 10, b: 10, c: 50 }, before };
    // Held up to 40, or more than it has: only what was granted stays.
    expect(decide({ ...facts, held: { a: 40, b: 90 } })).toMatchObject({
      replicas: {
        a: { state: 'scheduled', scheduledSize: 40, observedSize: 10 },
        b: { state: 'scheduled', scheduledSize: 30, observedSize: 10 },
        c: refused(50),
      },
      storageScheduled: 70,
    });
    expect(decide(facts)).toMatchObject({ replicas: { a: granted(10), b: granted(10), c: granted(50) } });
    expect(decide({ replicas: { b: 10 }, before, held: { a: 60 } }).replicas).toEqual({ b: granted(10) });
  });

  test('16. release and growth in one pass: growth fits in the released space, in any entry order', () => {
    for (const [gone, grows] of [
      ['a', 'z'],
      ['z', 'a'],
    ] as const) {
      const before = { replicas: { [gone]: granted(60), [grows]: granted(40) } };
      expect(decide({ replicas: { [grows]: 100 }, before }).replicas).toEqual({ [grows]: granted(100) });
    }
  });

  test('growth comes before new requests', () => {
    const before = { replicas: { z: granted(50) } };
    expect(decide({ replicas: { a: 50, z: 100 }, before }).replicas).toEqual({
      a: refused(50),
      z: granted(100),
    });
  });
});

describe('disks that take no new requests', () => {
  test('17. disk with scheduling disabled: growth of an existing entry accepted, new request rejected with a reason', () => {
    const before = { replicas: { a: granted(50) } };
    const after = decide({
      replicas: { a: 60, b: 10 },
      before,
      disk: { ...ready(100), closed } as DiskState,
    });
    expect(after.replicas).toEqual({ a: granted(60), b: refused(10, 0, 'SchedulingDisabled') });
  });

  test('a disk that does not answer gives no verdict, keeps those that it gave, and releases', () => {
    const before = { replicas: { a: granted(50), gone: granted(20), c: granted(30) } };
    const after = decide({ replicas: { a: 70, b: 10, c: 20 }, before, disk: unknown });
    expect(after.replicas).toEqual({ a: granted(50), c: granted(20) });
    expect(after).toMatchObject({ storageScheduled: 70, storageLimit: undefined });
  });

  test('a limit below the sum revokes nothing, and admits nothing', () => {
    const before = { replicas: { a: granted(50), b: granted(40) } };
    const after = decide({ replicas: { a: 50, b: 40, c: 1 }, before, disk: ready(60) });
    expect(after).toMatchObject({
      replicas: { a: granted(50), b: granted(40), c: refused(1) },
      storageScheduled: 90,
    });
  });

  test('data that is there is adopted beyond the limit, once, and stays adopted', () => {
    const adopted = { ...granted(80), reason: 'Adopted' };
    const facts = { replicas: { a: 80, b: 10 }, data: ['a'], disk: ready(60) };
    const first = decide(facts);
    expect(first.replicas).toEqual({ a: adopted, b: refused(10) });
    expect(decide({ ...facts, before: first, data: [] })).toEqual(first);
  });
});

test('a disk that was given up rejects everything, whatever was granted, and grants again when it is back', () => {
  const before = { replicas: { a: granted(50) }, backingImages: { b: granted(20) } };
  const facts = { replicas: { a: 50 }, backingImages: { b: 20 } };
  const removed = decide({ ...facts, before, data: ['a'], disk: { ...unknown, isRemoved: true } });
  expect(removed).toEqual({
    replicas: { a: refused(50, 0, 'DiskRemoved') },
    backingImages: { b: refused(20, 0, 'DiskRemoved') },
    storageScheduled: 0,
    storageLimit: undefined,
  });
  const back = decide({ ...facts, before: removed, data: ['a'] });
  expect(back.replicas).toEqual({ a: { ...granted(50), reason: 'Adopted' } });
  expect(back.storageScheduled).toBe(70);
});

test('49. 4000 entries pass, whatever their order', () => {
  const entries = Array.from({ length: 4000 }, (_, at) => [`r${(at * 1777) % 4000}`, 10] as const);
  const after = decide({ replicas: Object.fromEntries(entries), disk: ready(30_005) });
  const states = Object.values(after.replicas).map(({ state }) => state);
  expect(states.filter((state) => state === 'scheduled')).toHaveLength(3000);
  expect([states.length, after.storageScheduled]).toEqual([4000, 30_000]);
});

// ── Any number of deciders ──

const names = ['a', 'b', 'c', 'd'];
const sizes = fc.dictionary(fc.constantFrom(...names), fc.integer({ min: 1, max: 60 }), {
  noNullPrototype: true,
});
const disks = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 150 }).map(ready) },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 0, max: 150 }).map((limit) => ({ ...ready(limit), closed }) as DiskState),
  },
  { weight: 1, arbitrary: fc.constant(unknown) },
);
const steps = fc.array(fc.record({ replicas: sizes, backingImages: sizes, disk: disks }), {
  minLength: 1,
  maxLength: 12,
});

function grants({
  replicas,
  backingImages,
}: Pick<DiskDecision, 'replicas' | 'backingImages'>): ReadonlyMap<string, number> {
  const all = [
    ...Object.entries(replicas),
    ...Object.entries(backingImages).map(([k, v]) => [`image ${k}`, v] as const),
  ];
  return new Map(all.map(([name, { scheduledSize = 0 }]) => [name, scheduledSize]));
}

test('the invariants hold after every pass of a random history', () => {
  fc.assert(
    fc.property(steps, (history) => {
      let before: DiskDecision = {
        replicas: {},
        backingImages: {},
        storageScheduled: 0,
        storageLimit: undefined,
      };
      for (const step of history) {
        const after = decide({ ...step, before });
        const asked = new Map([
          ...Object.entries(step.replicas),
          ...Object.entries(step.backingImages).map(([name, size]) => [`image ${name}`, size] as const),
        ]);
        const [had, has] = [grants(before), grants(after)];
        expect(after.storageScheduled).toBe([...has.values()].reduce((sum, size) => sum + size, 0));
        for (const [name, size] of has) {
          expect(asked.has(name)).toBe(true);
          expect(size).toBeGreaterThanOrEqual(Math.min(had.get(name) ?? 0, asked.get(name) ?? 0));
          if (size > (had.get(name) ?? 0))
            expect(after.storageScheduled).toBeLessThanOrEqual(after.storageLimit ?? -1);
        }
        if (step.disk.kind === 'ready')
          for (const [name, size] of asked) {
            const [kind, key] = name.startsWith('image ')
              ? (['backingImages', name.slice(6)] as const)
              : (['replicas', name] as const);
            const verdict = after[kind][key];
            expect(verdict?.observedSize).toBe(size);
            if (verdict?.state === 'scheduled') expect(verdict.scheduledSize).toBe(size);
            else expect(verdict?.scheduledSize).toBe(had.get(name) ?? 0);
          }
        expect(decide({ ...step, before: after })).toEqual(after);
        before = after;
      }
    }),
    { numRuns: 300 },
  );
});

/** Two deciders and three requesters on one object with a version: every interleaving of their reads and writes. */
test('25. two deciders, three requests: all interleavings, exhaustively', () => {
  const requests = { a: 60, b: 60, c: 30 };
  interface Moment {
    readonly version: number;
    readonly replicas: Sizes;
    readonly status: DiskDecision;
    readonly open: readonly string[];
    readonly reads: readonly (readonly [version: number, result: DiskDecision] | undefined)[];
    readonly passesLeft: readonly number[];
  }
  const empty = decide({});
  const seen = new Set<string>();
  let ends = 0;
  const walk = (moment: Moment): void => {
    const key = JSON.stringify(moment);
    if (seen.has(key)) return;
    seen.add(key);
    expect(moment.status.storageScheduled).toBeLessThanOrEqual(100);
    const next: Moment[] = moment.open.map((name) => ({
      ...moment,
      version: moment.version + 1,
      replicas: { ...moment.replicas, [name]: requests[name as keyof typeof requests] },
      open: moment.open.filter((other) => other !== name),
    }));
    for (const [at, read] of moment.reads.entries()) {
      const left = moment.passesLeft[at] ?? 0;
      if (read === undefined && left > 0)
        next.push({
          ...moment,
          reads: moment.reads.with(at, [
            moment.version,
            decide({ replicas: moment.replicas, before: moment.status }),
          ]),
          passesLeft: moment.passesLeft.with(at, left - 1),
        });
      if (read !== undefined) {
        const isCurrent = read[0] === moment.version;
        const written = isCurrent ? { version: moment.version + 1, status: read[1] } : {};
        next.push({ ...moment, ...written, reads: moment.reads.with(at, undefined) });
      }
    }
    for (const one of next) walk(one);
    if (next.length > 0) return;
    ends += 1;
    const last = decide({ replicas: moment.replicas, before: moment.status });
    expect(Object.keys(last.replicas).sort()).toEqual(['a', 'b', 'c']);
    expect(last.storageScheduled).toBe(90);
  };
  walk({
    version: 0,
    replicas: {},
    status: empty,
    open: Object.keys(requests),
    reads: [undefined, undefined],
    passesLeft: [2, 2],
  });
  expect(ends).toBeGreaterThan(1);
  expect(seen.size).toBeGreaterThan(500);
});
