import { describe, expect, test } from 'vitest';
import type { StoragePool } from '../../kube/stowage/driver-capacity.ts';
import { annotations } from '../../kube/well-known.ts';
import { type Profile, stowageProfile } from '../cluster-index/profile.ts';
import { type ClusterObjects, clusterOf } from '../testing/cluster.ts';
import { expectRefusal } from '../testing/expect-plan.ts';
import { removed, upserted } from '../testing/index-events.ts';
import {
  atVersion,
  boundClaim,
  claim,
  csiClass,
  csiDriver,
  driverCapacity,
  inlineVolume,
  node,
  pod,
  pool,
  storageCapacity,
  storageClass,
} from '../testing/objects.ts';
import { expectWakeCases } from '../testing/wake-cases.ts';
import { plan } from '../testing/whole-engine.ts';

const data = pod('p', ['data']);
const driver = 'disk.csi';

const dynamic: ClusterObjects = {
  StorageClass: [csiClass(driver, 'local')],
  CSIDriver: [csiDriver(driver)],
  PersistentVolumeClaim: [claim('data', '5Gi')],
};

describe('a CSIStorageCapacity', () => {
  const here = (sizes: Parameters<typeof storageCapacity>[2]) => storageCapacity('net', 'local', sizes);
  const published = (sizes: Parameters<typeof storageCapacity>[2]): ClusterObjects => ({
    ...dynamic,
    CSIStorageCapacity: [here(sizes)],
  });
  const becomes = (sizes: Parameters<typeof storageCapacity>[2]) =>
    upserted('CSIStorageCapacity', here({ ...sizes, version: '2' }));
  expectWakeCases([
    {
      name: 'that comes wakes the pod',
      cluster: dynamic,
      event: upserted('CSIStorageCapacity', here({ capacity: '9Gi' })),
      wakes: true,
    },
    {
      name: 'of another class does not',
      cluster: dynamic,
      event: upserted('CSIStorageCapacity', storageCapacity('net', 'other', { capacity: '9Gi' })),
      wakes: false,
    },
    {
      name: 'that gets a size does',
      cluster: published({}),
      event: becomes({ capacity: '9Gi' }),
      wakes: true,
    },
    {
      name: 'that gets a largest size does',
      cluster: published({}),
      event: becomes({ maximumVolumeSize: '9Gi' }),
      wakes: true,
    },
    {
      name: 'that grows does',
      cluster: published({ capacity: '1Gi' }),
      event: becomes({ capacity: '9Gi' }),
      wakes: true,
    },
    {
      name: 'whose largest volume grows does',
      cluster: published({ capacity: '9Gi', maximumVolumeSize: '1Gi' }),
      event: becomes({ capacity: '9Gi', maximumVolumeSize: '6Gi' }),
      wakes: true,
    },
    {
      name: 'that no longer limits single volumes does',
      cluster: published({ capacity: '9Gi', maximumVolumeSize: '1Gi' }),
      event: becomes({ capacity: '9Gi' }),
      wakes: true,
    },
    {
      name: 'without a change does not',
      cluster: published({ capacity: '1Gi' }),
      event: becomes({ capacity: '1Gi' }),
      wakes: false,
    },
    {
      name: 'that shrinks does not',
      cluster: published({ capacity: '2Gi' }),
      event: becomes({ capacity: '1Gi' }),
      wakes: false,
    },
    {
      name: 'whose largest volume shrinks does not',
      cluster: published({ capacity: '9Gi', maximumVolumeSize: '2Gi' }),
      event: becomes({ capacity: '9Gi', maximumVolumeSize: '1Gi' }),
      wakes: false,
    },
    {
      name: 'that sets its unchanged limit explicitly does not',
      cluster: published({ capacity: '1Gi' }),
      event: becomes({ capacity: '1Gi', maximumVolumeSize: '1Gi' }),
      wakes: false,
    },
    {
      name: 'that drops a limit which equals its size does not',
      cluster: published({ capacity: '1Gi', maximumVolumeSize: '1Gi' }),
      event: becomes({ capacity: '1Gi' }),
      wakes: false,
    },
    {
      name: 'that grows, and is still too small for the smallest claim, does not',
      cluster: published({ capacity: '1Gi' }),
      event: becomes({ capacity: '4Gi' }),
      wakes: false,
    },
    {
      name: 'that comes, and is too small for the smallest claim, does not',
      cluster: dynamic,
      event: upserted('CSIStorageCapacity', here({ capacity: '4Gi' })),
      wakes: false,
    },
    {
      name: 'that goes away does not',
      cluster: published({ capacity: '1Gi' }),
      event: removed('CSIStorageCapacity', 'storage/net'),
      wakes: false,
    },
  ]);
});

describe('a CSIDriver', () => {
  const tracking = (storageCapacity: boolean | undefined) =>
    atVersion('2', csiDriver(driver, storageCapacity === undefined ? {} : { storageCapacity }));
  expectWakeCases([
    {
      name: 'that stops tracking wakes pods with claims, where kube-scheduler wakes only pods with inline volumes',
      cluster: dynamic,
      event: upserted('CSIDriver', tracking(false)),
      wakes: true,
    },
    {
      name: 'that no longer has a value for tracking does',
      cluster: dynamic,
      event: upserted('CSIDriver', tracking(undefined)),
      wakes: true,
    },
    { name: 'that goes away does', cluster: dynamic, event: removed('CSIDriver', driver), wakes: true },
    {
      name: 'that continues tracking does not',
      cluster: dynamic,
      event: upserted('CSIDriver', tracking(true)),
      wakes: false,
    },
    {
      name: 'of another name does not',
      cluster: { ...dynamic, CSIDriver: [csiDriver(driver), csiDriver('other.csi')] },
      event: removed('CSIDriver', 'other.csi'),
      wakes: false,
    },
    {
      name: 'that starts tracking does not',
      cluster: {
        StorageClass: [storageClass('local')],
        PersistentVolumeClaim: [claim('data', '5Gi')],
        CSIDriver: [csiDriver(driver, {})],
      },
      event: upserted('CSIDriver', tracking(true)),
      wakes: false,
    },
    {
      name: 'that no longer refuses nodes without it does',
      cluster: {
        StorageClass: [csiClass(driver, 'local')],
        PersistentVolumeClaim: [claim('data', '5Gi')],
        CSIDriver: [csiDriver(driver, { preventPodSchedulingIfMissing: true })],
      },
      event: upserted('CSIDriver', tracking(undefined)),
      wakes: true,
    },
  ]);
});

describe('a DriverCapacity', () => {
  const entries = (className: string, size: string) => [
    { storageClassName: className, pools: [pool('one', size)] },
  ];
  const localPools = (...pools: readonly StoragePool[]) => ({ storageClassName: 'local', pools });
  const otherClass = (size: string) => ({ storageClassName: 'other', pools: [pool('two', size)] });
  /** The time of the plan is 0. */
  const expiring = (size: string, atMs: number): StoragePool => ({
    ...pool('one', size),
    expiryTime: new Date(atMs).toISOString(),
  });
  const own: ClusterObjects = {
    StorageClass: [csiClass(driver, 'local')],
    DriverCapacity: [driverCapacity(driver, entries('local', '1Gi'))],
    PersistentVolumeClaim: [claim('data', '5Gi')],
  };
  expectWakeCases([
    {
      name: 'with a pool that grows wakes the pod',
      cluster: own,
      event: upserted('DriverCapacity', driverCapacity(driver, entries('local', '9Gi'), '2')),
      wakes: true,
    },
    {
      name: 'whose entry goes, so that <fallback> serves the class, does',
      cluster: own,
      event: upserted('DriverCapacity', driverCapacity(driver, entries('<fallback>', '9Gi'), '2')),
      wakes: true,
    },
    { name: 'that goes away does', cluster: own, event: removed('DriverCapacity', driver), wakes: true },
    {
      name: 'with more for <ephemeral> wakes a pod with an inline volume',
      cluster: { DriverCapacity: [driverCapacity(driver, entries('<ephemeral>', '1Gi'))] },
      pod: pod('p', [], { volumes: [inlineVolume('s', driver, '5Gi')] }),
      event: upserted('DriverCapacity', driverCapacity(driver, entries('<ephemeral>', '9Gi'), '2')),
      wakes: true,
    },
    {
      name: 'with a pool that shrinks does not',
      cluster: own,
      event: upserted('DriverCapacity', driverCapacity(driver, entries('local', '512Mi'), '2')),
      wakes: false,
    },
    {
      name: 'with an unchanged pool does not',
      cluster: own,
      event: upserted('DriverCapacity', driverCapacity(driver, entries('local', '1Gi'), '2')),
      wakes: false,
    },
    {
      name: 'with a pool that grows for another class does not',
      cluster: {
        ...own,
        DriverCapacity: [driverCapacity(driver, [...entries('local', '1Gi'), otherClass('1Gi')])],
      },
      event: upserted(
        'DriverCapacity',
        driverCapacity(driver, [...entries('local', '1Gi'), otherClass('9Gi')], '2'),
      ),
      wakes: false,
    },
    {
      name: 'with another pool of the class does',
      cluster: own,
      event: upserted(
        'DriverCapacity',
        driverCapacity(driver, [localPools(pool('one', '1Gi'), pool('two', '9Gi'))], '2'),
      ),
      wakes: true,
    },
    {
      name: 'with a pool that other nodes reach does',
      cluster: {
        ...own,
        DriverCapacity: [driverCapacity(driver, [localPools({ ...pool('one', '9Gi'), nodeList: ['n2'] })])],
      },
      event: upserted(
        'DriverCapacity',
        driverCapacity(driver, [localPools({ ...pool('one', '9Gi'), nodeList: ['n1'] })], '2'),
      ),
      wakes: true,
    },
    {
      name: 'that renews a pool which had expired does',
      cluster: {
        ...own,
        DriverCapacity: [driverCapacity(driver, [localPools(expiring('9Gi', -1_000))])],
      },
      event: upserted('DriverCapacity', driverCapacity(driver, [localPools(expiring('9Gi', 60_000))], '2')),
      wakes: true,
    },
    {
      name: 'that only renews a valid pool does not',
      cluster: {
        ...own,
        DriverCapacity: [driverCapacity(driver, [localPools(expiring('1Gi', 1_000))])],
      },
      event: upserted('DriverCapacity', driverCapacity(driver, [localPools(expiring('1Gi', 60_000))], '2')),
      wakes: false,
    },
    {
      name: 'that no longer tracks capacity does',
      cluster: own,
      event: upserted('DriverCapacity', {
        ...driverCapacity(driver, entries('local', '1Gi'), '2'),
        spec: { capacityTracking: false },
      }),
      wakes: true,
    },
    {
      name: 'of another driver does not',
      cluster: own,
      event: upserted('DriverCapacity', driverCapacity('other.csi', entries('local', '9Gi'))),
      wakes: false,
    },
  ]);
});

describe('capacity that was promised to other pods', () => {
  const theirs = claim('theirs', '6Gi', { selectedNode: 'n1' });
  const taken: ClusterObjects = {
    ...dynamic,
    CSIStorageCapacity: [storageCapacity('net', 'local', { capacity: '10Gi' })],
    PersistentVolumeClaim: [claim('data', '5Gi'), theirs],
  };
  const made = boundClaim('theirs', '6Gi', 'pv-theirs', {
    metadata: {
      namespace: 'default',
      name: 'theirs',
      uid: 'uid-theirs',
      resourceVersion: '2',
      annotations: { [annotations.bindCompleted]: 'yes' },
    },
  });
  const oneAtATime: Profile = { ...stowageProfile, inFlight: 'one-at-a-time' };
  expectWakeCases([
    {
      name: 'and that their provisioner released wakes the pod',
      cluster: taken,
      event: upserted('PersistentVolumeClaim', claim('theirs', '6Gi', { version: '2' })),
      wakes: true,
    },
    {
      name: 'does not when it is released, and the pool is too small for the pod anyway',
      cluster: { ...taken, CSIStorageCapacity: [storageCapacity('net', 'local', { capacity: '4Gi' })] },
      event: removed('PersistentVolumeClaim', 'default/theirs'),
      wakes: false,
    },
    {
      name: 'and that is free because their claim was deleted wakes the pod',
      cluster: taken,
      event: removed('PersistentVolumeClaim', 'default/theirs'),
      wakes: true,
    },
  ]);

  /** The promise is settled before the pod is refused, so these cases do not fit the table. */
  test.each([
    ['of a thin pool, whose capacity report did not change', stowageProfile, '10Gi'],
    ['of a pool with one volume at a time, whose report is smaller now', oneAtATime, '9Gi'],
  ])('and is part of the number %s, wakes the pod', (_, profile, size) => {
    const index = clusterOf({ Node: [node('n1')], ...taken }, profile);
    index.upsert('PersistentVolumeClaim', made);
    const refusal = expectRefusal(index, data);
    const { change } = index.upsert(
      'CSIStorageCapacity',
      storageCapacity('net', 'local', { capacity: size, version: '2' }),
    );
    expect(plan(data, index, { nowMs: 0 }).kind).toBe('placement');
    expect(refusal.wokenBy(change!)).toBe(true);
  });
});
