import * as fc from 'fast-check';
import type { Drive, DriveVolume } from '../../../kube/stowage/drive.ts';
import { type DriveRecord, readDrive } from '../drive-record.ts';
import type { DriveRequirements } from '../drive-requirements.ts';

/* Small numbers everywhere, so that ties, full drives and shared groups are common. */

const tier = fc.constantFrom('Default', 'Hot', 'Cold');
const node = fc.constantFrom('n1', 'n2', 'n3');
const zone = fc.constantFrom('a', 'b');
const rack = fc.constantFrom('r1', 'r2');
const group = fc.option(fc.constantFrom('default/db', 'default/web'), { nil: undefined });

const volume = fc.record({ sizeBytes: fc.integer({ min: 1, max: 4 }), group });

const drive = fc
  .record({
    node,
    zone: fc.option(zone, { nil: undefined }),
    rack: fc.option(rack, { nil: undefined }),
    tier,
    capacityBytes: fc.integer({ min: 0, max: 12 }),
    volumes: fc.array(volume, { maxLength: 3 }),
    state: fc.constantFrom('Ready', 'Ready', 'Ready', 'Ready', 'Lost', 'Error', undefined),
    unschedulable: fc.constantFrom(false, false, false, true),
  })
  .map(({ node: nodeName, zone, rack, tier: accessTier, capacityBytes, volumes, state, unschedulable }) => ({
    metadata: { labels: rack === undefined ? {} : { rack } },
    spec: {
      nodeName,
      accessTier,
      unschedulable,
      volumes: volumes.map(
        ({ sizeBytes, group }, at): DriveVolume => ({
          name: `v${at}`,
          sizeBytes,
          ...(group !== undefined && { spreadGroup: group }),
        }),
      ),
    },
    status: {
      capacityBytes,
      ...(zone !== undefined && { topology: { zone } }),
      ...(state !== undefined && { state }),
    },
  }));

/** A fleet of up to twelve drives, with names d0, d1 and so on. */
export const randomDrives: fc.Arbitrary<readonly Drive[]> = fc
  .array(drive, { maxLength: 12 })
  .map((drives) => drives.map(named));

export const randomFleet: fc.Arbitrary<readonly DriveRecord[]> = randomDrives.map((drives) =>
  drives.map(readDrive),
);

function named(drive: Drive, at: number): Drive {
  return { ...drive, metadata: { ...drive.metadata, name: `d${at}`, uid: `u${at}`, resourceVersion: '1' } };
}

const term = fc.oneof(
  node.map((name) => ({ 'stowage.dev/node': name })),
  zone.map((name) => ({ zone: name })),
  fc.record({ 'stowage.dev/node': node, zone }),
);

export const randomRequirements: fc.Arbitrary<DriveRequirements> = fc.record({
  bytes: fc.integer({ min: 1, max: 8 }),
  tier: fc.option(tier, { nil: undefined }),
  labels: fc.oneof(
    fc.constant({}),
    fc.constant({}),
    rack.map((name) => ({ rack: name })),
  ),
  preferred: fc.array(term, { maxLength: 2 }),
  requisite: fc.array(term, { maxLength: 3 }),
  spreadGroup: group,
  growthReservePercent: fc.constantFrom(undefined, 0, 20, 50),
  chosenDrive: fc.option(fc.constantFrom('d0', 'd1', 'd99'), { nil: undefined }),
});
