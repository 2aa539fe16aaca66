import { describe, expect, test } from 'vitest';
import type { PersistentVolumeClaim } from '../../../kube/api/core.ts';
import { annotations } from '../../../kube/well-known.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { type InFlightPolicy, type Profile, stowageProfile } from '../../cluster-index/profile.ts';
import { type ClusterObjects, clusterOf, planOutcome } from '../../testing/cluster.ts';
import { expectPlacement, expectReservation } from '../../testing/expect-plan.ts';
import {
  boundClaim,
  claim,
  csiClass,
  csiDriver,
  driverCapacity,
  hostname,
  inlineVolume,
  node,
  pod,
  pool,
  storageCapacity,
} from '../../testing/objects.ts';
import { Ledger, plan, type Reservation } from '../../testing/whole-engine.ts';

const driver = 'disk.csi';
const base: ClusterObjects = {
  Node: [node('n1')],
  StorageClass: [csiClass(driver, 'local')],
  CSIDriver: [csiDriver(driver)],
};

/** One pool of 10Gi for all nodes, and the given objects. */
function clusterWith(claims: readonly PersistentVolumeClaim[], profile?: Profile): ClusterIndex {
  return clusterOf(
    {
      ...base,
      CSIStorageCapacity: [storageCapacity('net', 'local', { capacity: '10Gi' })],
      PersistentVolumeClaim: claims,
    },
    profile,
  );
}

/** Whether a pod with a claim of this size would fit, which all tests here check. */
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

/** The claim after the provisioner and the volume controller are done. */
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
  index.upsert('CSIStorageCapacity', storageCapacity('net', 'local', { capacity: size, version }));
}

describe('a reservation', () => {
  test('takes its capacity from the pool at once', () => {
    const index = clusterWith([claim('a', '6Gi')]);
    expect(hasRoomFor(index, '10Gi')).toBe(true);
    reserve(index, new Ledger(index), 'a');
    expect(hasRoomFor(index, '4Gi')).toBe(true);
    expect(hasRoomFor(index, '5Gi')).toBe(false);
  });

  test('returns it when it is reverted', () => {
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

  test('counts once when the claim then has the selected-node annotation', () => {
    const index = clusterWith([claim('a', '6Gi')]);
    reserve(index, new Ledger(index), 'a');
    index.upsert('PersistentVolumeClaim', claim('a', '6Gi', { version: '2', selectedNode: 'n1' }));
    expect(hasRoomFor(index, '4Gi')).toBe(true);
  });

  test('that is reverted leaves the capacity to the annotation, if that is already written', () => {
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
        storageCapacity(name, 'local', {
          capacity: '10Gi',
          nodeTopology: { matchLabels: { [hostname]: name } },
        }),
      ),
      PersistentVolumeClaim: [claim('a', '6Gi'), claim('b', '6Gi'), claim('c', '6Gi')],
    });
    const ledger = new Ledger(index);
    const nodes = ['a', 'b'].map((name) => reserve(index, ledger, name).placement.node);
    expect(nodes).toEqual(['n1', 'n2']);
    expect(planOutcome(index, pod('third', ['c']))).toMatchObject({ message: expect.any(String) });
  });
});

describe('a provisioned volume', () => {
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

  test('is included in the capacity report of the pool from its first update on', () => {
    const index = bound();
    publish(index, '4Gi', '2');
    expect(hasRoomFor(index, '4Gi')).toBe(true);
    expect(hasRoomFor(index, '5Gi')).toBe(false);
  });

  test('still counts after the same update is applied again', () => {
    const index = bound();
    publish(index, '10Gi', '1');
    expect(hasRoomFor(index, '5Gi')).toBe(false);
  });

  test('still counts after an update from before it was bound', () => {
    const index = clusterWith([claim('a', '6Gi')]);
    reserve(index, new Ledger(index), 'a');
    publish(index, '10Gi', '2');
    index.upsert('PersistentVolumeClaim', madeClaim('a', '6Gi', '3'));
    expect(hasRoomFor(index, '5Gi')).toBe(false);
  });

  test('no longer counts after an update with the same report: the driver may be thin', () => {
    const index = bound();
    publish(index, '10Gi', '2');
    expect(hasRoomFor(index, '10Gi')).toBe(true);
  });

  test('unblocks a pool with one volume at a time when the pool is updated, and not before', () => {
    const index = bound('one-at-a-time');
    expect(hasRoomFor(index, '1Gi')).toBe(false);
    publish(index, '4Gi', '2');
    expect(hasRoomFor(index, '4Gi')).toBe(true);
  });

  test('no longer counts after a while if no update comes', () => {
    const index = bound();
    const { settledPromiseMaxMs } = stowageProfile;
    // Only plans pass the time, so the first one starts the period and a later one ends it.
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

  test('keeps its capacity after a restart, without a reservation', () => {
    expect(hasRoomFor(clusterWith([pinned]), '5Gi')).toBe(false);
  });

  test('keeps its capacity whatever the order of the objects', () => {
    const index = clusterOf({ PersistentVolumeClaim: [pinned] });
    index.upsert('CSIStorageCapacity', storageCapacity('net', 'local', { capacity: '10Gi' }));
    index.upsert('Node', node('n1'));
    index.upsert('CSIDriver', csiDriver(driver));
    index.upsert('StorageClass', csiClass(driver, 'local'));
    plan(pod('p', []), index, { nowMs: 0 });
    expect(hasRoomFor(index, '4Gi')).toBe(true);
    expect(hasRoomFor(index, '5Gi')).toBe(false);
  });

  test('keeps its capacity even if the first plan after the restart was only a what-if', () => {
    const index = clusterOf({ ...base, PersistentVolumeClaim: [pinned] });
    index.upsert('CSIStorageCapacity', storageCapacity('net', 'local', { capacity: '10Gi' }));
    const savepoint = index.savepoint();
    plan(pod('p', []), index, { nowMs: 0 });
    index.rollback(savepoint);
    expect(hasRoomFor(index, '5Gi')).toBe(false);
  });

  test('releases it when the provisioner removes the annotation', () => {
    const index = clusterWith([pinned]);
    index.upsert('PersistentVolumeClaim', claim('a', '6Gi', { version: '2' }));
    expect(hasRoomFor(index, '10Gi')).toBe(true);
  });

  test('releases it when it is deleted', () => {
    const index = clusterWith([pinned]);
    index.remove('PersistentVolumeClaim', 'default/a');
    expect(hasRoomFor(index, '10Gi')).toBe(true);
  });

  test('releases it when it is recreated with another uid', () => {
    const index = clusterWith([pinned]);
    const recreated = claim('a', '1Gi', {
      metadata: { namespace: 'default', name: 'a', uid: 'uid-2', resourceVersion: '9' },
    });
    index.upsert('PersistentVolumeClaim', recreated);
    expect(hasRoomFor(index, '10Gi')).toBe(true);
  });

  test('recreated with a selected node of its own keeps the new request', () => {
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

  test('keeps capacity in the pool that the scheduler wrote on it', () => {
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

  test('counts in the new pool when its pool is replaced', () => {
    const index = clusterWith([pinned]);
    index.remove('CSIStorageCapacity', 'storage/net');
    index.upsert('CSIStorageCapacity', storageCapacity('new', 'local', { capacity: '10Gi' }));
    expect(hasRoomFor(index, '5Gi')).toBe(false);
  });

  test('keeps nothing if the profile does not count promises, as in kube-scheduler', () => {
    expect(hasRoomFor(clusterWith([pinned], { ...stowageProfile, inFlight: 'off' }), '10Gi')).toBe(true);
  });

  test('of a deleted node keeps nothing anywhere', () => {
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

  test('keeps its capacity from the reservation until the pool is updated after the pod runs', () => {
    const { index, ledger, reservation } = started();
    expect(fits(index)).toBe(false);
    index.upsert('Pod', redis('first', 'n1'));
    expect(ledger.confirm(reservation)).toEqual({ kind: 'confirmed' });
    expect(fits(index)).toBe(false);
    publishRam(index, '6Gi', '2');
    expect(fits(index)).toBe(true);
  });

  test('returns it when the reservation is reverted', () => {
    const { index, ledger, reservation } = started();
    ledger.revert(reservation);
    expect(fits(index)).toBe(true);
  });
});

test('the update of one pool of a driver does not refresh another', () => {
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
