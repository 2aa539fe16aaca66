import { describe, expect, test } from 'vitest';
import type { PersistentVolume } from '../../../kube/api/core.ts';
import type { CSIDriver } from '../../../kube/api/storage.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { stowageProfile, upstreamProfile } from '../../cluster-index/profile.ts';
import { type ClusterObjects, clusterOf } from '../../testing/cluster.ts';
import { expectPlacement, expectReservation, verdictOf } from '../../testing/expect-plan.ts';
import { ebs, overLimit } from '../../testing/limit-cases.ts';
import {
  boundClaim,
  claim,
  csiClass,
  csiDriver,
  csiNode,
  node,
  pod,
  storageClass,
  volume,
} from '../../testing/objects.ts';
import { Ledger, plan } from '../../testing/whole-engine.ts';

function csi(name: string, driver: string, phase = 'Available'): PersistentVolume {
  return volume(name, '1Gi', { phase, spec: { csi: { driver, volumeHandle: name } } });
}

function messageOf(objects: ClusterObjects, claims: readonly string[], profile = stowageProfile): string {
  return verdictOf(clusterOf({ Node: [node('n1')], ...objects }, profile), pod('new', claims));
}

describe('limits apply to the volumes that a plan would use', () => {
  const full = csiNode('n1', { [ebs]: 0 });

  test('an existing volume of another driver takes no slot of the provisioner of its class', () => {
    const objects: ClusterObjects = {
      CSINode: [full],
      StorageClass: [csiClass(ebs, 'local')],
      PersistentVolume: [csi('v1', 'other.csi')],
      PersistentVolumeClaim: [claim('data', '1Gi')],
    };
    expect(messageOf(objects, ['data'])).toBe('fits');
    expect(messageOf(objects, ['data'], upstreamProfile)).toBe(overLimit);
  });

  test('an existing volume of the driver takes a slot, although its class has no provisioner', () => {
    const objects: ClusterObjects = {
      CSINode: [full],
      StorageClass: [storageClass('local')],
      PersistentVolume: [csi('v1', ebs)],
      PersistentVolumeClaim: [claim('data', '1Gi')],
    };
    expect(messageOf(objects, ['data'])).toBe(overLimit);
    // kube-scheduler checks only the provisioner, and the volume then can't be attached.
    expect(messageOf(objects, ['data'], upstreamProfile)).toBe('fits');
  });

  test('a node with a free slot is preferred to one without', () => {
    const index = clusterOf({
      Node: [node('n1'), node('n2')],
      CSINode: [full, csiNode('n2', { [ebs]: 1 })],
      StorageClass: [csiClass(ebs, 'local')],
      PersistentVolumeClaim: [claim('data', '1Gi')],
    });
    expect(plan(pod('new', ['data']), index, { nowMs: 0 })).toMatchObject({ node: 'n2' });
  });
});

describe('slots are reserved', () => {
  const cluster = () =>
    clusterOf({
      Node: [node('n1')],
      CSINode: [csiNode('n1', { [ebs]: 1 })],
      StorageClass: [csiClass(ebs, 'local')],
      PersistentVolumeClaim: [claim('a', '1Gi'), claim('b', '1Gi')],
    });
  const planned = (index: ClusterIndex, name: string) => expectPlacement(index, pod(`pod-${name}`, [name]));

  test('together with a placement, and are free again when it is reverted', () => {
    const index = cluster();
    const ledger = new Ledger(index);
    const reservation = expectReservation(ledger, planned(index, 'a'));
    expect(verdictOf(index, pod('pod-b', ['b']))).toBe(overLimit);
    ledger.revert(reservation);
    expect(verdictOf(index, pod('pod-b', ['b']))).toBe('fits');
  });

  test('so that of two plans for the last slot only the first can be reserved', () => {
    const index = cluster();
    const ledger = new Ledger(index);
    const [first, second] = [planned(index, 'a'), planned(index, 'b')];
    expect(ledger.reserve(first).kind).toBe('reserved');
    expect(ledger.reserve(second).kind).toBe('refused');
  });
});

describe('a driver that refuses nodes without it', () => {
  const strict: CSIDriver = csiDriver(ebs, { preventPodSchedulingIfMissing: true });
  const notInstalled = `0/1 nodes are available: 1 ${ebs} CSI driver is not installed on the node.`;
  const unbound: ClusterObjects = {
    StorageClass: [csiClass(ebs, 'local')],
    PersistentVolumeClaim: [claim('data', '1Gi')],
  };
  const bound: ClusterObjects = {
    PersistentVolume: [csi('v1', ebs, 'Bound')],
    PersistentVolumeClaim: [boundClaim('data', '1Gi', 'v1')],
  };

  test.each([
    ['a waiting claim', unbound],
    ['a bound claim', bound],
  ])('keeps %s from a node whose CSINode lacks it', (_, objects) => {
    const lacking = { ...objects, CSIDriver: [strict], CSINode: [csiNode('n1', { 'other.csi': 5 })] };
    expect(messageOf(lacking, ['data'])).toBe(notInstalled);
    expect(messageOf({ ...objects, CSIDriver: [strict] }, ['data'])).toBe(notInstalled);
    // The gate is off by default in the version that profile `upstream` follows.
    expect(messageOf(lacking, ['data'], upstreamProfile)).toBe('fits');
  });

  test.each([
    ['a waiting claim', unbound],
    ['a bound claim', bound],
  ])('lets %s onto a node that has it', (_, objects) => {
    const installed = (limit: number | undefined) => [csiNode('n1', { [ebs]: limit })];
    expect(messageOf({ ...objects, CSIDriver: [strict], CSINode: installed(undefined) }, ['data'])).toBe(
      'fits',
    );
    expect(messageOf({ ...objects, CSIDriver: [strict], CSINode: installed(1) }, ['data'])).toBe('fits');
    expect(messageOf({ ...objects, CSIDriver: [strict], CSINode: installed(0) }, ['data'])).toBe(overLimit);
  });

  test('is one with the field set: not one without it, nor one without a CSIDriver', () => {
    expect(messageOf({ ...unbound, CSIDriver: [csiDriver(ebs, {})] }, ['data'])).toBe('fits');
    expect(messageOf(unbound, ['data'])).toBe('fits');
  });
});
