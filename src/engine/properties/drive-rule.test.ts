import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Drive, driveNodeKey, drivesDriver } from '../../kube/stowage/drive.ts';
import { annotations } from '../../kube/well-known.ts';
import { seededRandom } from '../../runtime/random.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { drivePoolKey } from '../cluster-index/pools/drive-pool.ts';
import { chooseDrive, fitsOn } from '../drives/choose-drive.ts';
import { DriveIndex } from '../drives/drive-index.ts';
import { readDrive } from '../drives/drive-record.ts';
import type { DriveRequirements } from '../drives/drive-requirements.ts';
import { randomDrives, randomRequirements } from '../drives/testing/random-fleet.ts';
import { sizeOfBytes } from '../size.ts';
import { clusterOf } from '../testing/cluster.ts';
import { claim, csiClass, csiDriver, driveNode, pod } from '../testing/objects.ts';
import { plan } from '../testing/whole-engine.ts';

const nodeName = 'n1';

/** One new volume for a node, beside at most one volume in flight. */
interface Scenario {
  readonly drives: readonly Drive[];
  readonly requirements: DriveRequirements;
  readonly inFlight: { readonly drive: string; readonly bytes: number; readonly spreadGroup?: string };
}

const scenario: fc.Arbitrary<Scenario> = fc
  .record({
    drives: randomDrives,
    filesystems: fc.array(fc.constantFrom('f1', 'f2', undefined, undefined), { maxLength: 12 }),
    requirements: randomRequirements,
    inFlight: fc.record({
      drive: fc.constantFrom('d0', 'd1', 'd2'),
      bytes: fc.integer({ min: 1, max: 4 }),
      spreadGroup: fc.constantFrom('default/db', 'default/web'),
    }),
  })
  .map(({ drives, filesystems, requirements, inFlight }) => ({
    drives: drives.map((drive, at) => withFilesystem(drive, filesystems[at])),
    requirements: {
      ...requirements,
      preferred: [],
      requisite: [{ [driveNodeKey]: nodeName }],
      chosenDrive: undefined,
    },
    inFlight,
  }));

function withFilesystem(drive: Drive, filesystemUUID: string | undefined): Drive {
  const spec = { nodeName, ...drive.spec };
  return { ...drive, spec: filesystemUUID === undefined ? spec : { ...spec, filesystemUUID } };
}

type Choose = typeof chooseDrive;

/** The scheduler's drive and the driver's drive, if one of them refuses the volume or their drives are not equally good. */
function disagreement(scenario: Scenario, choose: Choose = chooseDrive): string | undefined {
  const { requirements } = scenario;
  const index = driverIndexOf(scenario);
  const choice = choose(index, requirements, seededRandom(1));
  const chosen = choice.kind === 'drive' ? choice.drive : undefined;
  const planned = index.get(plannedDrive(scenario) ?? '');
  const isSame =
    planned === undefined || chosen === undefined
      ? planned === chosen
      : planned.freeBytes === chosen.freeBytes && fitsOn(planned, requirements);
  return isSame ? undefined : `scheduler: ${planned?.name}, driver: ${chosen?.name}`;
}

function driverIndexOf({ drives, inFlight }: Scenario): DriveIndex {
  const index = new DriveIndex((name) => name === nodeName);
  for (const drive of drives) index.set(readDrive(drive));
  index.hold(inFlight.drive, 'in-flight', inFlight);
  return index;
}

function plannedDrive(scenario: Scenario): string | undefined {
  const index = schedulerIndexOf(scenario);
  const { drive, bytes, spreadGroup } = scenario.inFlight;
  if (index.pools.row(drivePoolKey(drive)) !== undefined)
    index.pools.addPromise(drivePoolKey(drive), 'in-flight', sizeOfBytes(bytes), spreadGroup);
  const answer = plan(pod('p', ['c']), index, { nowMs: 0 });
  return answer.kind === 'placement' ? answer.provisions[0]?.pool?.name : undefined;
}

function schedulerIndexOf({ drives, requirements }: Scenario): ClusterIndex {
  const { bytes, tier, labels, spreadGroup, growthReservePercent } = requirements;
  const labelPairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const parameters = {
    ...(tier !== undefined && { accessTier: tier }),
    driveLabels: labelPairs.join(','),
    ...(spreadGroup !== undefined && { spreadBy: 'claim-owner' }),
  };
  const owner = spreadGroup?.slice('default/'.length);
  const asking = claim('c', String(bytes), {
    className: 'local',
    metadata: {
      annotations: { [annotations.growthReserve]: `${growthReservePercent ?? 0}%` },
      ...(owner !== undefined && {
        ownerReferences: [{ kind: 'StatefulSet', name: owner, uid: owner, controller: true }],
      }),
    },
  });
  return clusterOf({
    StorageClass: [csiClass(drivesDriver, 'local', { parameters })],
    CSIDriver: [csiDriver(drivesDriver)],
    Node: [driveNode(nodeName)],
    Drive: drives,
    PersistentVolumeClaim: [asking],
  });
}

describe('the rule on drives', () => {
  test('gives the scheduler and the driver the same verdict and equally good drives', () => {
    fc.assert(
      fc.property(scenario, (one) => {
        expect(disagreement(one)).toBeUndefined();
      }),
      { numRuns: 1_000 },
    );
  });

  const plantedBugs: readonly (readonly [string, Choose])[] = [
    [
      'ignores the growth reserve',
      (index, requirements, random) =>
        chooseDrive(index, { ...requirements, growthReservePercent: undefined }, random),
    ],
    [
      'ignores volumes of the same group',
      (index, requirements, random) =>
        chooseDrive(index, { ...requirements, spreadGroup: undefined }, random),
    ],
    [
      'does not count volumes in flight',
      (index, requirements, random) => {
        for (const { name } of index.values()) index.release(name, 'in-flight');
        return chooseDrive(index, requirements, random);
      },
    ],
    [
      'takes the drive with the fewest free bytes',
      (index, requirements, random) => {
        const fitting = [...index.values()].filter((drive) => fitsOn(drive, requirements));
        const [drive] = fitting.toSorted((a, b) => a.freeBytes - b.freeBytes);
        return drive === undefined ? chooseDrive(index, requirements, random) : { kind: 'drive', drive };
      },
    ],
  ];

  test.each(plantedBugs)('would be found broken in a driver that %s', (_, choose) => {
    const property = fc.property(scenario, (one) => disagreement(one, choose) === undefined);
    expect(fc.check(property, { numRuns: 1_000, seed: 1 }).failed).toBe(true);
  });
});
