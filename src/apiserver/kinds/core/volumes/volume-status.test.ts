import { describe, expect, test } from 'vitest';
import type { PersistentVolume } from '../../../../kube/api/stored/core.ts';
import type { Moment } from '../../served-kind.ts';
import { persistentVolumeKind } from './persistent-volume.ts';

const then = '2026-01-01T00:00:00Z';
const now = '2026-01-01T00:00:05Z';
const moment: Moment = { nowMs: Date.parse(now) };

function volume(status: PersistentVolume['status']): PersistentVolume {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'v', creationTimestamp: then },
    spec: {},
    status,
  };
}

describe('lastPhaseTransitionTime', () => {
  test('starts with the creation time', () => {
    const fresh = volume({ phase: 'Bound', reason: 'made up' });
    persistentVolumeKind.prepareCreate?.(fresh, moment);
    expect(fresh.status).toEqual({ phase: 'Pending', lastPhaseTransitionTime: now });
  });

  test.each([
    ['stays if the phase stays', { phase: 'Bound' }, 'Bound', then],
    [
      'comes from the writer if it sets a new time',
      { phase: 'Bound', lastPhaseTransitionTime: '2025-01-01T00:00:00Z' },
      'Released',
      '2025-01-01T00:00:00Z',
    ],
    ['is now if the phase changes and the writer sets no time', { phase: 'Released' }, 'Bound', now],
    [
      'is now if the phase changes and the writer sends the old time',
      { phase: 'Released', lastPhaseTransitionTime: then },
      'Bound',
      now,
    ],
  ])('%s', (_name, status, oldPhase, expected) => {
    const written = volume(status);
    const old = volume({ phase: oldPhase, lastPhaseTransitionTime: then });
    persistentVolumeKind.prepareStatus?.(written, old, moment);
    expect(written.status.lastPhaseTransitionTime).toBe(expected);
  });
});
