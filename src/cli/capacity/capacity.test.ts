import { describe, expect, test } from 'vitest';
import {
  boundClaim,
  claim,
  csiDriver,
  driverCapacity,
  localVolume,
  storageCapacity,
  storageClass,
  volume,
} from '../../engine/testing/objects.ts';
import type { Pod } from '../../kube/api/core.ts';
import { annotations, labels } from '../../kube/well-known.ts';
import { measureCapacity } from '../../queries/capacity/measure-capacity.ts';
import type { CapacityReport } from '../../queries/capacity/report.ts';
import { nodeWith, podWith, twoPools, viewOf } from '../../queries/testing/cluster-views.ts';
import type { ClusterView } from '../../queries/view/cluster-view.ts';
import { plainTerminal, type Terminal } from '../output/terminal.ts';
import { poolNames, renderCapacity } from './render.ts';

const nowMs = Date.parse('2026-01-01T12:00:00Z');
const golden = (name: string) => `./testing/golden/${name}`;
const measured = (view: ClusterView) => measureCapacity(view, { nowMs });

const screen: Terminal = { width: 120, hasColour: false, isInteractive: true };
const utf8 = { LANG: 'de_DE.UTF-8' };

interface Look {
  readonly terminal?: Terminal;
  readonly isWide?: boolean;
  readonly env?: NodeJS.ProcessEnv;
}

function textOf(
  report: CapacityReport,
  { terminal = plainTerminal, isWide = false, env = {} }: Look = {},
): string {
  return renderCapacity(report, { terminal, isWide, env, nowMs });
}

/** Pools of today's form with a promise, a class without published capacity, and local disks of which one is taken. */
function mixedClusterView(): ClusterView {
  const { snapshot } = twoPools();
  const taken = localVolume('l-2', '20Gi', 'a1', { phase: 'Bound' });
  const made = localVolume('l-4', '7Gi', 'a1', {
    metadata: { annotations: { [annotations.provisionedBy]: 'x' } },
  });
  for (const volume of [
    localVolume('l-1', '10Gi', 'a1'),
    { ...taken, spec: { ...taken.spec, claimRef: { namespace: 'default', name: 'c' } } },
    localVolume('l-3', '5Gi', 'b1'),
    { ...made, metadata: { name: 'l-4', uid: 'uid-l-4', resourceVersion: '1', ...made.metadata } },
  ])
    snapshot.add('PersistentVolume', volume);
  snapshot.add('StorageClass', storageClass('nfs', { provisioner: 'nfs.example.com' }));
  return { ...twoPools(), snapshot, unseen: [] };
}

describe('capacity', () => {
  test('is shown by class, pool and volume, with bars on a terminal', async () => {
    const report = measured(mixedClusterView());
    await expect(textOf(report)).toMatchFileSnapshot(golden('mixed.txt'));
    await expect(textOf(report, { isWide: true })).toMatchFileSnapshot(golden('mixed-wide.txt'));
    await expect(textOf(report, { terminal: screen, env: utf8 })).toMatchFileSnapshot(golden('bars.txt'));
    await expect(textOf(report, { terminal: screen })).toMatchFileSnapshot(golden('bars-ascii.txt'));
    const colourful = { ...screen, hasColour: true };
    await expect(textOf(report, { terminal: colourful, env: utf8 })).toMatchFileSnapshot(
      golden('bars-colour.txt'),
    );
    await expect(`${JSON.stringify(report, undefined, 2)}\n`).toMatchFileSnapshot(golden('mixed-json.txt'));
    expect(poolNames(report)).toMatch(/^csistoragecapacity\/\S+zone-a\ncsistoragecapacity\/\S+zone-b\n$/);
  });

  test('that is used by volumes is shown, with the total', () => {
    const { snapshot } = twoPools();
    const inZone = (name: string, size: string, node: string) => {
      const made = localVolume(name, size, node, {
        metadata: { annotations: { [annotations.provisionedBy]: 'csi.example.com' } },
      });
      const csi = { driver: 'csi.example.com', volumeHandle: name };
      return {
        ...made,
        metadata: { ...made.metadata, name },
        spec: { ...made.spec, storageClassName: 'dyn', csi },
      };
    };
    for (const volume of [inZone('v1', '10Gi', 'a1'), inZone('v2', '5Gi', 'a1')])
      snapshot.add('PersistentVolume', volume);
    const report = measured({ ...twoPools(), snapshot, unseen: [] });
    expect(report.pools).toMatchObject([
      { pool: 'storage/zone-a', reported: '80Gi', used: '15Gi', total: '95Gi' },
      { pool: 'storage/zone-b', reported: '30Gi', used: '0', total: '30Gi' },
    ]);
    expect(report.classes).toMatchObject([{ used: '15Gi', total: '125Gi' }]);
    expect(textOf(report)).toMatch(/storage\/zone-a +95Gi +15Gi /);
  });

  test('of a volume that the figure does not include yet is promised, not used: nothing counts twice', () => {
    const pool = storageCapacity('p', 'dyn', { capacity: '80Gi', nodeTopology: {} });
    const measuredAt = (time: string) => ({
      ...pool,
      metadata: { ...pool.metadata, annotations: { [annotations.measuredAt]: time } },
    });
    const made = volume('v1', '10Gi');
    const marks = {
      annotations: { [annotations.bindCompleted]: 'yes', [annotations.selectedNode]: 'n1' },
    };
    const view = (time: string) =>
      viewOf({
        Node: [nodeWith('n1', '4')],
        StorageClass: [storageClass('dyn', { provisioner: 'csi.example.com' })],
        CSIDriver: [csiDriver('csi.example.com')],
        CSIStorageCapacity: [measuredAt(time)],
        PersistentVolumeClaim: [boundClaim('data', '10Gi', 'v1', { className: 'dyn', metadata: marks })],
        PersistentVolume: [
          {
            ...made,
            metadata: {
              ...made.metadata,
              name: 'v1',
              creationTimestamp: '2026-01-01T11:00:00Z',
              annotations: { [annotations.provisionedBy]: 'csi.example.com' },
            },
            spec: {
              ...made.spec,
              storageClassName: 'dyn',
              claimRef: { namespace: 'default', name: 'data', uid: 'uid-data' },
              csi: { driver: 'csi.example.com', volumeHandle: 'v1' },
            },
          },
        ],
      });
    expect(measured(view('2026-01-01T10:00:00Z')).pools).toMatchObject([
      { total: '80Gi', used: '0', promised: '10Gi', free: '70Gi' },
    ]);
    expect(measured(view('2026-01-01T11:30:00Z')).pools).toMatchObject([
      { total: '90Gi', used: '10Gi', promised: '0', free: '80Gi' },
    ]);
  });

  test('of disks that classes share includes what the other class uses, unless the classes count differently', () => {
    const pool = (className: string, capacity: string) => {
      const made = storageCapacity(className, className, { capacity, nodeTopology: {} });
      return { ...made, metadata: { ...made.metadata, labels: { [labels.backingPool]: 'disks' } } };
    };
    const made = volume('v1', '10Gi');
    const view = (mirrored: string) =>
      viewOf({
        Node: [nodeWith('n1', '4')],
        StorageClass: ['a', 'b'].map((name) => storageClass(name, { provisioner: 'd' })),
        CSIDriver: [csiDriver('d')],
        CSIStorageCapacity: [pool('a', '80Gi'), pool('b', mirrored)],
        PersistentVolume: [
          {
            ...made,
            metadata: { name: 'v1', uid: 'v1', annotations: { [annotations.provisionedBy]: 'd' } },
            spec: { ...made.spec, storageClassName: 'b', csi: { driver: 'd', volumeHandle: 'v1' } },
          },
        ],
      });
    const totals = (report: CapacityReport) => report.pools.map(({ used, total }) => [used, total]);
    expect(totals(measured(view('80Gi')))).toEqual([
      ['0', '90Gi'],
      ['10Gi', '90Gi'],
    ]);
    expect(totals(measured(view('40Gi')))).toEqual([
      ['0', undefined],
      ['10Gi', undefined],
    ]);
  });

  test('that inline volumes use is known if all of them have a size', () => {
    const inline = (fsSize: string | undefined) => {
      const pods = podWith('p', '1');
      const state = { running: { startedAt: '2026-01-01T10:00:00Z' } };
      return viewOf({
        Node: [nodeWith('n1', '4')],
        DriverCapacity: [
          driverCapacity('d', [
            {
              storageClassName: '<ephemeral>',
              pools: [{ name: 'p', capacity: '9Gi', nodeList: ['n1'], measuredAt: '2026-01-01T11:00:00Z' }],
            },
          ]),
        ],
        Pod: [
          {
            ...pods,
            spec: {
              ...pods.spec,
              nodeName: 'n1',
              volumes: [{ name: 'v', csi: { driver: 'd', ...(fsSize && { fsSize }) } }],
            },
            status: { containerStatuses: [{ name: 'c', state }] },
          } as Pod,
        ],
      });
    };
    expect(measured(inline('3Gi')).pools).toMatchObject([{ used: '3Gi', promised: '0', free: '9Gi' }]);
    expect(measured(inline(undefined)).pools).toMatchObject([{ used: undefined, free: '9Gi' }]);
  });

  test('is unknown where it is unknown which volumes are in a pool', () => {
    const { snapshot } = twoPools();
    const anywhere = volume('v1', '10Gi', {
      metadata: { annotations: { [annotations.provisionedBy]: 'csi.example.com' } },
    });
    snapshot.add('PersistentVolume', {
      ...anywhere,
      metadata: { ...anywhere.metadata, name: 'v1' },
      spec: {
        ...anywhere.spec,
        storageClassName: 'dyn',
        csi: { driver: 'csi.example.com', volumeHandle: 'v1' },
      },
    });
    const report = measured({ ...twoPools(), snapshot, unseen: [] });
    expect(report.pools.map(({ used, total }) => [used, total])).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ]);
    expect(report.classes).toMatchObject([{ used: '10Gi', total: undefined }]);
    expect(textOf(report)).toMatch(/storage\/zone-a +unknown +unknown /);
  });

  test('can be asked for by class', () => {
    const report = measureCapacity(mixedClusterView(), { nowMs, storageClass: 'local' });
    expect([report.classes.length, report.pools.length, report.volumes.length]).toEqual([0, 0, 2]);
  });

  test('of a DriverCapacity counts disks that pools share once, and old figures not at all', () => {
    const view = viewOf({
      Node: [nodeWith('n1', '4')],
      StorageClass: [
        storageClass('striped', { provisioner: 'd' }),
        storageClass('mirrored', { provisioner: 'd' }),
        storageClass('stale', { provisioner: 'd' }),
      ],
      DriverCapacity: [
        driverCapacity('d', [
          { storageClassName: 'striped', pools: [{ name: 'p', capacity: '100Gi' }] },
          { storageClassName: 'mirrored', pools: [{ name: 'p', capacity: '50Gi' }] },
          {
            storageClassName: 'stale',
            pools: [{ name: 'q', capacity: '9Gi', expiryTime: '2025-01-01T00:00:00Z' }],
          },
        ]),
      ],
      PersistentVolumeClaim: [claim('c', '20Gi', { className: 'mirrored', selectedNode: 'n1' })],
    });
    expect(measured(view).pools).toMatchObject([
      {
        storageClass: 'mirrored',
        promised: '20Gi',
        free: '30Gi',
        largestVolume: '30Gi',
        sharesWith: ['p (striped)'],
      },
      { storageClass: 'stale', isExpired: true, largestVolume: '0' },
      {
        storageClass: 'striped',
        promised: '40Gi',
        free: '60Gi',
        reach: { selector: 'every node', nodeCount: 1 },
      },
    ]);
    expect(textOf(measured(view))).toContain('expired');
  });

  test('has the time of its figure and its publisher', () => {
    const figures = (name: string, measuredAt?: string) => {
      const pools = [{ name, capacity: '9Gi', ...(measuredAt && { measuredAt }) }];
      const object = driverCapacity(name, [{ storageClassName: 'c', pools }]);
      const managedFields = [
        { manager: 'installer', time: '2026-01-01T00:00:00Z' },
        { manager: 'publisher', time: '2026-01-01T02:00:00Z' },
      ];
      return { ...object, metadata: { ...object.metadata, managedFields } };
    };
    const report = measured(
      viewOf({ DriverCapacity: [figures('a', '2026-01-01T11:57:00.250Z'), figures('b')] }),
    );
    expect(report.pools).toMatchObject([
      { measuredAt: '2026-01-01T11:57:00.250Z', measuredAtFrom: 'measurement', publishedBy: 'publisher' },
      { measuredAt: '2026-01-01T02:00:00Z', measuredAtFrom: 'write', publishedBy: 'publisher' },
    ]);
    expect(textOf(report)).toMatch(/ a .* 2m +publisher .*\n.* b .* 10h +publisher /);
    const labelled = figures('c');
    const metadata = { ...labelled.metadata, labels: { [labels.managedBy]: 'external-provisioner-n1' } };
    expect(measured(viewOf({ DriverCapacity: [{ ...labelled, metadata }] })).pools).toMatchObject([
      { publishedBy: 'external-provisioner-n1' },
    ]);
  });

  test('of a driver that does not exist, or that has expired, is marked', () => {
    const figures = (name: string, expiryTime: string) =>
      driverCapacity(name, [{ storageClassName: 'c', pools: [{ name, capacity: '9Gi', expiryTime }] }]);
    const objects = {
      Node: [nodeWith('n1', '4')],
      DriverCapacity: [figures('gone', '2027-01-01T00:00:00Z'), figures('here', '2025-01-01T00:00:00Z')],
    };
    const report = measured(viewOf({ ...objects, CSIDriver: [csiDriver('here')] }));
    expect(report.pools).toMatchObject([
      { pool: 'gone', isExpired: false, isOrphaned: true },
      { pool: 'here', isExpired: true, isOrphaned: false },
    ]);
    const narrow = { width: 60, hasColour: false, isInteractive: true };
    expect(textOf(report, { terminal: narrow })).toMatch(
      /POOL gone, [\s\S]*no driver[\s\S]*POOL here, [\s\S]*expired/,
    );
    const files = { ...viewOf(objects), isFromFiles: true };
    expect(measured(files).pools[0]).toMatchObject({ isOrphaned: false });
    const unseen = [{ kind: 'CSIDriver' }] as unknown as NonNullable<ClusterView['unseen']>;
    expect(measured({ ...viewOf(objects), unseen }).pools[0]).toMatchObject({ isOrphaned: false });
  });

  test('that is promised twice over is negative, and makes no volume', () => {
    const view = viewOf({
      Node: [nodeWith('n1', '4')],
      StorageClass: [storageClass('dyn', { provisioner: 'd' })],
      CSIDriver: [csiDriver('d')],
      CSIStorageCapacity: [storageCapacity('p', 'dyn', { capacity: '10Gi', nodeTopology: {} })],
      PersistentVolumeClaim: [claim('c', '30Gi', { className: 'dyn', selectedNode: 'n1' })],
    });
    const report = measured(view);
    expect(report.pools).toMatchObject([{ promised: '30Gi', free: '-20Gi', largestVolume: '0' }]);
    expect(report.classes).toMatchObject([{ reported: '10Gi', free: '0', largestVolume: '0' }]);
    expect(textOf(report, { terminal: screen })).toContain('[############]');
  });

  test('of an empty cluster is nothing to measure', () => {
    expect(textOf(measured(viewOf({}, { unseen: [] })))).toMatch(/^Nothing to measure: .*\n$/);
  });

  test('of five thousand nodes fits on a few screens, and is whole when asked for', () => {
    const names = Array.from({ length: 5_000 }, (_, at) => `n${at}`);
    const view = viewOf(
      {
        Node: names.map((name) => nodeWith(name, '4')),
        StorageClass: [storageClass('local')],
        PersistentVolume: names.map((name) => localVolume(`pv-${name}`, '10Gi', name)),
      },
      { unseen: [] },
    );
    const report = measured(view);
    expect(report.volumes).toHaveLength(5_000);
    expect(textOf(report).split('\n').slice(-2)).toEqual(['  and 4,950 more; -o wide shows all', '']);
    expect(textOf(report, { isWide: true }).split('\n')).toHaveLength(5_003);
  });
});
