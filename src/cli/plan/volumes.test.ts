/** The outcomes of volumes, and of pods because of volumes or of other pods. Most cases were found by the property. */
import { describe, expect, test } from 'vitest';
import {
  boundClaim,
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
import type { Condition } from '../../kube/api/meta.ts';
import { drivesDriver } from '../../kube/stowage/drive.ts';
import { makePlan } from '../../queries/plan/make-plan.ts';
import { twoDrives } from '../../queries/plan/testing/plan-views.ts';
import { nodeWith, podWith, viewOf } from '../../queries/testing/cluster-views.ts';
import type { ClusterView } from '../../queries/view/cluster-view.ts';
import { exitCodeOfPlan } from './run.ts';

const options = { nowMs: Date.parse('2026-01-01T00:00:00Z'), profile: 'stowage' } as const;
const namespace = 'default';
const driver = 'pools.example.com';

/** A StatefulSet `db` without members. Each would have a claim of 4Gi. */
function emptySet(
  storageClassName: string,
  spec: Partial<NonNullable<StatefulSet['spec']>> = {},
): StatefulSet {
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

/** As a file: of several `--replicas` for one workload only the last one counts. */
const replicas = (count: number): WhatIfChange => ({
  kind: 'apply',
  objects: [
    { kind: 'StatefulSet', metadata: { namespace, name: 'db' }, spec: { replicas: count } } as StatefulSet,
  ],
});

/** Pods `more-0`, `more-1`, ..., each with a claim. */
function podsWithClaims(count: number, className: string, size = '4Gi'): WhatIfChange {
  const names = Array.from({ length: count }, (_, at) => `more-${at}`);
  const claimOf = (name: string) => ({
    ...claim(name, size, { className }),
    kind: 'PersistentVolumeClaim',
  });
  return {
    kind: 'apply',
    objects: [
      ...names.map(claimOf),
      ...names.map((name) => ({ ...podWith(name, '100m', [name]), kind: 'Pod' })),
    ],
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

describe('an inline volume on one of two drives with as many free bytes', () => {
  /** Whether a volume of 8Gi still fits on the first drive after the pod was placed. */
  function hasRoomOnFirst(podName: string, conditions: readonly Condition[]): boolean {
    const class1 = storageClass('first', { provisioner: drivesDriver });
    const plain = podWith(podName, '1');
    const volumes = [inlineVolume('scratch', drivesDriver, '3Gi')];
    const drives = [drive('d1', 10, { labels: { rack: 'r1' } }), drive('d2', 10)];
    const view = viewOf({
      Node: [driveNode('n1')],
      StorageClass: [{ ...class1, parameters: { driveLabels: 'rack=r1' } }],
      CSIDriver: [csiDriver(drivesDriver)],
      Drive: drives.map((one) => ({ ...one, status: { ...one.status, conditions } })),
      Pod: [{ ...plain, spec: { ...plain.spec, volumes } }],
    });
    return placesOf(view, podsWithClaims(1, 'first', '8Gi')).stranded.length === 0;
  }
  const names = Array.from({ length: 8 }, (_, at) => `pod-${at}`);

  test('is where the node service puts it, wherever the scheduler has planned it', () => {
    const mounted = [{ type: 'Mounted', status: 'True' } as Condition];
    expect(names.map((name) => hasRoomOnFirst(name, mounted))).toEqual(names.map(() => false));
  });

  test('is where the scheduler has planned it, if no node service runs', () => {
    expect(new Set(names.map((name) => hasRoomOnFirst(name, []))).size).toBe(2);
  });
});

describe('a drained drive whose volume fits on no other', () => {
  const drain = [{ kind: 'drain-drive', drive: 'd1' }] as const;

  test('is a failure though no pod uses the volume', () => {
    const view = twoDrives();
    for (const name of ['files', 'notes']) view.snapshot.remove('Pod', `default/${name}`);
    const report = makePlan(view, drain, options);
    expect(report.stuck).toEqual([]);
    expect(report.summary).toContain('1 volume cannot leave its drive');
    expect(exitCodeOfPlan(report, drain)).toBe(3);
  });

  /** Two members, the last one with a claim on the drive. Each may have an inline volume there too. */
  function orderedSet(hasInline: boolean): ClusterView {
    const names = ['db-0', 'db-1'];
    const podRef = (name: string) => ({ namespace, name, uid: `uid-${name}` });
    const claimRef = { namespace, name: 'data-db-1', uid: 'uid-data-db-1' };
    const full = drive('d1', 12, {
      spec: {
        volumes: [
          ...(hasInline ? names : []).map((name) => ({
            name: `csi-${name}`,
            sizeBytes: 4 * 2 ** 30,
            podRef: podRef(name),
          })),
          { name: 'pvc-uid-data-db-1', sizeBytes: 4 * 2 ** 30, claimRef },
        ],
      },
    });
    const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'uid-db', controller: true };
    const volumes = hasInline ? [inlineVolume('scratch', drivesDriver, '4Gi')] : [];
    const claims = [{ name: 'data', persistentVolumeClaim: { claimName: 'data-db-1' } }];
    return viewOf({
      Node: [driveNode('n1')],
      CSIDriver: [csiDriver(drivesDriver)],
      StorageClass: [storageClass('drives', { provisioner: drivesDriver })],
      Drive: [full, drive('d2', 2)],
      PersistentVolumeClaim: [boundClaim('data-db-1', '4Gi', 'pvc-uid-data-db-1', { className: 'drives' })],
      StatefulSet: [
        emptySet('drives', { replicas: 2, podManagementPolicy: 'OrderedReady', volumeClaimTemplates: [] }),
      ],
      Pod: names.map((name, at) => {
        const { metadata, spec } = podWith(name, '0', [], 'n1');
        return {
          metadata: { ...metadata, ownerReferences: [owner] },
          spec: { ...spec, volumes: at === 0 ? volumes : [...volumes, ...claims] },
        };
      }),
    });
  }

  test.each([
    ['with its inline volume', true, drain],
    ['with its node', false, [{ kind: 'drain-node', node: 'n1' } as const, ...drain]],
  ])('keeps no pod that leaves %s', (_, hasInline, changes) => {
    const report = makePlan(orderedSet(hasInline), changes, options);
    expect(report.stranded.map(({ pod }) => pod)).toEqual(['default/db-0', 'default/db-1']);
    expect(report.stuck).toEqual([]);
    expect(exitCodeOfPlan(report, changes)).toBe(3);
  });
});

test('a pod that waits for its victims to leave evicts no others', () => {
  const started = (name: string, cpu: string, node: string, startTime: string): Pod => ({
    ...podWith(name, cpu, [], node),
    status: { startTime },
  });
  const view = viewOf({
    Node: [nodeWith('n1', '2'), nodeWith('n2', '2')],
    Pod: [
      started('old-1', '500m', 'n1', '2025-06-01T00:00:00Z'),
      started('old-2', '500m', 'n2', '2025-01-01T00:00:00Z'),
      started('recent-1', '900m', 'n1', '2025-07-01T00:00:00Z'),
      started('recent-2', '900m', 'n2', '2025-02-01T00:00:00Z'),
    ],
  });
  const important = ['a', 'b'].map((name) => {
    const plain = podWith(name, '900m');
    return { ...plain, kind: 'Pod', spec: { ...plain.spec, priority: 10 } };
  });
  const report = makePlan(view, [{ kind: 'apply', objects: important }], options);
  expect(report.moves.map(({ pod }) => pod)).toEqual(['default/a', 'default/b']);
  expect(report.lost.map(({ pod }) => pod).sort()).toEqual(['default/recent-1', 'default/recent-2']);
});

test('a pod that evicts another for bytes on drives gets them, also while the volume is being deleted', () => {
  const mounted = [{ type: 'Mounted', status: 'True' } as Condition];
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'uid-web', controller: true };
  const podRef = { namespace, name: 'web-1', uid: 'uid-web-1' };
  const full = drive('d1', 4, { spec: { volumes: [{ name: 'csi-1', sizeBytes: 3 * 2 ** 30, podRef }] } });
  const podUsing = (name: string, volumes: readonly string[], nodeName?: string): Pod => {
    const plain = podWith(name, '0', [], nodeName);
    return {
      ...plain,
      spec: { ...plain.spec, volumes: volumes.map((volume) => inlineVolume(volume, drivesDriver, '3Gi')) },
    };
  };
  const [web, important] = [podUsing('web-1', ['a'], 'n1'), podUsing('important', ['a', 'b'])];
  const view = viewOf({
    Node: [driveNode('n1')],
    CSIDriver: [csiDriver(drivesDriver)],
    Drive: [full, drive('d2', 5)].map((one) => ({ ...one, status: { ...one.status, conditions: mounted } })),
    Pod: [{ ...web, metadata: { ...web.metadata, ownerReferences: [owner] } }],
  });
  const apply = { ...important, kind: 'Pod', spec: { ...important.spec, priority: 10 } };
  const report = makePlan(view, [{ kind: 'apply', objects: [apply] }], options);
  expect(report.moves.map(({ pod, to }) => `${pod} ${to}`)).toEqual(['default/important n1']);
  expect(report.stranded.map(({ pod }) => pod)).toEqual(['default/web-1']);
  expect(report.notes).toEqual([]);
});
