import { describe, expect, test } from 'vitest';
import { stowageProfile } from '../engine/cluster-index/profile.ts';
import {
  boundClaim,
  claim,
  csiClass,
  csiDriver,
  node,
  pod,
  storageCapacity,
  volume,
} from '../engine/testing/objects.ts';
import type { PersistentVolumeClaim } from '../kube/api/core.ts';
import { annotations } from '../kube/well-known.ts';
import { explainClaim } from '../queries/explain/explain-claim.ts';
import { explainPod } from '../queries/explain/explain-pod.ts';
import { makePlan } from '../queries/plan/make-plan.ts';
import { PoolReader } from '../queries/pools/pool-reader.ts';
import { findReservations } from '../queries/reservations/find-reservations.ts';
import { viewOf } from '../queries/testing/cluster-views.ts';
import { renderClaim } from './explain/render-claim.ts';
import { plainTerminal } from './output/terminal.ts';
import { renderReservations } from './reservations/render.ts';

const driver = 'disk.csi';
const nowMs = Date.parse('2026-01-01T12:00:00Z');
const rendering = { terminal: plainTerminal, isWide: false };

function claimOf(size: string): PersistentVolumeClaim {
  return {
    kind: 'PersistentVolumeClaim',
    ...boundClaim('data', size, 'pv', {
      metadata: {
        namespace: 'default',
        name: 'data',
        uid: 'uid-data',
        resourceVersion: '1',
        annotations: { [annotations.bindCompleted]: 'yes' },
      },
    }),
  };
}

/** A pool with 10Gi free. The volume has 4Gi, and its claim requests `size`. */
function viewWith(size: string, marks: Record<string, string> = {}, has = '4Gi') {
  return viewOf({
    Node: [node('n1')],
    StorageClass: [{ ...csiClass(driver, 'local'), allowVolumeExpansion: true }],
    CSIDriver: [csiDriver(driver)],
    CSIStorageCapacity: [
      {
        ...storageCapacity('net', 'local', { capacity: '10Gi' }),
        metadata: {
          namespace: 'storage',
          name: 'net',
          resourceVersion: '1',
          annotations: { [annotations.measuredAt]: '2026-01-01T11:59:00Z' },
        },
      },
    ],
    PersistentVolume: [
      volume('pv', has, {
        phase: 'Bound',
        metadata: { name: 'pv', annotations: { [annotations.provisionedBy]: driver, ...marks } },
        spec: {
          csi: { driver, volumeHandle: 'handle' },
          claimRef: { namespace: 'default', name: 'data', uid: 'uid-data' },
        },
      }),
    ],
    PersistentVolumeClaim: [claimOf(size), claim('new', '6Gi')],
    Pod: [pod('app', ['new'])],
  });
}

const unwrapped = (text: string) => text.replaceAll(/\s+/g, ' ');
const explained = (size: string) =>
  unwrapped(renderClaim(explainClaim(viewWith(size), claimOf(size), { nowMs }), rendering));

describe('an expansion in flight', () => {
  test('is listed by reservations, and named as the holder of its bytes', () => {
    const report = findReservations(viewWith('9Gi'), { nowMs });
    expect(report.expansions).toEqual([
      {
        claim: 'default/data',
        volume: 'pv',
        from: '4Gi',
        to: '9Gi',
        growth: '5Gi',
        pool: 'storage/net',
        state: 'Reserved',
      },
    ]);
    expect(report.pools).toMatchObject([
      { promised: '5Gi', free: '5Gi', claims: [{ claim: 'default/data', size: '5Gi', isExpansion: true }] },
    ]);
    const text = renderReservations(report, { ...rendering, nowMs });
    expect(text).toContain('EXPANSIONS');
    expect(text).toContain('default/data (expansion) 5Gi');
  });

  test('that does not fit is listed with what the pool lacks', () => {
    const { expansions, pools } = findReservations(viewWith('15Gi'), { nowMs });
    expect(expansions).toMatchObject([{ state: 'DoesNotFit', pool: 'storage/net', missing: '1Gi' }]);
    expect(pools).toEqual([]);
  });

  test('is part of the explanation of its claim', () => {
    expect(explained('9Gi')).toContain('expansion: from 4Gi to 9Gi; 5Gi of pool storage/net are reserved');
    expect(explained('4Gi')).not.toContain('expansion');
    const text = explained('15Gi');
    expect(text).toContain('its expansion does not fit: pool storage/net lacks 1Gi');
    expect(text).toContain('nothing is reserved');
  });

  test('explains why a pod does not fit', () => {
    const view = viewWith('9Gi');
    const { verdict, claims } = explainPod(view, pod('app', ['new']), { nowMs, profile: 'stowage' });
    expect(verdict).toBe('refused');
    expect(JSON.stringify(claims)).toContain('5Gi');
  });

  test('that is done stays promised until a figure includes it, and is not used too', () => {
    const marks = {
      [annotations.volumeExpandedAt]: '2026-01-01T11:59:30Z',
      [annotations.volumeExpandedFrom]: '4Gi',
    };
    const view = viewWith('9Gi', marks, '9Gi');
    expect(findReservations(view, { nowMs }).expansions).toMatchObject([
      { state: 'Expanded', growth: '5Gi' },
    ]);
    const { index } = view.snapshot.toIndex(stowageProfile);
    index.settle(nowMs);
    const [shown] = new PoolReader(view, index, nowMs).all();
    expect(shown).toMatchObject({ total: '14Gi', used: '4Gi', promised: '5Gi', free: '5Gi' });
  });
});

describe('the plan of a larger claim', () => {
  const app = { kind: 'Pod', ...pod('later', ['new']) };
  const planned = (size: string) => {
    const { snapshot, ...view } = viewWith('4Gi');
    snapshot.remove('Pod', 'default/app');
    const change = { kind: 'apply' as const, objects: [claimOf(size), app] };
    return makePlan({ snapshot, ...view }, [change], { nowMs, profile: 'stowage' });
  };

  test('takes the growth from the pool, so that a later pod does not fit', () => {
    const { notes, stranded } = planned('9Gi');
    expect(notes.map(({ text }) => text)).toContain(
      'claim default/data is expanded from 4Gi to 9Gi; it takes 5Gi of pool storage/net',
    );
    expect(stranded).toMatchObject([{ pod: 'default/later' }]);
    expect(planned('8Gi').stranded).toEqual([]);
  });

  test('says what the pool lacks', () => {
    expect(planned('15Gi').notes.map(({ text }) => text)).toContain(
      'claim default/data is expanded from 4Gi to 15Gi, which does not fit: it needs 11Gi more, and pool storage/net lacks 1Gi',
    );
  });
});
