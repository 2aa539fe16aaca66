import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BackingImage } from '../../kube/stowage/backing-image.ts';
import { chooseDisk, type DiskCandidate, type DiskPlace } from './choose-disk.ts';
import { type DiskClass, readDiskClass } from './disk-class.ts';
import { withImageDemand } from './images/image-demand.ts';
import { replicaRoom } from './replica-room.ts';

function classOf(parameters: Readonly<Record<string, string>>): DiskClass {
  const read = readDiskClass(parameters);
  if (!read.ok) throw new Error(read.problem);
  return read.value;
}

interface TestDisk {
  readonly node: number;
  readonly limit: number;
  readonly used?: number;
  readonly tags?: readonly string[];
  readonly isClosed?: boolean;
}

function disksOf(disks: readonly TestDisk[], zoneOf: (node: number) => string = () => ''): DiskCandidate[] {
  return disks.map(({ node, limit, used = 0, tags = [], isClosed = false }, at) => ({
    uuid: `u${at}`,
    name: `d${at}`,
    nodeName: `n${node}`,
    zone: zoneOf(node),
    nodeTags: [],
    diskTags: tags,
    state: {
      kind: 'ready',
      limitBytes: limit,
      ...(isClosed && { closed: { reason: 'SchedulingDisabled' as const, message: 'closed' } }),
    },
    demandBytes: used,
    grantedBytes: used,
  }));
}

function roomFor(disks: readonly DiskCandidate[], parameters: Readonly<Record<string, string>>) {
  const { largestBytes, totalBytes } = replicaRoom(disks, classOf(parameters));
  return [Number(largestBytes), Number(totalBytes)];
}

describe('room for volumes of a class', () => {
  const three = disksOf([
    { node: 1, limit: 100 },
    { node: 2, limit: 60 },
    { node: 3, limit: 30 },
  ]);

  test('with one replica, it is the largest disk, and the sum', () => {
    expect(roomFor(three, { numberOfReplicas: '1' })).toEqual([100, 190]);
  });

  test('with two replicas, the second largest node decides', () => {
    expect(roomFor(three, { numberOfReplicas: '2' })).toEqual([60, 90]);
  });

  test('with as many replicas as nodes, it is the smallest node', () => {
    expect(roomFor(three, { numberOfReplicas: '3' })).toEqual([30, 30]);
    expect(roomFor(three, { numberOfReplicas: '4' })).toEqual([0, 0]);
  });

  test('two disks of one node hold no two replicas of a volume, unless the class allows it', () => {
    const disks = disksOf([
      { node: 1, limit: 100 },
      { node: 1, limit: 100 },
    ]);
    expect(roomFor(disks, { numberOfReplicas: '2' })).toEqual([0, 0]);
    expect(
      roomFor(disks, { numberOfReplicas: '2', antiAffinityNode: 'soft', antiAffinityDisk: 'hard' }),
    ).toEqual([100, 100]);
    expect(roomFor(disks, { numberOfReplicas: '3', antiAffinityNode: 'soft' })).toEqual([50, 66]);
  });

  test('hard zones', () => {
    const zones = disksOf(
      [
        { node: 1, limit: 100 },
        { node: 2, limit: 80 },
        { node: 3, limit: 60 },
      ],
      (node) => (node < 3 ? 'a' : 'b'),
    );
    expect(roomFor(zones, { numberOfReplicas: '2', antiAffinityZone: 'hard' })).toEqual([60, 60]);
    expect(roomFor(zones, { numberOfReplicas: '2' })).toEqual([80, 120]);
  });

  test('tags, closed disks, and bytes that are requested count', () => {
    const disks = disksOf([
      { node: 1, limit: 100, tags: ['ssd'], used: 30 },
      { node: 2, limit: 100, tags: ['ssd', 'fast'] },
      { node: 3, limit: 100, tags: ['ssd'], isClosed: true },
      { node: 4, limit: 100 },
    ]);
    const parameters = { numberOfReplicas: '2', diskSelector: 'ssd' };
    expect(roomFor(disks, parameters)).toEqual([70, 70]);
    // A closed disk is one that the class uses: it may be opened again.
    expect(replicaRoom(disks, classOf(parameters)).disks).toEqual(['u0', 'u1', 'u2']);
  });

  test('a disk without a copy of the image has less room, and none while the size of the image is unknown', () => {
    const schedules = new Map([['u0', { spec: { backingImages: { i: 20 } } }]]);
    const roomWith = (image: BackingImage) =>
      roomFor(withImageDemand(image, three, schedules), { numberOfReplicas: '2' });
    expect(roomWith({ metadata: { name: 'i' }, spec: { expectedSize: 20 } })).toEqual([40, 50]);
    expect(roomWith({ metadata: { name: 'i' } })).toEqual([0, 0]);
  });

  test('sums beyond 2^53 are exact', () => {
    const limit = Number.MAX_SAFE_INTEGER;
    const disks = disksOf([0, 1, 2].map((node) => ({ node, limit })));
    expect(replicaRoom(disks, classOf({ numberOfReplicas: '1' })).totalBytes).toBe(3n * BigInt(limit));
  });
});

/** Places the replicas of one volume as the controller does; undefined if one of them finds no disk. */
function place(disks: readonly DiskCandidate[], diskClass: DiskClass, bytes: number) {
  const places: DiskPlace[] = [];
  let left = [...disks];
  for (let replica = 0; replica < diskClass.numberOfReplicas; replica += 1) {
    const choice = chooseDisk(left, { ...diskClass, bytes, others: places, rejectedBy: new Set() });
    if (choice.kind === 'refused') return undefined;
    const { uuid } = choice.disk;
    places.push(choice.disk);
    left = left.map((disk) =>
      disk.uuid === uuid ? { ...disk, demandBytes: disk.demandBytes + bytes } : disk,
    );
  }
  return left;
}

/** The most volumes of one byte, by trying every placement of every volume. */
function mostVolumes(
  rooms: readonly number[],
  groupOf: (disk: number) => string | undefined,
  replicas: number,
) {
  const known = new Map<string, number>();
  const most = (left: readonly number[]): number => {
    const key = left.join();
    const before = known.get(key);
    if (before !== undefined) return before;
    const next = placements(left, groupOf, replicas);
    const found = next.length === 0 ? 0 : 1 + Math.max(...next.map((rest) => most(rest)));
    known.set(key, found);
    return found;
  };
  return most(rooms);
}

/** Every way to place one volume of one byte. */
function placements(
  left: readonly number[],
  groupOf: (disk: number) => string | undefined,
  replicas: number,
  from = 0,
  used: readonly string[] = [],
): readonly (readonly number[])[] {
  if (replicas === 0) return [left];
  return left.flatMap((room, disk) => {
    const group = groupOf(disk);
    if (disk < from || room === 0 || (group !== undefined && used.includes(group))) return [];
    const rest = left.with(disk, room - 1);
    return placements(rest, groupOf, replicas - 1, disk, group === undefined ? used : [...used, group]);
  });
}

const softness = fc.constantFrom('hard', 'soft');
const parameters = fc.record({
  numberOfReplicas: fc.integer({ min: 1, max: 3 }).map(String),
  antiAffinityNode: softness,
  antiAffinityZone: softness,
  antiAffinityDisk: softness,
});

function clusterOf(limitMax: number, disksMax: number) {
  const disk = fc.record({
    node: fc.integer({ min: 0, max: 2 }),
    limit: fc.integer({ min: 0, max: limitMax }),
    isClosed: fc.integer({ min: 0, max: 9 }).map((dice) => dice === 0),
  });
  const zones = fc.array(fc.constantFrom('', 'a', 'b'), { minLength: 3, maxLength: 3 });
  return fc
    .tuple(fc.array(disk, { maxLength: disksMax }), zones)
    .map(([disks, zone]) => disksOf(disks, (node) => zone[node] ?? ''));
}

test('the largest volume is the largest one whose replicas the controller can place', () => {
  fc.assert(
    fc.property(clusterOf(40, 6), parameters, (disks, given) => {
      const diskClass = classOf(given);
      const largest = Number(replicaRoom(disks, diskClass).largestBytes);
      const fitting = Array.from({ length: 41 }, (_, at) => at + 1).filter(
        (bytes) => place(disks, diskClass, bytes) !== undefined,
      );
      expect(largest).toBe(Math.max(0, ...fitting));
    }),
    { numRuns: 500 },
  );
});

test('the total is the number of volumes of one byte that fit, however they are placed', () => {
  fc.assert(
    fc.property(clusterOf(4, 4), parameters, (disks, given) => {
      const diskClass = classOf(given);
      const { antiAffinity, numberOfReplicas } = diskClass;
      const group = (at: number) => {
        const { zone, nodeName, uuid } = disks[at]!;
        if (antiAffinity.zone === 'hard' && zone !== '') return zone;
        if (antiAffinity.node === 'hard') return nodeName;
        return antiAffinity.disk === 'hard' ? uuid : undefined;
      };
      const rooms = disks.map(({ state }) =>
        state.kind === 'ready' && state.closed === undefined ? state.limitBytes : 0,
      );
      const { totalBytes } = replicaRoom(disks, diskClass);
      expect(Number(totalBytes)).toBe(mostVolumes(rooms, group, numberOfReplicas));
    }),
    { numRuns: 300 },
  );
});

test('volumes that are no larger than the largest one together always fit, in any order', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(clusterOf(60, 6), parameters, sizes, (disks, given, wanted) => {
      const diskClass = classOf(given);
      const largest = Number(replicaRoom(disks, diskClass).largestBytes);
      let left: readonly DiskCandidate[] | undefined = disks;
      let sum = 0;
      for (const bytes of wanted) {
        sum += bytes;
        if (sum > largest) return;
        left = place(left, diskClass, bytes);
        expect(left).toBeDefined();
        if (left === undefined) return;
      }
    }),
    { numRuns: 500 },
  );
});
