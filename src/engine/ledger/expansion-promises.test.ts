import { describe, expect, test } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim } from '../../kube/api/core.ts';
import { annotations } from '../../kube/well-known.ts';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { plan } from '../plan.ts';
import { type ClusterObjects, clusterOf } from '../testing/cluster.ts';
import {
  boundClaim,
  claim,
  csiClass,
  csiDriver,
  drive,
  driveNode,
  driverCapacity,
  gib,
  node,
  pod,
  pool,
  storageCapacity,
  volume,
} from '../testing/objects.ts';

const driver = 'disk.csi';
const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();
const base: ClusterObjects = {
  Node: [node('n1')],
  StorageClass: [csiClass(driver, 'local')],
  CSIDriver: [csiDriver(driver)],
};

function report(size: string, version: string, measuredAt?: string) {
  const object = storageCapacity('net', 'local', { capacity: size, version });
  const found = measuredAt === undefined ? {} : { [annotations.measuredAt]: measuredAt };
  return { ...object, metadata: { ...object.metadata, annotations: found } };
}

/** The volume of claim `c`, which has existed for a long time. */
function volumeOf(size: string, version: string, marks: Record<string, string> = {}): PersistentVolume {
  return volume('pv-c', size, {
    phase: 'Bound',
    metadata: { name: 'pv-c', resourceVersion: version, annotations: marks },
    spec: {
      csi: { driver, volumeHandle: 'handle' },
      claimRef: { namespace: 'default', name: 'c', uid: 'uid-c' },
    },
  });
}

interface Progress {
  readonly state: 'ControllerResizeInProgress' | 'ControllerResizeInfeasible';
  readonly allocated: string;
}

function claimOf(size: string, version: string, progress?: Progress): PersistentVolumeClaim {
  const made = boundClaim('c', size, 'pv-c', {
    metadata: {
      namespace: 'default',
      name: 'c',
      uid: 'uid-c',
      resourceVersion: version,
      annotations: { [annotations.bindCompleted]: 'yes' },
    },
  });
  if (progress === undefined) return made;
  const { state, allocated } = progress;
  const status = {
    allocatedResources: { storage: allocated },
    allocatedResourceStatuses: { storage: state },
  };
  return { ...made, status: { ...made.status, ...status } };
}

function free(index: ClusterIndex, key = 'CSIStorageCapacity storage/net'): number {
  return index.pools.available(index.pools.row(key)!).bytes / gib(1);
}

function start(...reports: readonly ReturnType<typeof report>[]): ClusterIndex {
  const index = clusterOf({
    ...base,
    CSIStorageCapacity: reports,
    PersistentVolume: [volumeOf('4Gi', '1')],
    PersistentVolumeClaim: [claimOf('4Gi', '1'), claim('d', '6Gi')],
  });
  index.settle(0);
  return index;
}

const measured = () => start(report('10Gi', '1', at(0)));

describe('an expansion in flight', () => {
  test('takes its growth from the pool, so that no pod gets these bytes', () => {
    const index = measured();
    expect(plan(pod('p', ['d']), index, { nowMs: 0 }).kind).toBe('placement');
    index.upsert('PersistentVolumeClaim', claimOf('9Gi', '2'));
    expect(free(index)).toBe(5);
    expect(plan(pod('p', ['d']), index, { nowMs: 0 }).kind).toBe('refusal');
  });

  test('takes it from the pool of a DriverCapacity too', () => {
    const index = clusterOf({
      ...base,
      DriverCapacity: [driverCapacity(driver, [{ storageClassName: 'local', pools: [pool('net', '10Gi')] }])],
      PersistentVolume: [volumeOf('4Gi', '1')],
      PersistentVolumeClaim: [claimOf('9Gi', '1')],
    });
    index.settle(0);
    expect(free(index, `DriverCapacity ${driver} local net`)).toBe(5);
  });

  test('counts after a restart, in any order of the objects', () => {
    const objects: ClusterObjects = {
      PersistentVolumeClaim: [claimOf('9Gi', '1')],
      PersistentVolume: [volumeOf('4Gi', '1')],
      CSIStorageCapacity: [report('10Gi', '1', at(0))],
    };
    for (const all of [
      { ...objects, ...base },
      { ...base, ...objects },
    ]) {
      const index = clusterOf(all);
      index.settle(0);
      expect(free(index)).toBe(5);
    }
  });

  test('counts until a capacity report that was measured after the driver had expanded the volume', () => {
    const index = measured();
    index.upsert('PersistentVolumeClaim', claimOf('9Gi', '2'));
    const marks = { [annotations.volumeExpandedAt]: at(10), [annotations.volumeExpandedFrom]: '4Gi' };
    index.upsert('PersistentVolume', volumeOf('9Gi', '2', marks));
    expect(free(index)).toBe(5);
    index.upsert('CSIStorageCapacity', report('10Gi', '2', at(9)));
    index.settle(1e12);
    expect(free(index)).toBe(5);
    index.upsert('CSIStorageCapacity', report('5Gi', '3', at(11)));
    expect(free(index)).toBe(5);
  });

  test('counts after a restart between the expansion and the next report', () => {
    const marks = { [annotations.volumeExpandedAt]: at(10), [annotations.volumeExpandedFrom]: '4Gi' };
    const index = clusterOf({
      PersistentVolumeClaim: [claimOf('9Gi', '1')],
      PersistentVolume: [volumeOf('9Gi', '1', marks)],
      CSIStorageCapacity: [report('10Gi', '1', at(0))],
      ...base,
    });
    index.settle(0);
    expect(free(index)).toBe(5);
    index.upsert('CSIStorageCapacity', report('5Gi', '2', at(11)));
    expect(free(index)).toBe(5);
  });

  test.each([at(0), undefined])(
    'by another resizer ends with the next report, with reports of %s',
    (time) => {
      const index = start(report('10Gi', '1', time));
      index.upsert('PersistentVolumeClaim', claimOf('9Gi', '2'));
      index.upsert('PersistentVolume', volumeOf('9Gi', '2'));
      expect(free(index)).toBe(5);
      index.upsert('CSIStorageCapacity', report('5Gi', '2', time));
      expect(free(index)).toBe(5);
    },
  );

  test('releases its bytes when the request is withdrawn, and reports which pool has them', () => {
    const index = measured();
    index.upsert('PersistentVolumeClaim', claimOf('9Gi', '2'));
    index.upsert('PersistentVolumeClaim', claimOf('4Gi', '3'));
    expect(free(index)).toBe(10);
    expect(index.drainReleases()?.pools.map(({ name }) => name)).toEqual(['storage/net']);
  });

  test('keeps the bytes of a started expansion although the request is smaller by now', () => {
    const index = measured();
    const progress: Progress = { state: 'ControllerResizeInProgress', allocated: '9Gi' };
    index.upsert('PersistentVolumeClaim', claimOf('5Gi', '2', progress));
    expect(free(index)).toBe(5);
  });

  test('releases its bytes when the driver finds it infeasible, until another size is requested', () => {
    const index = measured();
    const progress: Progress = { state: 'ControllerResizeInfeasible', allocated: '9Gi' };
    index.upsert('PersistentVolumeClaim', claimOf('9Gi', '2', progress));
    expect(free(index)).toBe(10);
    index.upsert('PersistentVolumeClaim', claimOf('6Gi', '3', progress));
    expect(free(index)).toBe(8);
  });

  test('reserves nothing if the pool has less, as a pod that does not fit', () => {
    const index = measured();
    index.upsert('PersistentVolumeClaim', claimOf('15Gi', '2'));
    expect(free(index)).toBe(10);
    index.upsert('CSIStorageCapacity', report('12Gi', '2', at(5)));
    expect(free(index)).toBe(1);
  });

  test('ends with its claim', () => {
    const index = measured();
    index.upsert('PersistentVolumeClaim', claimOf('9Gi', '2'));
    index.remove('PersistentVolumeClaim', 'default/c');
    expect(free(index)).toBe(10);
  });

  test('is undone by a rollback', () => {
    const index = measured();
    const savepoint = index.savepoint();
    index.upsert('PersistentVolumeClaim', claimOf('9Gi', '2'));
    index.rollback(savepoint);
    expect(free(index)).toBe(10);
  });
});

test('on a drive, the growth counts until the ledger has the new size', () => {
  const drives = 'drives.stowage.dev';
  const entry = (sizeBytes: number) => [
    { name: 'pvc-uid-c', sizeBytes, claimRef: { namespace: 'default', name: 'c', uid: 'uid-c' } },
  ];
  const index = clusterOf({
    Node: [driveNode('n1')],
    StorageClass: [csiClass(drives, 'local')],
    CSIDriver: [csiDriver(drives)],
    Drive: [drive('a', 20, { spec: { volumes: entry(gib(4)) } })],
    PersistentVolume: [volumeOf('4Gi', '1')],
    PersistentVolumeClaim: [claimOf('4Gi', '1')],
  });
  index.settle(0);
  expect(free(index, 'Drive a')).toBe(16);
  index.upsert('PersistentVolumeClaim', claimOf('9Gi', '2'));
  expect(free(index, 'Drive a')).toBe(11);
  const grown = drive('a', 20, { spec: { volumes: entry(gib(9)) } });
  index.upsert('Drive', { ...grown, metadata: { ...grown.metadata, resourceVersion: '2' } });
  expect(free(index, 'Drive a')).toBe(11);
  index.upsert('PersistentVolume', volumeOf('9Gi', '2'));
  expect(free(index, 'Drive a')).toBe(11);
});
