import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../runtime/random.ts';
import { chooseDrive } from './choose-drive.ts';
import { freeOnDrives } from './drive-capacity.ts';
import { DriveIndex } from './drive-index.ts';
import { type DriveRecord, readDrive } from './drive-record.ts';
import { driveRefusalText } from './drive-refusal.ts';
import type { DriveRequirements } from './drive-requirements.ts';
import { equalDrives, freeOf } from './testing/choice-oracle.ts';
import { randomFleet, randomRequirements } from './testing/random-fleet.ts';

const gib = 2 ** 30;

function driveOf(
  name: string,
  capacityBytes: number,
  { node = 'n1', tier = 'Default', state = 'Ready', labels = {}, group = '', unschedulable = false } = {},
): DriveRecord {
  const volumes = group === '' ? [] : [{ name: `${name}-v`, sizeBytes: 1, spreadGroup: group }];
  return readDrive({
    metadata: { name, uid: name, resourceVersion: '1', labels },
    spec: { nodeName: node, accessTier: tier, volumes, unschedulable },
    status: { capacityBytes, state },
  });
}

function indexOf(records: readonly DriveRecord[]): DriveIndex {
  const index = new DriveIndex();
  for (const record of records) index.set(record);
  return index;
}

const anywhere: DriveRequirements = { bytes: 1, labels: {}, preferred: [], requisite: [] };
const onNode = (name: string) => ({ 'stowage.dev/node': name });

function chosenBy(records: readonly DriveRecord[], requirements: Partial<DriveRequirements>): string {
  const choice = chooseDrive(indexOf(records), { ...anywhere, ...requirements }, seededRandom(1));
  return choice.kind === 'drive' ? choice.drive.name : driveRefusalText(choice);
}

describe('the choice of a drive', () => {
  test('agrees with the oracle on random fleets', () => {
    fc.assert(
      fc.property(randomFleet, randomRequirements, fc.integer(), (fleet, requirements, seed) => {
        const choice = chooseDrive(indexOf(fleet), requirements, seededRandom(seed));
        const expected = equalDrives(fleet, requirements);
        if (choice.kind === 'drive') expect(expected).toContain(choice.drive.name);
        else expect(expected).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });

  test('agrees with the oracle after drives have changed and gone, and holds have ended', () => {
    fc.assert(
      fc.property(randomFleet, randomFleet, randomRequirements, (before, after, requirements) => {
        const index = indexOf(before);
        for (const { name } of before) index.hold(name, 'held', { bytes: 3, spreadGroup: 'default/db' });
        for (const record of after) index.set(record);
        for (const { name } of before) index.release(name, 'held');
        for (const { name } of before) if (!after.some((one) => one.name === name)) index.delete(name);
        const choice = chooseDrive(index, requirements, seededRandom(1));
        const expected = equalDrives(after, requirements);
        expect(choice.kind === 'drive' ? expected : expected.length).toEqual(
          choice.kind === 'drive' ? expect.arrayContaining([choice.drive.name]) : 0,
        );
      }),
      { numRuns: 500 },
    );
  });

  test('takes each of equal drives as often: chi-square on a fixed seed', () => {
    // Two terms share the drives of n2, and every second drive has another label: neither may change the odds.
    const fleet = Array.from({ length: 40 }, (_, at) =>
      driveOf(`d${at}`, 10, { node: `n${at % 4}`, labels: { half: String(Math.floor(at / 4) % 2) } }),
    );
    const requirements = {
      ...anywhere,
      labels: { half: '0' },
      requisite: [onNode('n1'), onNode('n2'), onNode('n2'), { 'stowage.dev/node': 'n3' }],
    };
    const index = indexOf(fleet);
    const random = seededRandom('ties');
    const counts = new Map(equalDrives(fleet, requirements).map((name) => [name, 0]));
    expect(counts.size).toBe(15);
    const draws = 15_000;
    for (let draw = 0; draw < draws; draw += 1) {
      const choice = chooseDrive(index, requirements, random);
      if (choice.kind !== 'drive') throw new Error(driveRefusalText(choice));
      counts.set(choice.drive.name, (counts.get(choice.drive.name) ?? 0) + 1);
    }
    const expected = draws / counts.size;
    const chiSquare = [...counts.values()].reduce(
      (sum, count) => sum + (count - expected) ** 2 / expected,
      0,
    );
    // 14 degrees of freedom: a fair choice is above 36.1 once in a thousand seeds.
    expect(chiSquare).toBeLessThan(36.1);
  });

  test('needs one draw among 10,000 equal drives, and looks at no more of them', () => {
    const index = indexOf(Array.from({ length: 10_000 }, (_, at) => driveOf(`d${at}`, 10)));
    let draws = 0;
    const random = { int: (max: number) => Math.floor((draws++ / 10) * max) };
    expect(chooseDrive(index, { ...anywhere, tier: 'Default' }, random).kind).toBe('drive');
    expect(draws).toBe(1);
  });

  test('tries preferred terms in order before the requisite ones', () => {
    const fleet = [
      driveOf('small', 5, { node: 'n1' }),
      driveOf('middle', 7, { node: 'n2' }),
      driveOf('large', 9, { node: 'n3' }),
    ];
    const requisite = [onNode('n1'), onNode('n2'), onNode('n3')];
    expect(chosenBy(fleet, { requisite })).toBe('large');
    const preferred = [onNode('n1'), onNode('n2')];
    expect(chosenBy(fleet, { requisite, preferred, bytes: 5 })).toBe('small');
    expect(chosenBy(fleet, { requisite, preferred, bytes: 6 })).toBe('middle');
    expect(chosenBy(fleet, { requisite, preferred, bytes: 8 })).toBe('large');
    expect(chosenBy(fleet, { preferred, bytes: 8 })).toMatch(
      /^no drive in .* takes a volume of 8: drive middle/,
    );
  });

  test('keeps a drive that was chosen before while the volume fits on it', () => {
    const fleet = [driveOf('chosen', 5), driveOf('free', 9)];
    expect(chosenBy(fleet, { chosenDrive: 'chosen', bytes: 5 })).toBe('chosen');
    expect(chosenBy(fleet, { chosenDrive: 'chosen', bytes: 6 })).toBe('free');
    expect(chosenBy(fleet, { chosenDrive: 'gone' })).toBe('free');
    expect(chosenBy(fleet, { chosenDrive: 'chosen', requisite: [onNode('n2')] })).toMatch(/^no drive/);
  });

  test('counts bytes that are held for an entry until the ledger has it', () => {
    const index = indexOf([driveOf('d', 10)]);
    index.hold('d', 'v', { bytes: 6 });
    expect(index.get('d')?.freeBytes).toBe(4);
    index.set({ ...driveOf('d', 10), volumes: [{ name: 'v', sizeBytes: 6 }] });
    expect(index.get('d')?.freeBytes).toBe(4);
    index.release('d', 'v');
    expect(index.get('d')?.freeBytes).toBe(4);
    expect(index.drivesOf('v')).toEqual(['d']);
  });
});

describe('a refusal', () => {
  test.each([
    ['no drives', [], {}, 'there are no drives; register one as a Drive object'],
    [
      'the closest drives and the missing bytes',
      [driveOf('n1-b7f6', 40 * gib), driveOf('n1-c', 10 * gib)],
      { bytes: 50 * gib },
      'no drive takes a volume of 50Gi: drive n1-b7f6: 40Gi free, 50Gi asked, 10Gi missing; drive n1-c: 10Gi free, 50Gi asked, 40Gi missing',
    ],
    [
      'what was asked, if no drive matches',
      [driveOf('a', 9)],
      { tier: 'Hot', labels: { rack: 'r1' }, requisite: [onNode('n2')] },
      'no drive of access tier Hot with labels rack=r1 in stowage.dev/node=n2 takes a volume of 1: of 1 drives none matches',
    ],
    [
      'drives that have the bytes and take no volumes',
      [
        driveOf('cordoned', 9, { unschedulable: true }),
        driveOf('gone', 8, { state: 'Lost' }),
        driveOf('broken', 7, { state: 'Error' }),
      ],
      {},
      'no drive takes a volume of 1: drive cordoned is cordoned; drive gone is lost: no device has its filesystem; drive broken has errors',
    ],
    [
      'drives that have a volume of the same group',
      [driveOf('a', 9, { group: 'default/db' })],
      { spreadGroup: 'default/db' },
      'no drive takes a volume of 1: drive a has a volume of default/db already',
    ],
  ] as const)('names %s', (_, fleet, requirements, text) => {
    expect(chosenBy(fleet as readonly DriveRecord[], requirements)).toBe(text);
  });
});

describe('the free bytes of drives', () => {
  test('are the sum, and the largest drive, of those that match', () => {
    fc.assert(
      fc.property(randomFleet, randomRequirements, (fleet, requirements) => {
        const term = requirements.requisite[0] ?? {};
        const one = { ...requirements, bytes: 1, spreadGroup: undefined, growthReservePercent: 0 };
        const matching = fleet.filter(
          (drive) => equalDrives([drive], { ...one, preferred: [], requisite: [term] }).length > 0,
        );
        const free = matching.map(freeOf);
        expect(freeOnDrives(indexOf(fleet), requirements, term)).toEqual({
          freeBytes: BigInt(free.reduce((sum, bytes) => sum + bytes, 0)),
          largestBytes: Math.max(0, ...free),
        });
      }),
      { numRuns: 500 },
    );
  });
});
