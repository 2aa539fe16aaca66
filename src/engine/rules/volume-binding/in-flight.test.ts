import { describe, expect, test } from 'vitest';
import type { PersistentVolumeClaim } from '../../../kube/api/core.ts';
import { annotations } from '../../../kube/well-known.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { type InFlightPolicy, type Profile, stowageProfile } from '../../cluster-index/profile.ts';
import { type ClusterObjects, clusterOf, planOutcome } from '../../testing/cluster.ts';
import { expectPlacement, expectReservation } from '../../testing/expect-plan.ts';
import {
  boundClaim,
  capacity,
  claim,
  csiDriver,
  driverCapacity,
  hostname,
  inlineVolume,
  madeBy,
  node,
  pod,
  pool,
} from '../../testing/objects.ts';
import { Ledger, plan, type Reservation } from '../../testing/whole-engine.ts';

const driver = 'disk.csi';
const base: ClusterObjects = {
  Node: [node('n1')],
  StorageClass: [madeBy(driver, 'local')],
  CSIDriver: [csiDriver(driver)],
};

/** One pool of 10Gi for everybody, and what stands in the cluster besides. */
function clusterWith(claims: readonly PersistentVolumeClaim[], profile?: Profile): ClusterIndex {
  return clusterOf(
    {
      ...base,
      CSIStorageCapacity: [capacity('net', 'local', { capacity: '10Gi' })],
      PersistentVolumeClaim: claims,
    },
    profile,
  );
}

/** Whether a pod with a claim of this size would find room: the question that everything here comes down to. */
function hasRoomFor(index: ClusterIndex, size: string, nowMs = 0): boolean {
  const savepoint = index.savepoint();
  index.upsert('PersistentVolumeClaim', claim('probe', size));
  const { kind } = plan(pod('probing', ['probe']), index, { nowMs });
  index.rollback(savepoint);
  return kind === 'placement';
}

function reserve(index: ClusterIndex, ledger: Ledger, name: string): Reservation {
  return expectReservation(ledger, expectPlacement(index, pod(`pod-of-${name}`, [name])));
}

/** What the provisioner and the volume controller leave behind. */
function madeClaim(name: string, size: string, version: string): PersistentVolumeClaim {
  return boundClaim(name, size, `pv-${name}`, {
    metadata: {
      namespace: 'default',
      name,
      uid: `uid-${name}`,
      resourceVersion: version,
      annotations: { [annotations.bindCompleted]: 'yes', [annotations.selectedNode]: 'n1' },
    },
  });
}

function publish(index: ClusterIndex, size: string, version: string): void {
  index.upsert('CSIStorageCapacity', capacity('net', 'local', { capacity: size, version }));
}

describe('a reservation', () => {
  test('takes its room from the pool at once', () => {
    const index = clusterWith([claim('a', '6Gi')]);
    expect(hasRoomFor(index, '10Gi')).toBe(true);
    reserve(index, new Ledger(index), 'a');
    expect(hasRoomFor(index, '4Gi')).toBe(true);
    expect(hasRoomFor(index, '5Gi')).toBe(false);
  });

  test('gives it back when it is reverted', () => {
    const index = clusterWith([claim('a', '6Gi')]);
    const ledger = new Ledger(index);
    ledger.revert(reserve(index, ledger, 'a'));
    expect(hasRoomFor(index, '10Gi')).toBe(true);
  });

  test('keeps it through updates of the pool, since no update can include a volume that does not exist', () => {
    const index = clusterWith([claim('a', '6Gi')]);
    reserve(index, new Ledger(index), 'a');
    publish(index, '10Gi', '2');
    expect(hasRoomFor(index, '5Gi')).toBe(false);
    publish(index, '12Gi', '3');
    expect(hasRoomFor(index, '6Gi')).toBe(true);
    expect(hasRoomFor(index, '7Gi')).toBe(false);
  });

  test('counts once when the claim then carries the selected node itself', () => {
    const index = clusterWith([claim('a', '6Gi')]);
    reserve(index, new Ledger(index), 'a');
    index.upsert('PersistentVolumeClaim', claim('a', '6Gi', { version: '2', selectedNode: 'n1' }));
    expect(hasRoomFor(index, '4Gi')).toBe(true);
  });

  test('that is reverted leaves the room to the annotation, if that has been written already', () => {
    const index = clusterWith([claim('a', '6Gi')]);
    const ledger = new Ledger(index);
    const reservation = reserve(index, ledger, 'a');
    index.upsert('PersistentVolumeClaim', claim('a', '6Gi', { version: '2', selectedNode: 'n1' }));
    ledger.revert(reservation);
    expect(hasRoomFor(index, '5Gi')).toBe(false);
    index.upsert('PersistentVolumeClaim', claim('a', '6Gi', { version: '3' }));
    expect(hasRoomFor(index, '10Gi')).toBe(true);
  });

  test('of another node with storage of its own takes nothing from this one', () => {
    const index = clusterOf({
      ...base,
      Node: [node('n1'), node('n2')],
      CSIStorageCapacity: ['n1', 'n2'].map((name) =>
        capacity(name, 'local', { capacity: '10Gi', nodeTopology: { matchLabels: { [hostname]: name } } }),
      ),
      PersistentVolumeClaim: [claim('a', '6Gi'), claim('b', '6Gi'), claim('c', '6Gi')],
    });
    const ledger = new Ledger(index);
    const nodes = ['a', 'b'].map((name) => reserve(index, ledger, name).placement.node);
    expect(nodes).toEqual(['n1', 'n2']);
    expect(planOutcome(index, pod('third', ['c']))).toMatchObject({ message: expect.any(String) });
  });
});

describe('a volume that has been made', () => {
  function bound(policy: InFlightPolicy = 'linear'): ClusterIndex {
    const index = clusterWith([claim('a', '6Gi')], { ...stowageProfile, inFlight: policy });
    reserve(index, new Ledger(index), 'a');
    index.upsert('PersistentVolumeClaim', claim('a', '6Gi', { version: '2', selectedNode: 'n1' }));
    index.upsert('PersistentVolumeClaim', madeClaim('a', '6Gi', '3'));
    return index;
  }

  test('counts as promised until the pool is updated', () => {
    expect(hasRoomFor(bound(), '5Gi')).toBe(false);
  });

  test('counts in the number of the pool from its first update on', () => {
    const index = bound();
    publish(index, '4Gi', '2');
    expect(hasRoomFor(index, '4Gi')).toBe(true);
    expect(hasRoomFor(index, '5Gi')).toBe(false);
  });

  test('is not dropped by the same update handed over again', () => {
    const index = bound();
    publish(index, '10Gi', '1');
    expect(hasRoomFor(index, '5Gi')).toBe(false);
  });

  test('is not dropped by an update that came before it was bound', () => {
    const index = clusterWith([claim('a', '6Gi')]);
    reserve(index, new Ledger(index), 'a');
    publish(index, '10Gi', '2');
    index.upsert('PersistentVolumeClaim', madeClaim('a', '6Gi', '3'));
    expect(hasRoomFor(index, '5Gi')).toBe(false);
  });

  test('is dropped although the number did not move: the driver may be thin', () => {
    const index = bound();
    publish(index, '10Gi', '2');
    expect(hasRoomFor(index, '10Gi')).toBe(true);
  });

  test('makes room in a pool of one at a time when that is updated, and not before', () => {
    const index = bound('one-at-a-time');
    expect(hasRoomFor(index, '1Gi')).toBe(false);
    publish(index, '4Gi', '2');
    expect(hasRoomFor(index, '4Gi')).toBe(true);
  });

  test('is given up after a while where no update ever comes', () => {
    const index = bound();
    const { settledPromiseMaxMs } = stowageProfile;
    // The plan is what looks at the clock, so the first one starts the time and a later one ends it.
    plan(pod('p', []), index, { nowMs: 1_000 });
    plan(pod('p', []), index, { nowMs: 1_000 + settledPromiseMaxMs });
    expect(hasRoomFor(index, '5Gi', 1_000 + settledPromiseMaxMs)).toBe(false);
    expect(hasRoomFor(index, '5Gi', 1_001 + settledPromiseMaxMs)).toBe(true);
  });

  test('still counts while its claim names it but is not bound to it yet', () => {
    const index = clusterWith([claim('a', '6Gi', { selectedNode: 'n1' })]);
    expect(hasRoomFor(index, '5Gi')).toBe(false);
    const named = claim('a', '6Gi', { version: '2', selectedNode: 'n1', spec: { volumeName: 'pv-a' } });
    index.upsert('PersistentVolumeClaim', named);
    expect(hasRoomFor(index, '5Gi')).toBe(false);
    index.upsert('PersistentVolumeClaim', madeClaim('a', '6Gi', '3'));
    expect(hasRoomFor(index, '5Gi')).toBe(false);
    publish(index, '4Gi', '2');
    expect(hasRoomFor(index, '4Gi')).toBe(true);
  });
});

describe('a claim with a selected node and no volume', () => {
  const pinned = claim('a', '6Gi', { selectedNode: 'n1' });

  test('holds its room after a restart, without any reservation', () => {
    expect(hasRoomFor(clusterWith([pinned]), '5Gi')).toBe(false);
  });

  test('holds its room whatever order the objects arrive in', () => {
    const index = clusterOf({ PersistentVolumeClaim: [pinned] });
    index.upsert('CSIStorageCapacity', capacity('net', 'local', { capacity: '10Gi' }));
    index.upsert('Node', node('n1'));
    index.upsert('CSIDriver', csiDriver(driver));
    index.upsert('StorageClass', madeBy(driver, 'local'));
    plan(pod('p', []), index, { nowMs: 0 });
    expect(hasRoomFor(index, '4Gi')).toBe(true);
    expect(hasRoomFor(index, '5Gi')).toBe(false);
  });

  test('holds its room also if the first question after the restart was only a what-if', () => {
    const index = clusterOf({ ...base, PersistentVolumeClaim: [pinned] });
    index.upsert('CSIStorageCapacity', capacity('net', 'local', { capacity: '10Gi' }));
    const savepoint = index.savepoint();
    plan(pod('p', []), index, { nowMs: 0 });
    index.rollback(savepoint);
    expect(hasRoomFor(index, '5Gi')).toBe(false);
  });

  test('gives it up when the provisioner takes the annotation away', () => {
    const index = clusterWith([pinned]);
    index.upsert('PersistentVolumeClaim', claim('a', '6Gi', { version: '2' }));
    expect(hasRoomFor(index, '10Gi')).toBe(true);
  });

  test('gives it up when it is deleted', () => {
    const index = clusterWith([pinned]);
    index.remove('PersistentVolumeClaim', 'default/a');
    expect(hasRoomFor(index, '10Gi')).toBe(true);
  });

  test('gives it up when it is made anew under another uid', () => {
    const index = clusterWith([pinned]);
    const anew = claim('a', '1Gi', {
      metadata: { namespace: 'default', name: 'a', uid: 'uid-2', resourceVersion: '9' },
    });
    index.upsert('PersistentVolumeClaim', anew);
    expect(hasRoomFor(index, '10Gi')).toBe(true);
  });

  test('made anew with a selected node of its own holds what the new one asks for', () => {
    const index = clusterWith([pinned]);
    index.upsert(
      'PersistentVolumeClaim',
      claim('a', '2Gi', {
        metadata: {
          namespace: 'default',
          name: 'a',
          uid: 'uid-2',
          resourceVersion: '9',
          annotations: { [annotations.selectedNode]: 'n1' },
        },
      }),
    );
    expect(hasRoomFor(index, '8Gi')).toBe(true);
    expect(hasRoomFor(index, '9Gi')).toBe(false);
  });

  test('holds room in the pool that the scheduler named on it', () => {
    const index = clusterOf({
      ...base,
      CSIDriver: [],
      DriverCapacity: [
        driverCapacity(driver, [
          { storageClassName: 'local', pools: [pool('one', '6Gi'), pool('two', '9Gi')] },
        ]),
      ],
      PersistentVolumeClaim: [
        claim('a', '6Gi', {
          metadata: {
            namespace: 'default',
            name: 'a',
            uid: 'uid-a',
            resourceVersion: '1',
            annotations: { [annotations.selectedNode]: 'n1', [annotations.pool]: 'two' },
          },
        }),
      ],
    });
    expect(hasRoomFor(index, '6Gi')).toBe(true);
    expect(hasRoomFor(index, '7Gi')).toBe(false);
  });

  test('moves with its pool: when the pool goes and another comes, it counts there', () => {
    const index = clusterWith([pinned]);
    index.remove('CSIStorageCapacity', 'storage/net');
    index.upsert('CSIStorageCapacity', capacity('new', 'local', { capacity: '10Gi' }));
    expect(hasRoomFor(index, '5Gi')).toBe(false);
  });

  test('holds nothing where promises are not counted, as in kube-scheduler', () => {
    expect(hasRoomFor(clusterWith([pinned], { ...stowageProfile, inFlight: 'off' }), '10Gi')).toBe(true);
  });

  test('of a node that is gone holds nothing anywhere', () => {
    const index = clusterWith([claim('a', '6Gi', { selectedNode: 'gone' })]);
    expect(hasRoomFor(index, '10Gi')).toBe(true);
  });
});

describe('an inline volume', () => {
  const publishRam = (index: ClusterIndex, size: string, version: string) =>
    index.upsert(
      'DriverCapacity',
      driverCapacity(driver, [{ storageClassName: '<ephemeral>', pools: [pool('ram', size)] }], version),
    );
  const redis = (name: string, nodeName?: string) =>
    pod(name, [], {
      volumes: [inlineVolume('pmem', driver, '6Gi')],
      ...(nodeName !== undefined && { nodeName, version: '2' }),
    });

  function started(): { index: ClusterIndex; ledger: Ledger; reservation: Reservation } {
    const index = clusterOf(base);
    publishRam(index, '10Gi', '1');
    const ledger = new Ledger(index);
    return { index, ledger, reservation: expectReservation(ledger, expectPlacement(index, redis('first'))) };
  }
  const fits = (index: ClusterIndex) => plan(redis('second'), index, { nowMs: 0 }).kind === 'placement';

  test('holds its room from the reservation until the pool is updated after the pod runs', () => {
    const { index, ledger, reservation } = started();
    expect(fits(index)).toBe(false);
    index.upsert('Pod', redis('first', 'n1'));
    expect(ledger.confirm(reservation)).toEqual({ kind: 'confirmed' });
    expect(fits(index)).toBe(false);
    publishRam(index, '6Gi', '2');
    expect(fits(index)).toBe(true);
  });

  test('gives it back when the reservation is reverted', () => {
    const { index, ledger, reservation } = started();
    ledger.revert(reservation);
    expect(fits(index)).toBe(true);
  });
});

test('one pool of a driver is not refreshed by the update of another', () => {
  const publishBoth = (index: ClusterIndex, one: string, two: string, version: string) => {
    const pools = [pool('one', one, { nodeList: ['n1'] }), pool('two', two, { nodeList: ['n2'] })];
    index.upsert('DriverCapacity', driverCapacity(driver, [{ storageClassName: 'local', pools }], version));
  };
  const index = clusterOf({ ...base, CSIDriver: [], PersistentVolumeClaim: [claim('a', '6Gi')] });
  publishBoth(index, '10Gi', '10Gi', '1');
  reserve(index, new Ledger(index), 'a');
  index.upsert('PersistentVolumeClaim', madeClaim('a', '6Gi', '3'));
  publishBoth(index, '10Gi', '5Gi', '2');
  expect(hasRoomFor(index, '5Gi')).toBe(false);
  publishBoth(index, '4Gi', '5Gi', '3');
  expect(hasRoomFor(index, '4Gi')).toBe(true);
});
