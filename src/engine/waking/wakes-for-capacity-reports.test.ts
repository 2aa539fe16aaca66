import { describe, expect, test } from 'vitest';
import type { CSIStorageCapacity } from '../../kube/api/storage.ts';
import { labels } from '../../kube/well-known.ts';
import { type ClusterObjects, clusterOf } from '../testing/cluster.ts';
import { expectRefusal } from '../testing/expect-plan.ts';
import {
  atVersion,
  boundClaim,
  claim,
  csiClass,
  csiDriver,
  node,
  pod,
  storageCapacity,
} from '../testing/objects.ts';
import { plan } from '../testing/whole-engine.ts';

const data = pod('p', ['data']);
const driver = 'disk.csi';

const dynamic: ClusterObjects = {
  StorageClass: [csiClass(driver, 'local')],
  CSIDriver: [csiDriver(driver)],
  PersistentVolumeClaim: [claim('data', '5Gi')],
};

test('a capacity report that falls by the bytes of a new volume does not wake a pod that other nodes refuse for its volumes', () => {
  const onNode = (size: string, version: string) => ({
    ...storageCapacity('net', 'local', { capacity: size, version }),
    nodeTopology: { matchLabels: { [labels.hostname]: 'n1' } },
  });
  const index = clusterOf({
    ...dynamic,
    Node: [{ ...node('n1'), spec: { unschedulable: true } }, node('n2')],
    CSIStorageCapacity: [onNode('20Gi', '1')],
    PersistentVolumeClaim: [claim('data', '5Gi'), claim('theirs', '6Gi', { selectedNode: 'n1' })],
  });
  index.upsert('PersistentVolumeClaim', atVersion('2', boundClaim('theirs', '6Gi', 'pv-theirs')));
  const refusal = expectRefusal(index, data);
  const { change } = index.upsert('CSIStorageCapacity', onNode('14Gi', '2'));
  expect(plan(data, index, { nowMs: 0 }).kind).toBe('refusal');
  expect(refusal.wokenBy(change!)).toBe(false);
});

describe('disks that two classes share', () => {
  const backed = (className: string, size: string, version: string): CSIStorageCapacity => ({
    ...storageCapacity(className, className, { capacity: size }),
    metadata: {
      namespace: 'storage',
      name: className,
      uid: `uid-${className}`,
      resourceVersion: version,
      labels: { [labels.backingPool]: 'vg-1' },
    },
  });
  const shared: ClusterObjects = {
    Node: [node('n1')],
    StorageClass: [csiClass(driver, 'local'), csiClass(driver, 'mirrored')],
    CSIDriver: [csiDriver(driver)],
    CSIStorageCapacity: [backed('local', '10Gi', '1'), backed('mirrored', '10Gi', '1')],
    PersistentVolumeClaim: [
      claim('data', '5Gi'),
      claim('theirs', '6Gi', { className: 'mirrored', selectedNode: 'n1' }),
    ],
  };

  test('wake the pod when the report of its pool includes a volume of the other class', () => {
    const index = clusterOf(shared);
    index.upsert(
      'PersistentVolumeClaim',
      atVersion('2', boundClaim('theirs', '6Gi', 'pv-theirs', { className: 'mirrored' })),
    );
    const refusal = expectRefusal(index, data);
    const { change } = index.upsert('CSIStorageCapacity', backed('mirrored', '9Gi', '2'));
    expect(plan(data, index, { nowMs: 0 }).kind).toBe('placement');
    expect(refusal.wokenBy(change!)).toBe(true);
  });

  test('wake the pod when the pool of the other class grows, so that its promises cost less here', () => {
    const index = clusterOf(shared);
    const refusal = expectRefusal(index, data);
    const { change } = index.upsert('CSIStorageCapacity', backed('mirrored', '100Gi', '2'));
    expect(plan(data, index, { nowMs: 0 }).kind).toBe('placement');
    expect(refusal.wokenBy(change!)).toBe(true);
  });

  test('do not wake the pod when the report of the other class falls', () => {
    const index = clusterOf(shared);
    const refusal = expectRefusal(index, data);
    const { change } = index.upsert('CSIStorageCapacity', backed('mirrored', '9Gi', '2'));
    expect(plan(data, index, { nowMs: 0 }).kind).toBe('refusal');
    expect(refusal.wokenBy(change!)).toBe(false);
  });

  test('of other classes do not wake the pod, whatever happens to them', () => {
    const index = clusterOf({
      ...shared,
      StorageClass: [...shared.StorageClass!, csiClass(driver, 'small')],
      PersistentVolumeClaim: [...shared.PersistentVolumeClaim!, claim('mine', '5Gi', { className: 'small' })],
    });
    const asking = pod('p', ['mine']);
    const refusal = expectRefusal(index, asking);
    for (const [size, version] of [
      ['9Gi', '2'],
      ['100Gi', '3'],
    ] as const) {
      const { change } = index.upsert('CSIStorageCapacity', backed('mirrored', size, version));
      expect(refusal.wokenBy(change!)).toBe(false);
    }
    expect(plan(asking, index, { nowMs: 0 }).kind).toBe('refusal');
  });
});
