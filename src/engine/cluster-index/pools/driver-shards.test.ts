import { describe, expect, test, vi } from 'vitest';
import type { DriverCapacity, StoragePool } from '../../../kube/stowage/driver-capacity.ts';
import { clusterOf } from '../../testing/cluster.ts';
import { expectPlacement, expectRefusal } from '../../testing/expect-plan.ts';
import { claim, csiClass, csiDriver, driverCapacity, node, pod, pool } from '../../testing/objects.ts';
import { plan } from '../../testing/whole-engine.ts';
import type { ClusterIndex } from '../cluster-index.ts';
import { PoolTable } from './pool-table.ts';

const driver = 'disk.csi';

/** An object that carries pools of the driver under its own name. */
function shard(name: string, version: string, ...pools: readonly StoragePool[]): DriverCapacity {
  const object = driverCapacity(name, [{ storageClassName: 'local', pools }], version);
  return { ...object, spec: { driver, capacityTracking: true } };
}

const on = (nodeName: string, size: string) => pool(nodeName, size, { nodeList: [nodeName] });

function clusterWith(...objects: readonly DriverCapacity[]): ClusterIndex {
  return clusterOf({
    Node: [node('n1'), node('n2')],
    StorageClass: [csiClass(driver, 'local')],
    CSIDriver: [csiDriver(driver)],
    DriverCapacity: objects,
    PersistentVolumeClaim: [claim('data', '5Gi')],
  });
}

const data = pod('p', ['data']);

describe('DriverCapacity objects of one driver', () => {
  test('all count: a volume fits where the pool of any of them has the capacity', () => {
    const index = clusterWith(shard('a', '1', on('n1', '1Gi')), shard('b', '1', on('n2', '9Gi')));
    expect(expectPlacement(index, data).node).toBe('n2');
  });

  test('can be joined by one that has the driver’s own name', () => {
    const own = driverCapacity(driver, [{ storageClassName: 'local', pools: [on('n1', '9Gi')] }]);
    const index = clusterWith(own, shard('b', '1', on('n2', '1Gi')));
    expect(expectPlacement(index, data).node).toBe('n1');
  });

  test('that do not track capacity count for nothing', () => {
    const silent = { ...shard('b', '1', on('n2', '9Gi')), spec: { driver, capacityTracking: false } };
    const index = clusterWith(shard('a', '1', on('n1', '1Gi')), silent);
    expectRefusal(index, data);
    index.upsert('DriverCapacity', shard('b', '2', on('n2', '9Gi')));
    expect(expectPlacement(index, data).node).toBe('n2');
  });

  test('leave the driver tracked until the last of them is deleted', () => {
    const index = clusterWith(shard('a', '1', on('n1', '1Gi')), shard('b', '1', on('n2', '1Gi')));
    index.upsert('CSIDriver', { metadata: { name: driver, resourceVersion: '9' }, spec: {} });
    index.remove('DriverCapacity', 'a');
    const refusal = expectRefusal(index, data);
    const { change } = index.remove('DriverCapacity', 'b');
    expect(plan(data, index, { nowMs: 0 }).kind).toBe('placement');
    expect(refusal.wokenBy(change!)).toBe(true);
  });

  test('with a pool of the same name share its disks: a promise of one is deducted from both', () => {
    const index = clusterWith(shard('a', '1', pool('net', '10Gi')), shard('b', '1', pool('net', '10Gi')));
    index.upsert('PersistentVolumeClaim', claim('other', '6Gi', { selectedNode: 'n1' }));
    expectRefusal(index, data);
  });
});

describe('an update of one pool of 1,000', () => {
  const names = Array.from({ length: 1000 }, (_, position) => `p${position}`);
  const apart = names.map((name) => shard(`shard-${name}`, '1', on(name, '1Gi')));
  const together = shard('all', '1', ...names.map((name) => on(name, '1Gi')));
  const changed = (size: string) => ({
    'an object each': [apart, shard('shard-p7', '2', on('p7', size))] as const,
    'one object': [
      [together],
      shard('all', '2', ...names.map((name) => on(name, name === 'p7' ? size : '1Gi'))),
    ] as const,
  });
  const forms = ['an object each', 'one object'] as const;

  test.each(forms)('in %s writes one pool, and moves no promise', (form) => {
    const [objects, update] = changed('2Gi')[form];
    const index = clusterWith(...objects);
    const records = new Map([...index.pools.records()].map((record) => [record.key, record]));
    const { structureVersion } = index.pools;
    const put = vi.spyOn(PoolTable.prototype, 'put');
    const { change } = index.upsert('DriverCapacity', update);
    expect(put).toHaveBeenCalledTimes(1);
    put.mockRestore();
    expect(index.pools.structureVersion).toBe(structureVersion);
    expect([...index.pools.records()].filter((record) => records.get(record.key) !== record)).toHaveLength(1);
    expect(change).toMatchObject({ kind: 'DriverCapacity', difference: { pools: [expect.anything()] } });
  });

  test.each(forms)('in %s wakes pods only if the pool grew enough for them', (form) => {
    const wokenBy = (size: string) => {
      const [objects, update] = changed(size)[form];
      const index = clusterWith(...objects);
      const refusal = expectRefusal(index, data);
      return refusal.wokenBy(index.upsert('DriverCapacity', update).change!);
    };
    expect({ '512Mi': wokenBy('512Mi'), '4Gi': wokenBy('4Gi'), '5Gi': wokenBy('5Gi') }).toEqual({
      '512Mi': false,
      '4Gi': false,
      '5Gi': true,
    });
  });

  test.each(forms)('in %s can be rolled back', (form) => {
    const [objects, update] = changed('9Gi')[form];
    const index = clusterWith(...objects);
    const before = [...index.pools.records()];
    const savepoint = index.savepoint();
    index.upsert('DriverCapacity', update);
    index.rollback(savepoint);
    expect([...index.pools.records()]).toEqual(before);
  });
});
