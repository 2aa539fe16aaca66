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
import { annotations, labels } from '../../kube/well-known.ts';
import { readableAmount } from '../../queries/pools/amounts.ts';
import { findReservations } from '../../queries/reservations/find-reservations.ts';
import type { ReservationsReport } from '../../queries/reservations/report.ts';
import { nodeWith, podWith, viewOf } from '../../queries/testing/cluster-views.ts';
import type { ClusterView } from '../../queries/view/cluster-view.ts';
import { cannotRead } from '../../queries/view/missing-notes.ts';
import { plainTerminal } from '../output/terminal.ts';
import { renderReservations, reservationNames } from './render.ts';

const nowMs = Date.parse('2026-01-01T12:00:00Z');
const golden = (name: string) => `./testing/golden/${name}`;

function reference(name: string, uid = `uid-${name}`) {
  return { spec: { claimRef: { namespace: 'default', name, uid } } };
}

/** `spec` of a builder replaces parts of its own: sizes and places have to be said again. */
function held(
  name: string,
  claimName: string,
  options: { uid?: string; marks?: Record<string, string> } = {},
) {
  const made = localVolume(name, '10Gi', 'n1', { phase: 'Bound' });
  const { claimRef } = reference(claimName, options.uid).spec;
  return {
    ...made,
    metadata: { ...made.metadata, annotations: options.marks ?? {} },
    spec: { ...made.spec, claimRef },
  };
}

const byController = { [annotations.boundByController]: 'yes' };

/** One of everything that can be held. */
function busyClusterView(rest: Partial<ClusterView> = {}): ClusterView {
  const pending = podWith('urgent', '1');
  const selecting = claim('making', '60Gi', {
    className: 'dyn',
    metadata: {
      namespace: 'default',
      name: 'making',
      uid: 'uid-making',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T09:00:00Z',
      annotations: { [annotations.selectedNode]: 'n2', [annotations.pool]: 'storage/b' },
      managedFields: [
        {
          manager: 'stowage',
          time: '2026-01-01T11:57:00Z',
          fieldsV1: { 'f:metadata': { 'f:annotations': { [`f:${annotations.selectedNode}`]: {} } } },
        },
      ],
    },
  });
  const pool = (name: string, free: string) => ({
    ...storageCapacity(name, 'dyn', { capacity: free, nodeTopology: {} }),
    metadata: {
      namespace: 'storage',
      name,
      uid: `uid-${name}`,
      resourceVersion: '1',
      labels: { [labels.managedBy]: 'external-provisioner' },
      annotations: { [annotations.measuredAt]: '2026-01-01T11:50:00.5Z' },
    },
  });
  const measuredAt = '2026-01-01T11:59:30Z';
  const pmem = driverCapacity('pmem.example.com', [
    {
      storageClassName: '<ephemeral>',
      pools: [{ name: 'n1', nodeList: ['n1'], capacity: '16Gi', measuredAt }],
    },
  ]);
  const redis = podWith('redis', '1');
  const cache = { name: 'cache', csi: { driver: 'pmem.example.com', fsSize: '4Gi' } };
  return viewOf(
    {
      Node: [nodeWith('n1', '4'), nodeWith('n2', '4')],
      StorageClass: [storageClass('local'), storageClass('dyn', { provisioner: 'csi.example.com' })],
      CSIDriver: [csiDriver('csi.example.com')],
      CSIStorageCapacity: [pool('a', '100Gi'), pool('b', '50Gi')],
      DriverCapacity: [pmem],
      PersistentVolume: [
        held('pv-bound', 'data', { marks: byController }),
        held('pv-flight', 'next', { marks: byController }),
        held('pv-kept', 'later', { uid: '' }),
        held('pv-gone', 'old'),
        held('pv-other', 'data', { marks: { [annotations.provisionedBy]: 'csi.example.com' } }),
        volume('pv-free', '1Gi'),
      ],
      PersistentVolumeClaim: [boundClaim('data', '10Gi', 'pv-bound'), claim('next', '5Gi'), selecting],
      Pod: [
        podWith('user', '1', ['making']),
        { ...redis, spec: { ...redis.spec, nodeName: 'n1', volumes: [cache] } },
        {
          ...pending,
          spec: { ...pending.spec, priority: 1000, schedulerName: 'stowage' },
          status: {
            nominatedNodeName: 'n1',
            conditions: [
              { type: 'PodScheduled', status: 'False', lastTransitionTime: '2026-01-01T11:59:15Z' },
            ],
          },
        },
      ],
    },
    { unseen: [], ...rest },
  );
}

function textOf(report: ReservationsReport, isWide = false): string {
  return renderReservations(report, { terminal: plainTerminal, isWide, nowMs });
}

describe('what is held', () => {
  test('is shown by volume, claim, pool and pod', async () => {
    const report = findReservations(busyClusterView(), { nowMs });
    await expect(textOf(report)).toMatchFileSnapshot(golden('busy.txt'));
    await expect(textOf(report, true)).toMatchFileSnapshot(golden('busy-wide.txt'));
    await expect(`${JSON.stringify(report, undefined, 2)}\n`).toMatchFileSnapshot(golden('busy-json.txt'));
  });

  test('of inline volumes belongs to their pod, and is never called a claim', () => {
    const { claims, inlineVolumes, pools } = findReservations(busyClusterView(), { nowMs });
    const volume = { pod: 'default/redis', volume: 'cache', node: 'n1', size: '4Gi' };
    expect(claims.map(({ claim }) => claim)).toEqual(['default/making']);
    expect(inlineVolumes).toEqual([{ ...volume, pool: 'n1' }]);
    const ephemeral = pools.find(({ storageClass }) => storageClass === '<ephemeral>');
    expect(ephemeral).toMatchObject({ claims: [], inlineVolumes: [volume], promised: '4Gi', free: '12Gi' });
  });

  test('can be handed to explain, each once', () => {
    expect(reservationNames(findReservations(busyClusterView(), { nowMs })).split('\n')).toEqual([
      'claim default/data',
      'claim default/later',
      'claim default/next',
      'claim default/old',
      'claim default/making',
      'pod default/redis',
      'pod default/urgent',
      '',
    ]);
  });

  test('can be asked for by namespace', () => {
    const report = findReservations(busyClusterView(), { nowMs, namespace: 'shop' });
    expect(textOf(report)).toBe(
      'Nothing is held: no volume has a claim, no claim a node, no pod is nominated.\n',
    );
    expect(findReservations(busyClusterView(), { nowMs, namespace: 'default' }).volumes).toHaveLength(5);
  });

  test('in an empty cluster is nothing', () => {
    expect(textOf(findReservations(viewOf({}, { unseen: [] }), { nowMs }))).toMatch(
      /^Nothing is held: .*\n$/,
    );
  });

  test('is never called released where claims may not be seen', () => {
    const claims = { kind: 'PersistentVolumeClaim', plural: 'persistentvolumeclaims' } as const;
    const statesWith = (onlyNamespace: string | undefined) =>
      findReservations(busyClusterView({ unseen: [{ ...claims, onlyNamespace }] }), { nowMs }).volumes.map(
        ({ state }) => state,
      );
    expect(new Set(statesWith(undefined))).toEqual(new Set(['Unknown']));
    expect(new Set(statesWith('shop'))).toEqual(new Set(['Unknown']));
    expect(statesWith('default')).toContain('Released');
  });

  test('has no answer if neither volumes nor claims can be read', () => {
    const unseen = (['PersistentVolume', 'PersistentVolumeClaim'] as const).map((kind) => ({
      kind,
      plural: `${kind.toLowerCase()}s`,
      onlyNamespace: undefined,
    }));
    const kinds = ['PersistentVolume', 'PersistentVolumeClaim'] as const;
    expect(cannotRead(viewOf({}, { unseen }), kinds)).toBe(true);
    expect(cannotRead(viewOf({}, { unseen: unseen.slice(1) }), kinds)).toBe(false);
    expect(cannotRead(viewOf({}), kinds)).toBe(false);
  });

  test('says what files lack', () => {
    const { notes } = findReservations(viewOf({ Node: [nodeWith('n1', '1')] }), { nowMs });
    expect(notes.map(({ text }) => text)).toEqual([
      'there is no PersistentVolume in the files: volumes that are held are not shown; add the output of kubectl get pv -o yaml',
      expect.stringContaining('there is no PersistentVolumeClaim in the files: '),
      expect.stringContaining('there is no Pod in the files: '),
    ]);
  });

  test('that is being undone says so', () => {
    const undone = boundClaim('data', '10Gi', 'pv-bound', {
      metadata: {
        namespace: 'default',
        name: 'data',
        uid: 'uid-data',
        annotations: { [annotations.bindCompleted]: 'yes', [annotations.rollback]: 'yes' },
      },
    });
    const view = viewOf({ PersistentVolume: [held('pv-bound', 'data')], PersistentVolumeClaim: [undone] });
    expect(findReservations(view, { nowMs }).volumes).toMatchObject([
      { state: 'RollingBack', boundBy: 'person' },
    ]);
  });
});

describe('amounts', () => {
  test.each([
    ['0', '0'],
    ['10Gi', '10Gi'],
    ['85791971123', '79.8Gi'],
    ['1023', '1023'],
    ['1500', '1.46Ki'],
    ['-20Gi', '-20Gi'],
    ['3000Pi', '2.92Ei'],
  ])('%s is %s for people', (quantity, text) => expect(readableAmount(quantity)).toBe(text));
});
