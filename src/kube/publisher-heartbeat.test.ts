import { expect, test } from 'vitest';
import type { Lease } from './api/coordination.ts';
import { formatMicroTime } from './go/timestamp.ts';
import { publisherGoneText, publisherState } from './publisher-heartbeat.ts';
import { annotations } from './well-known.ts';

const nowMs = Date.parse('2026-01-01T12:00:00Z');
const named = { annotations: { [annotations.publisherLease]: 'kube-system/l' } };

function leaseRenewed(agoMs: number): Lease {
  return {
    metadata: { namespace: 'kube-system', name: 'l' },
    spec: { holderIdentity: 'host-1', leaseDurationSeconds: 15, renewTime: formatMicroTime(nowMs - agoMs) },
  };
}

test('a publisher that renews its Lease runs, even if clocks differ by less than a minute', () => {
  for (const agoMs of [-60_000, 0, 70_000])
    expect(publisherState(named, () => leaseRenewed(agoMs), nowMs)).toEqual({ kind: 'running' });
});

test('a publisher that does not renew its Lease is gone since the last renewal', () => {
  const state = publisherState(named, () => leaseRenewed(40 * 60_000), nowMs);
  expect(state?.kind === 'gone' ? publisherGoneText(state) : state).toBe(
    'its publisher host-1 has not renewed Lease kube-system/l since 2026-01-01T11:20:00.000000Z',
  );
});

test('a publisher whose driver does not answer says so', () => {
  const marks = { ...named.annotations, [annotations.capacityProblem]: 'no answer' };
  expect(publisherState({ annotations: marks }, () => leaseRenewed(0), nowMs)).toEqual({
    kind: 'failing',
    problem: 'no answer',
  });
});

test('a publisher without a Lease, or with one that cannot be read, is unknown', () => {
  expect(
    publisherState({}, (key) => (key === 'kube-system/l' ? leaseRenewed(0) : undefined), nowMs),
  ).toBeUndefined();
  expect(publisherState(named, () => undefined, nowMs)).toBeUndefined();
  expect(publisherState(named, () => ({ metadata: leaseRenewed(0).metadata! }), nowMs)).toBeUndefined();
});
