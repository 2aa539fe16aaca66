import { expect, test } from 'vitest';
import { annotations } from '../../../kube/well-known.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { upstreamProfile } from '../../cluster-index/profile.ts';
import { type ClusterObjects, clusterOf } from '../../testing/cluster.ts';
import { expectPlacement, expectRefusal, expectReservation } from '../../testing/expect-plan.ts';
import {
  claim,
  csiClass,
  csiDriver,
  driverCapacity,
  node,
  pod,
  pool,
  storageCapacity,
} from '../../testing/objects.ts';
import { Ledger, plan } from '../../testing/whole-engine.ts';

const driver = 'disk.csi';
const names = ['a', 'b', 'c'];
const base: ClusterObjects = {
  Node: [node('n1')],
  StorageClass: [csiClass(driver, 'local')],
  CSIDriver: [csiDriver(driver)],
  PersistentVolumeClaim: [...names.map((name) => claim(name, '1Gi')), claim('large', '6Gi')],
};

/** A pool of 10Gi whose driver creates no volume below 4Gi. */
function report(version = '1', smallest: string | undefined = '4Gi') {
  const { metadata, ...rest } = storageCapacity('net', 'local', { capacity: '10Gi', version });
  const marks = smallest === undefined ? {} : { [annotations.minimumVolumeSize]: smallest };
  return { ...rest, metadata: { ...metadata, annotations: marks } };
}

const forms: Readonly<Record<string, ClusterObjects>> = {
  CSIStorageCapacity: { CSIStorageCapacity: [report()] },
  DriverCapacity: {
    DriverCapacity: [
      driverCapacity(driver, [
        { storageClassName: 'local', pools: [pool('net', '10Gi', { minimumVolume: '4Gi' })] },
      ]),
    ],
  },
};

function fits(index: ClusterIndex, claims: readonly string[]): boolean {
  return plan(pod('probing', claims), index, { nowMs: 0 }).kind === 'placement';
}

test.each(Object.keys(forms))('%s: a claim below the smallest volume takes as much of the pool', (form) => {
  const index = clusterOf({ ...base, ...forms[form] });
  const ledger = new Ledger(index);
  expect(fits(index, ['a', 'b']), 'twice 4Gi').toBe(true);
  expect(fits(index, ['a', 'b', 'c']), 'three times 4Gi').toBe(false);
  expectReservation(ledger, expectPlacement(index, pod('p', ['a'])));
  expect(fits(index, ['large']), '6Gi are left').toBe(true);
  const reservation = expectReservation(ledger, expectPlacement(index, pod('q', ['b'])));
  expect(fits(index, ['c']), '2Gi are left').toBe(false);
  ledger.revert(reservation);
  expect(fits(index, ['c'])).toBe(true);
});

test('the promises follow a smallest volume that the driver changes, and the pods that wait are woken', () => {
  const index = clusterOf({ ...base, CSIStorageCapacity: [report()] });
  const ledger = new Ledger(index);
  for (const name of ['a', 'b'])
    expectReservation(ledger, expectPlacement(index, pod(`pod-of-${name}`, [name])));
  const { waker } = expectRefusal(index, pod('p', ['c']));
  const { change } = index.upsert('CSIStorageCapacity', report('2', '3Gi'));
  expect(waker.wokenBy(change!)).toBe(true);
  expect(fits(index, ['c'])).toBe(true);
});

test('kube-scheduler does not know the smallest volume, nor does the profile upstream', () => {
  const index = clusterOf({ ...base, CSIStorageCapacity: [report('1', '40Gi')] }, upstreamProfile);
  expect(fits(index, ['a'])).toBe(true);
});
