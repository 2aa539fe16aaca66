import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bytesOf } from '../../kube/quantities/bytes.ts';
import { type DriftRecord, formatDriftRecord, parseDriftRecord } from '../../kube/stowage/drift-record.ts';
import { driftOf, type MeasuredPool } from './drift-of.ts';

interface Step {
  readonly free: string;
  readonly ours: string;
  readonly others?: string;
  readonly unsure?: string;
  readonly foreign?: string;
  readonly leaked?: string;
  readonly lost?: string;
  /** The list is older than the capacity report, or does not tell sizes. */
  readonly isIncomplete?: boolean;
}

const start = Date.parse('2026-01-01T00:00:00Z');
const gib = 1024n ** 3n;

function measured(step: Step, minute: number): MeasuredPool {
  const { free, ours, others = '0', unsure = '0', foreign, leaked = '0', lost = '0' } = step;
  const found = (id: string, size: string) => (size === '0' ? [] : [{ id, bytes: bytesOf(size) }]);
  return {
    measuredAtMs: start + minute * 60_000,
    freeBytes: bytesOf(free),
    volumes: {
      oursBytes: bytesOf(ours),
      otherClassesBytes: bytesOf(others),
      unsureBytes: bytesOf(unsure),
      count: 1,
    },
    listed:
      foreign === undefined
        ? undefined
        : {
            foreign: found('theirs', foreign),
            leaked: found('pvc-1', leaked),
            lost: found('pv-1', lost),
            isComplete: step.isIncomplete !== true,
          },
  };
}

/** One report a minute. The record goes through its text, as between two processes. */
function after(...steps: readonly Step[]): DriftRecord | undefined {
  let record: DriftRecord | undefined;
  for (const [minute, step] of steps.entries()) {
    record = driftOf(record, measured(step, minute));
    if (record !== undefined) record = parseDriftRecord(formatDriftRecord(record));
  }
  return record;
}

const smaller = (a: bigint, b: bigint) => (a < b ? a : b);
const minute = (count: number) => new Date(start + count * 60_000).toISOString();
const quiet = { free: '80Gi', ours: '20Gi' };

describe('the drift of a pool', () => {
  const cases: readonly (readonly [string, readonly Step[], object | undefined])[] = [
    ['is none at the first report', [quiet], { kind: 'none', difference: '0' }],
    [
      'is none while volumes explain the reports',
      [quiet, { free: '70Gi', ours: '30Gi' }, { free: '95Gi', ours: '5Gi' }],
      { kind: 'none' },
    ],
    ['has no baseline while a volume is being created', [{ ...quiet, unsure: '5Gi' }], undefined],
    [
      'is foreign use if less is free than expected, since the first such report',
      [quiet, { free: '70Gi', ours: '20Gi' }, { free: '65Gi', ours: '25Gi' }],
      { kind: 'foreign-use', difference: '-10Gi', since: minute(1) },
    ],
    [
      'is a leak if the bytes of a deleted volume do not come back',
      [quiet, { free: '80Gi', ours: '10Gi' }, { free: '75Gi', ours: '15Gi' }],
      { kind: 'leak', difference: '-10Gi', since: minute(1) },
    ],
    [
      'is not a leak if more is missing than was deleted',
      [quiet, { free: '50Gi', ours: '19Gi' }],
      { kind: 'foreign-use', difference: '-31Gi' },
    ],
    [
      'is a shrunk pool if the driver lists no volume of others',
      [
        { ...quiet, foreign: '0' },
        { free: '60Gi', ours: '20Gi', foreign: '0' },
      ],
      { kind: 'shrunk', difference: '-20Gi', listed: { shrunk: '20Gi' }, since: minute(1) },
    ],
    [
      'is foreign use if the driver lists volumes of others',
      [
        { ...quiet, foreign: '0' },
        { free: '60Gi', ours: '20Gi', foreign: '20Gi' },
      ],
      {
        kind: 'foreign-use',
        difference: '-20Gi',
        listed: {
          foreign: { count: 1, storage: '20Gi', volumes: [{ id: 'theirs', storage: '20Gi' }] },
          shrunk: '0',
        },
      },
    ],
    [
      'is divided: what listed volumes do not explain has shrunk',
      [
        { ...quiet, foreign: '5Gi' },
        { free: '40Gi', ours: '20Gi', foreign: '15Gi', leaked: '5Gi' },
      ],
      { kind: 'shrunk', difference: '-40Gi', listed: { shrunk: '25Gi', leaked: { storage: '5Gi' } } },
    ],
    [
      'accepts foreign volumes that were there at the baseline',
      [
        { ...quiet, foreign: '30Gi' },
        { free: '70Gi', ours: '30Gi', foreign: '30Gi' },
      ],
      { kind: 'none', listed: { foreign: { storage: '30Gi' } } },
    ],
    [
      'accepts them also if the first list comes after the baseline',
      [quiet, { ...quiet, foreign: '30Gi' }, { free: '60Gi', ours: '20Gi', foreign: '30Gi' }],
      { kind: 'shrunk', listed: { shrunk: '20Gi' } },
    ],
    [
      'is not a shrunk pool while the list is incomplete',
      [
        { ...quiet, foreign: '0' },
        { free: '60Gi', ours: '20Gi', foreign: '0', isIncomplete: true },
      ],
      { kind: 'foreign-use', listed: { shrunk: '0' } },
    ],
    [
      'stays a shrunk pool while a later list is incomplete',
      [
        { ...quiet, foreign: '0' },
        { free: '60Gi', ours: '20Gi', foreign: '0' },
        { free: '50Gi', ours: '30Gi', foreign: '0', isIncomplete: true },
      ],
      { kind: 'shrunk', listed: { shrunk: '20Gi' }, since: minute(1) },
    ],
    [
      'is a leak if the list says so, even if the report does not fall',
      [
        { ...quiet, foreign: '0' },
        { ...quiet, foreign: '0', leaked: '10Gi' },
      ],
      { kind: 'leak', difference: '0', since: minute(1) },
    ],
    [
      'is a leak if the largest part is leaked',
      [
        { ...quiet, foreign: '0' },
        { free: '60Gi', ours: '20Gi', foreign: '4Gi', leaked: '16Gi' },
      ],
      { kind: 'leak', difference: '-20Gi', listed: { shrunk: '0' } },
    ],
    [
      'is a lost volume if the driver does not list a volume of ours',
      [
        { ...quiet, foreign: '0' },
        { free: '90Gi', ours: '20Gi', foreign: '0', lost: '10Gi' },
      ],
      { kind: 'lost', difference: '10Gi', listed: { lost: { volumes: [{ id: 'pv-1' }] }, shrunk: '0' } },
    ],
    [
      'of a disk that is gone is lost volumes and a shrunk pool',
      [
        { ...quiet, foreign: '0' },
        { free: '40Gi', ours: '20Gi', foreign: '0', lost: '10Gi' },
      ],
      { kind: 'lost', difference: '-40Gi', listed: { shrunk: '50Gi' } },
    ],
    [
      'keeps what the last list said while there is no new one',
      [
        { ...quiet, foreign: '0' },
        { free: '60Gi', ours: '20Gi', foreign: '20Gi' },
        { free: '60Gi', ours: '20Gi' },
      ],
      { kind: 'foreign-use', listed: { foreign: { storage: '20Gi' }, shrunk: '0' } },
    ],
    [
      'is a grown pool if more is free than expected',
      [quiet, { free: '180Gi', ours: '20Gi' }],
      { kind: 'grown', difference: '100Gi', since: minute(1) },
    ],
    [
      'starts again if the sign changes',
      [quiet, { free: '70Gi', ours: '20Gi' }, { free: '90Gi', ours: '20Gi' }],
      { kind: 'grown', difference: '10Gi', since: minute(2) },
    ],
    [
      'ends when the report is explained again',
      [quiet, { free: '70Gi', ours: '20Gi' }, quiet],
      { kind: 'none', difference: '0' },
    ],
    [
      'is none while a volume in flight may be in the report or not',
      [quiet, { free: '70Gi', ours: '20Gi', unsure: '10Gi' }, { free: '70Gi', ours: '30Gi' }],
      { kind: 'none' },
    ],
    [
      'is kept while a volume in flight may hide it',
      [quiet, { free: '70Gi', ours: '20Gi' }, { free: '70Gi', ours: '20Gi', unsure: '10Gi' }],
      { kind: 'foreign-use', since: minute(1) },
    ],
    [
      'is seen beside volumes in flight if they cannot explain it',
      [quiet, { free: '50Gi', ours: '20Gi', unsure: '10Gi' }],
      { kind: 'foreign-use', difference: '-20Gi' },
    ],
    [
      'is none if another class uses the same disks',
      [quiet, { free: '70Gi', ours: '20Gi', others: '10Gi' }],
      { kind: 'none' },
    ],
    [
      'is none if another class uses other disks',
      [quiet, { free: '80Gi', ours: '20Gi', others: '10Gi' }],
      { kind: 'none' },
    ],
    [
      'is none for the extents that a driver rounds up to',
      [quiet, { free: '74700Mi', ours: '27Gi' }],
      { kind: 'none' },
    ],
    [
      'stays a leak if a little more is missing later',
      [quiet, { free: '80Gi', ours: '10Gi' }, { free: '78Gi', ours: '10Gi' }],
      { kind: 'leak', difference: '-12Gi', since: minute(1) },
    ],
    [
      'becomes foreign use if far more is missing later',
      [quiet, { free: '80Gi', ours: '10Gi' }, { free: '40Gi', ours: '10Gi' }],
      { kind: 'foreign-use', difference: '-50Gi', since: minute(1) },
    ],
  ];
  test.each(cases)('%s', (_, steps, expected) => {
    const record = after(...steps);
    if (expected === undefined) expect(record).toBeUndefined();
    else expect(record).toMatchObject(expected);
    expect(record?.since === undefined).toBe(record === undefined || record.kind === 'none');
  });

  test('equals what an oracle took behind our back, for any history', () => {
    const size = fc.bigInt({ min: 1n, max: 50n }).map((count) => count * gib);
    const action = fc.record({
      what: fc.constantFrom('create', 'delete', 'take', 'give'),
      size,
      isUnsure: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(action, { maxLength: 30 }), (actions) => {
        let [ours, taken] = [0n, 0n];
        const total = 10_000n * gib;
        const report = (at: number, unsureBytes: bigint): MeasuredPool => ({
          measuredAtMs: start + at * 1000,
          freeBytes: total - ours - taken,
          volumes: { oursBytes: ours - unsureBytes, otherClassesBytes: 0n, unsureBytes, count: 0 },
        });
        let record = driftOf(undefined, report(0, 0n));
        for (const [at, { what, size, isUnsure }] of actions.entries()) {
          if (what === 'create') ours += size;
          if (what === 'delete') ours -= smaller(size, ours);
          if (what === 'take') taken += size;
          if (what === 'give') taken -= smaller(size, taken);
          // A volume of ours that is in the report, and of which the publisher does not know it.
          record = driftOf(record, report(at + 1, isUnsure && what === 'create' ? size : 0n));
        }
        record = driftOf(record, report(actions.length + 1, 0n));
        const tolerated = taken <= total / 1000n + 4n * 1024n ** 2n;
        expect(bytesOf(record!.difference)).toBe(tolerated ? 0n : -taken);
        expect(driftOf(record, report(actions.length + 1, 0n))).toEqual(record);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a record that a person has edited', () => {
  test.each(['', '{}', '[]', 'null', '{"baseline":{}}'])('%j is not a record', (text) => {
    expect(parseDriftRecord(text)).toBeUndefined();
  });

  test('is not a record with a wrong kind, amount or time', () => {
    const record = after(quiet, { free: '70Gi', ours: '20Gi' })!;
    expect(parseDriftRecord(record)).toEqual(record);
    for (const wrong of [
      { kind: 'x' },
      { difference: 'ten' },
      { since: 'now' },
      { since: undefined },
      { last: { ...record.last, free: 7 } },
      { last: { ...record.last, foreign: 7 } },
      { listed: {} },
    ])
      expect(parseDriftRecord({ ...record, ...wrong })).toBeUndefined();
  });
});
