/** Volumes that pods leave behind within one plan. */
import { describe, expect, test } from 'vitest';
import {
  claim,
  csiDriver,
  drive,
  driveNode,
  inlineVolume,
  storageCapacity,
  storageClass,
  zone,
} from '../../engine/testing/objects.ts';
import type { WhatIfChange } from '../../engine/what-if/change.ts';
import type { StatefulSet } from '../../kube/api/apps.ts';
import type { Pod } from '../../kube/api/core.ts';
import { drivesDriver } from '../../kube/drive.ts';
import { nodeWith, podWith, viewOf } from '../explain/testing/cluster-views.ts';
import type { ClusterView } from '../source/cluster-view.ts';
import { makePlan } from './make-plan.ts';

const options = { nowMs: Date.parse('2026-01-01T00:00:00Z'), profile: 'stowage' } as const;
const namespace = 'default';
const driver = 'pools.example.com';

/** A StatefulSet `db` without members. Each would have a claim of 4Gi. */
function emptySet(storageClassName: string, spec: Partial<NonNullable<StatefulSet['spec']>> = {}): StatefulSet {
  const resources = { requests: { storage: '4Gi' } };
  return {
    kind: 'StatefulSet',
    metadata: { namespace, name: 'db', uid: 'uid-db' },
    spec: {
      replicas: 0,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: { app: 'db' } },
      template: {
        metadata: { labels: { app: 'db' } },
        spec: { containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }] },
      },
      volumeClaimTemplates: [
        { metadata: { name: 'data' }, spec: { storageClassName, accessModes: ['ReadWriteOnce'], resources } },
      ],
      ...spec,
    },
  };
}

/** A node in each of two zones, each of which has a pool of 10Gi. The larger node is in zone a. */
function twoZones(set: StatefulSet): ClusterView {
  const pool = (name: string) =>
    storageCapacity(`pool-${name}`, 'pools', {
      capacity: '10Gi',
      nodeTopology: { matchLabels: { [zone]: name } },
    });
  return viewOf({
    Node: [nodeWith('large', '8', { [zone]: 'a' }), nodeWith('small', '4', { [zone]: 'b' })],
    StorageClass: [storageClass('pools', { provisioner: driver })],
    CSIDriver: [csiDriver(driver)],
    CSIStorageCapacity: [pool('a'), pool('b')],
    StatefulSet: [set],
  });
}

const replicas = (count: number): WhatIfChange => ({
  kind: 'scale',
  workload: { kind: 'StatefulSet', namespace, name: 'db' },
  replicas: count,
});

/** Pods `more-0`, `more-1`, ..., each with a claim of 4Gi. */
function podsWithClaims(count: number, storageClassName: string): WhatIfChange {
  const names = Array.from({ length: count }, (_, at) => `more-${at}`);
  const claimOf = (name: string) => ({
    ...claim(name, '4Gi', { className: storageClassName }),
    kind: 'PersistentVolumeClaim',
  });
  return {
    kind: 'apply',
    objects: [...names.map(claimOf), ...names.map((name) => ({ ...podWith(name, '100m', [name]), kind: 'Pod' }))],
  };
}

const placesOf = (view: ClusterView, ...changes: readonly WhatIfChange[]) => {
  const { moves, stranded } = makePlan(view, changes, options);
  return { placed: moves.map(({ pod, to }) => `${pod} on ${to}`), stranded: stranded.map(({ pod }) => pod) };
};

describe('a StatefulSet that one change enlarges and the next one reduces', () => {
  test('keeps the bytes of its claims', () => {
    const { placed, stranded } = placesOf(
      twoZones(emptySet('pools')),
      replicas(3),
      replicas(0),
      podsWithClaims(2, 'pools'),
    );
    expect([placed.length, stranded.length]).toEqual([1, 1]);
  });

  test('releases them, if its retention policy says so', () => {
    const persistentVolumeClaimRetentionPolicy = { whenScaled: 'Delete' } as const;
    const { placed, stranded } = placesOf(
      twoZones(emptySet('pools', { persistentVolumeClaimRetentionPolicy })),
      replicas(3),
      replicas(0),
      podsWithClaims(4, 'pools'),
    );
    expect([placed.length, stranded.length]).toEqual([4, 0]);
  });

  test('finds its volume again, and only where that can be reached', () => {
    const pod = (name: string, cpu: string): WhatIfChange => ({
      kind: 'apply',
      objects: [{ ...podWith(name, cpu), kind: 'Pod' }],
    });
    const view = twoZones(emptySet('pools'));
    expect(placesOf(view, replicas(1)).placed).toEqual(['default/db-0 on large']);
    expect(placesOf(view, pod('big', '8'), replicas(1)).placed).toContain('default/db-0 on small');
    expect(placesOf(view, replicas(1), replicas(0), pod('big', '8'), replicas(1))).toEqual({
      placed: ['default/big on large'],
      stranded: ['default/db-0'],
    });
  });

  test('keeps its entries on drives', () => {
    const view = viewOf({
      Node: [driveNode('n1')],
      StorageClass: [storageClass('drives', { provisioner: drivesDriver })],
      CSIDriver: [csiDriver(drivesDriver)],
      Drive: [drive('d1', 10)],
      StatefulSet: [emptySet('drives')],
    });
    const reduced = [replicas(2), replicas(0)];
    expect(placesOf(view, ...reduced, podsWithClaims(1, 'drives')).stranded).toEqual(['default/more-0']);
    expect(placesOf(view, ...reduced, replicas(2)).stranded).toEqual([]);
  });
});

test('an inline volume that a drained node loses is free for the pods that remain', () => {
  const volumes = [inlineVolume('scratch', drivesDriver, '8Gi')];
  const pod = (name: string): Pod => {
    const plain = podWith(name, '1');
    return { ...plain, spec: { ...plain.spec, volumes } };
  };
  const condition = { type: 'Mounted', status: 'True' } as const;
  const mounted = drive('d1', 10, { status: { conditions: [condition as never] } });
  const view = viewOf({
    Node: [driveNode('n1')],
    CSIDriver: [csiDriver(drivesDriver)],
    Drive: [mounted],
    Pod: [pod('first'), pod('second')],
  });
  const { moves, stranded } = makePlan(view, [], options);
  expect([moves.length, stranded.length]).toEqual([1, 1]);
});
