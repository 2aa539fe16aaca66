import { describe, expect, test } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../../kube/api/core.ts';
import { annotations } from '../../../kube/well-known.ts';
import { type ClusterObjects, clusterOf } from '../../testing/cluster.ts';
import {
  boundClaim,
  claim,
  csiClass,
  csiDriver,
  driverCapacity,
  gib,
  inlineVolume,
  node,
  pod,
  pool,
  volume,
} from '../../testing/objects.ts';
import type { ClusterIndex } from '../cluster-index.ts';

const driver = 'disk.csi';
const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();
const base: ClusterObjects = {
  Node: [node('n1')],
  StorageClass: [csiClass(driver, 'local')],
  CSIDriver: [csiDriver(driver)],
};

function report(size: string, version: string, more: { measuredAt?: string; expiryTime?: string } = {}) {
  const pools = [pool('net', size, more)];
  return driverCapacity(
    driver,
    [
      { storageClassName: 'local', pools },
      { storageClassName: '<ephemeral>', pools },
    ],
    version,
  );
}

function available(index: ClusterIndex, className = 'local'): number {
  const row = index.pools.row(`DriverCapacity ${driver} ${className} net`)!;
  return index.pools.available(row).bytes / gib(1);
}

const inFlight = claim('a', '6Gi', { selectedNode: 'n1' });
const bound: PersistentVolumeClaim = boundClaim('a', '6Gi', 'pv-a', {
  metadata: {
    namespace: 'default',
    name: 'a',
    uid: 'uid-a',
    resourceVersion: '2',
    annotations: { [annotations.bindCompleted]: 'yes', [annotations.selectedNode]: 'n1' },
  },
});
/** Its volume was created at second 10. */
const persistentVolume: PersistentVolume = volume('pv-a', '6Gi', {
  phase: 'Bound',
  metadata: { name: 'pv-a', annotations: { [annotations.volumeCreatedAt]: at(10) } },
  spec: {
    claimRef: { namespace: 'default', name: 'a', uid: 'uid-a' },
    persistentVolumeReclaimPolicy: 'Delete',
  },
});

function clusterWith(...reports: readonly ReturnType<typeof report>[]): ClusterIndex {
  const index = clusterOf({ ...base, PersistentVolumeClaim: [inFlight] });
  for (const each of reports) index.upsert('DriverCapacity', each);
  index.settle(0);
  return index;
}

describe('the promise of a volume', () => {
  test('is deducted once if a capacity report is published between the volume’s creation and its binding', () => {
    const index = clusterWith(report('10Gi', '1', { measuredAt: at(0) }));
    expect(available(index)).toBe(4);
    index.upsert('DriverCapacity', report('4Gi', '2', { measuredAt: at(11) }));
    index.upsert('PersistentVolume', persistentVolume);
    expect(available(index)).toBe(4);
    index.upsert('PersistentVolumeClaim', bound);
    expect(available(index)).toBe(4);
  });

  test.each([{ measuredAt: at(0) }, {}])('stays if only an expiry is renewed, with %o', (more) => {
    const index = clusterWith(report('10Gi', '1', { ...more, expiryTime: at(30) }));
    index.upsert('PersistentVolume', persistentVolume);
    index.upsert('PersistentVolumeClaim', bound);
    index.upsert('DriverCapacity', report('10Gi', '2', { ...more, expiryTime: at(50) }));
    expect(available(index)).toBe(4);
  });

  test('stays if a report that was measured before is published after the binding', () => {
    const index = clusterWith(report('10Gi', '1', { measuredAt: at(0) }));
    index.upsert('PersistentVolume', persistentVolume);
    index.upsert('PersistentVolumeClaim', bound);
    index.upsert('DriverCapacity', report('9Gi', '2', { measuredAt: at(9) }));
    expect(available(index)).toBe(3);
    index.upsert('DriverCapacity', report('3Gi', '3', { measuredAt: at(11) }));
    expect(available(index)).toBe(3);
  });

  test('does not expire while its publisher says when it measures', () => {
    const index = clusterWith(report('10Gi', '1', { measuredAt: at(0) }));
    index.upsert('PersistentVolume', persistentVolume);
    index.upsert('PersistentVolumeClaim', bound);
    for (const nowMs of [1, 1e6, 1e9]) index.settle(nowMs);
    expect(available(index)).toBe(4);
  });

  test('outlives a claim that is deleted before it is bound, until a report includes the volume', () => {
    const index = clusterWith(report('10Gi', '1', { measuredAt: at(0) }));
    index.upsert('PersistentVolume', persistentVolume);
    index.remove('PersistentVolumeClaim', 'default/a');
    expect(available(index)).toBe(4);
    index.upsert('DriverCapacity', report('4Gi', '2', { measuredAt: at(11) }));
    expect(available(index)).toBe(4);
  });

  test('comes back if the volume is seen after the deletion of its claim', () => {
    const index = clusterWith(report('10Gi', '1', { measuredAt: at(0) }));
    index.remove('PersistentVolumeClaim', 'default/a');
    index.upsert('PersistentVolume', persistentVolume);
    expect(available(index)).toBe(4);
    index.remove('PersistentVolume', 'pv-a');
    expect(available(index)).toBe(10);
  });

  test('ends with a claim that is deleted before it has a volume', () => {
    const index = clusterWith(report('10Gi', '1', { measuredAt: at(0) }));
    index.remove('PersistentVolumeClaim', 'default/a');
    expect(available(index)).toBe(10);
  });

  test('survives a restart', () => {
    const index = clusterOf({
      ...base,
      PersistentVolumeClaim: [bound],
      PersistentVolume: [persistentVolume],
      DriverCapacity: [report('10Gi', '1', { measuredAt: at(0) })],
    });
    index.settle(0);
    expect(available(index)).toBe(4);
  });

  test('survives a restart where the annotation of the selected node was removed by hand', () => {
    const { metadata } = bound;
    const isBound = {
      [annotations.bindCompleted]: 'yes',
      [annotations.pool]: `DriverCapacity ${driver}/net`,
    };
    const edited = { ...bound, metadata: { ...metadata, annotations: isBound } };
    const index = clusterOf({
      ...base,
      Node: [],
      PersistentVolumeClaim: [edited],
      PersistentVolume: [persistentVolume],
      DriverCapacity: [report('10Gi', '1', { measuredAt: at(0) })],
    });
    index.settle(0);
    expect(available(index)).toBe(10);
    index.upsert('Node', node('n1'));
    index.settle(0);
    expect(available(index)).toBe(4);
  });

  test('comes back with its node, if the volume was created while the node was gone', () => {
    const index = clusterWith(report('10Gi', '1', { measuredAt: at(0) }));
    index.remove('Node', 'n1');
    index.settle(0);
    index.upsert('PersistentVolume', persistentVolume);
    index.upsert('PersistentVolumeClaim', bound);
    for (const name of ['n2', 'n1']) {
      index.upsert('Node', node(name));
      index.settle(0);
    }
    expect(available(index)).toBe(4);
    index.upsert('DriverCapacity', report('4Gi', '2', { measuredAt: at(11) }));
    expect(available(index)).toBe(4);
  });

  test('comes back with its pool, if the claim was bound while there was none', () => {
    const measured = report('10Gi', '1', { measuredAt: at(0) });
    const index = clusterWith(measured);
    index.upsert('DriverCapacity', driverCapacity(driver, [{ storageClassName: 'local', pools: [] }], '2'));
    index.settle(0);
    index.upsert('PersistentVolume', persistentVolume);
    index.upsert('PersistentVolumeClaim', bound);
    index.upsert('DriverCapacity', report('10Gi', '3', { measuredAt: at(9) }));
    index.settle(0);
    expect(available(index)).toBe(4);
  });

  test('of a PersistentVolume without an exact time ends one second after its creation', () => {
    const foreign = {
      ...persistentVolume,
      metadata: {
        ...persistentVolume.metadata,
        creationTimestamp: at(10).replace('.000', ''),
        annotations: { [annotations.provisionedBy]: driver },
      },
    };
    const index = clusterWith(report('4Gi', '1', { measuredAt: at(11) }));
    index.upsert('PersistentVolume', foreign);
    expect(available(index)).toBe(-2);
    index.upsert('DriverCapacity', report('4Gi', '2', { measuredAt: at(11).replace('.000', '.001') }));
    expect(available(index)).toBe(4);
  });

  test('ends when the driver has deleted a volume that no report included', () => {
    const index = clusterWith(report('10Gi', '1', { measuredAt: at(0) }));
    index.upsert('PersistentVolume', persistentVolume);
    index.upsert('PersistentVolumeClaim', bound);
    index.remove('PersistentVolumeClaim', 'default/a');
    expect(available(index)).toBe(4);
    index.remove('PersistentVolume', 'pv-a');
    expect(available(index)).toBe(10);
  });
});

describe('the promise of an inline volume', () => {
  const redis = (startedAt?: string): Pod => ({
    ...pod('redis', [], { volumes: [inlineVolume('pmem', driver, '6Gi')], nodeName: 'n1' }),
    ...(startedAt !== undefined && {
      status: {
        conditions: [{ type: 'PodReadyToStartContainers', status: 'True', lastTransitionTime: startedAt }],
      },
    }),
  });
  const restarted = (measuredAt: string, object: Pod) => {
    const index = clusterOf({
      ...base,
      Pod: [object],
      DriverCapacity: [report('10Gi', '1', { measuredAt })],
    });
    index.settle(0);
    return available(index, '<ephemeral>');
  };

  test('is rebuilt from the assigned pod after a restart, until a report includes the volume', () => {
    expect(restarted(at(20), redis())).toBe(4);
    expect(restarted(at(10), redis('2026-01-01T00:00:10Z'))).toBe(4);
    expect(restarted(at(12), redis('2026-01-01T00:00:10Z'))).toBe(10);
  });

  test('ends with the pod', () => {
    const index = clusterOf({ ...base, Pod: [redis()], DriverCapacity: [report('10Gi', '1')] });
    index.settle(0);
    expect(available(index, '<ephemeral>')).toBe(4);
    index.remove('Pod', 'default/redis');
    expect(available(index, '<ephemeral>')).toBe(10);
  });

  test('has one size: fsSize and the attribute together are a problem that names both', () => {
    const object = pod('p', [], {
      volumes: [
        {
          name: 'v',
          csi: { driver, fsSize: '1Gi', volumeAttributes: { 'csi.storage.k8s.io/size': '2Gi' } },
        } as NonNullable<NonNullable<Pod['spec']>['volumes']>[number],
      ],
    });
    const { warnings } = clusterOf(base).upsert('Pod', object);
    expect(warnings.map(({ problem }) => problem)).toEqual([
      'spec.volumes[v].csi.fsSize and spec.volumes[v].csi.volumeAttributes[csi.storage.k8s.io/size]: both set the size of the volume; remove one of them',
    ]);
  });
});
