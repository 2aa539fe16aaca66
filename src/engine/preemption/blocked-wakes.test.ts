/** Pods that lack cpu, and could not have their volumes even if others were evicted: which changes wake them. */
import { expect, test } from 'vitest';
import type { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { plan } from '../plan.ts';
import type { Refusal } from '../refusal/refusal.ts';
import { clusterOf } from '../testing/cluster.ts';
import { boundDiskClaim, disk, ebs } from '../testing/limit-cases.ts';
import {
  attachment,
  claim,
  csiDriver,
  csiNode,
  storageCapacity,
  storageClass,
  volume,
} from '../testing/objects.ts';
import { findVictims } from './find-victims.ts';
import {
  high,
  low,
  nodeWithCpu,
  nowMs,
  pendingPod,
  runningPod,
  veryHigh,
} from './testing/preemption-cluster.ts';

/** The refusal of a pod that needs all cpu of the node, and the claim. */
function refusalWith(index: ClusterIndex, claimName: string): Refusal {
  const pod = pendingPod('p', high, 500);
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName } }];
  const asking = { ...pod, spec: { ...pod.spec, volumes } };
  const refusal = plan(asking, index, { nowMs });
  if (refusal.kind !== 'refusal') return expect.fail('it fits');
  expect(refusal.message).toContain('Insufficient cpu');
  const preemption = findVictims(asking, refusal, index, { nowMs, budgets: [], nominated: [], seed: 0 });
  if (preemption.kind !== 'none') return expect.fail('preemption helps');
  return refusal.waitingForPreemption(preemption);
}

test('a pod whose pool is too small waits for the pool, not for attach slots', () => {
  const driver = 'pools.example.com';
  const pool = (capacity: string, version: string) => storageCapacity('pool', 'pools', { capacity, version });
  const index = clusterOf({
    Node: [nodeWithCpu('n1')],
    StorageClass: [storageClass('pools', { provisioner: driver })],
    CSIDriver: [csiDriver(driver)],
    CSIStorageCapacity: [pool('1Gi', '1')],
    PersistentVolumeClaim: [claim('data', '5Gi', { className: 'pools' })],
    Pod: [runningPod('busy', 'n1', low, 500)],
  });
  const refusal = refusalWith(index, 'data');
  expect(refusal.wokenBy(index.upsert('PersistentVolume', volume('other', '5Gi')).change!)).toBe(false);
  expect(refusal.wokenBy(index.upsert('VolumeAttachment', attachment('x', 'n1', ebs, 'other')).change!)).toBe(
    false,
  );
  expect(refusal.wokenBy(index.upsert('CSIStorageCapacity', pool('9Gi', '2')).change!)).toBe(true);
});

test('a pod whose volume the node cannot attach waits for attach slots', () => {
  const disks = ['a', 'b'];
  const other = runningPod('other', 'n1', veryHigh, 0);
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'a' } }];
  const index = clusterOf({
    Node: [nodeWithCpu('n1')],
    StorageClass: [storageClass('local')],
    CSINode: [csiNode('n1', { [ebs]: 1 })],
    PersistentVolume: disks.map((name) => disk(name)),
    PersistentVolumeClaim: disks.map((name) => boundDiskClaim(name)),
    Pod: [runningPod('busy', 'n1', low, 500), { ...other, spec: { ...other.spec, volumes } }],
  });
  const refusal = refusalWith(index, 'b');
  expect(refusal.wokenBy(index.upsert('VolumeAttachment', attachment('x', 'n1', ebs, 'b')).change!)).toBe(
    true,
  );
});
