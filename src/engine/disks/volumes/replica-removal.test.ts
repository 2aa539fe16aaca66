import { describe, expect, test } from 'vitest';
import type { DiskCandidate } from '../choose-disk.ts';
import { replaceAfterMs } from './broken-replicas.ts';
import { planVolume } from './plan-volume.ts';
import { disk, on, plan, settled, volume } from './testing/volume-views.ts';
import type { ReplicaView } from './volume-model.ts';

describe('scaling down', () => {
  const disks = [disk('d1'), disk('d2'), disk('d3')];
  const healthy = (name: string, uuid: string) => settled(name, uuid, 10, { hasData: true });
  const steps = (numberOfReplicas: number, ...replicas: readonly ReplicaView[]) =>
    plan(volume({ currentBytes: 10, numberOfReplicas, replicas }), ...disks).steps;

  test.each([
    { health: 'failed', hasData: true },
    { health: 'unreachable', hasData: true },
    { health: 'incomplete', hasData: false },
  ] as const)('keeps the healthy replica and removes one that is $health', (facts) => {
    expect(steps(1, settled('a', 'd1', 10, facts), healthy('b', 'd2'))).toEqual(['delete a']);
    expect(steps(1, healthy('a', 'd1'), settled('b', 'd2', 10, facts))).toEqual(['delete b']);
  });

  test('removes no replica with data while none is healthy', () => {
    const lost = { health: 'unreachable', hasData: true } as const;
    const failed = { health: 'failed', hasData: true } as const;
    expect(steps(1, settled('a', 'd1', 10, lost), settled('b', 'd2', 10, failed))).toEqual([]);
    expect(steps(1, settled('a', 'd1', 10, lost), settled('b', 'd2'))).toEqual(['delete b']);
  });

  test('removes healthy replicas only while another one is healthy', () => {
    expect(steps(1, healthy('a', 'd1'), healthy('b', 'd2'), healthy('c', 'd3'))).toEqual([
      'delete c',
      'delete b',
    ]);
  });

  test('the mark of a removal that is not wanted any more is removed', () => {
    const marked = settled('a', 'd1', 10, { hasData: true, isMarkedForRemoval: true });
    expect(steps(2, marked, healthy('b', 'd2'))).toEqual(['keep a']);
    const other = settled('b', 'd2', 10, { hasData: true, isMarkedForRemoval: true });
    expect(steps(1, healthy('a', 'd1'), other)).toEqual(['delete b']);
  });
});

test('an evicted replica stays while the new one can not be reached', () => {
  const old = settled('a', 'd1', 10, { place: on('d1', true), hasData: true });
  const replaced = settled('b', 'd2', 10, { hasData: true, health: 'unreachable' });
  expect(plan(volume({ currentBytes: 10, replicas: [old, replaced] }), disk('d1'), disk('d2')).steps).toEqual(
    [],
  );
});

describe('a replica that is broken for longer than the grace time', () => {
  const disks = [disk('d1', 100, { state: { kind: 'unknown', message: 'away' } }), disk('d2'), disk('d3')];
  const broken = (facts: Partial<ReplicaView> = {}) =>
    settled('a', 'd1', 10, { hasData: true, health: 'unreachable', brokenMs: replaceAfterMs, ...facts });
  const good = settled('b', 'd2', 10, { hasData: true });
  const steps = (replicas: readonly ReplicaView[], on: readonly DiskCandidate[] = disks) =>
    plan(volume({ currentBytes: 10, numberOfReplicas: 2, replicas }), ...on).steps;

  test('is replaced, and removed once the new one is healthy', () => {
    expect(steps([broken(), good])).toEqual(['create v1-r0 10']);
    const placed = settled('v1-r0', 'd3');
    expect(steps([broken(), good, placed])).toEqual([]);
    expect(steps([broken(), good, { ...placed, hasData: true, health: 'unreachable' }])).toEqual([]);
    expect(steps([broken(), good, { ...placed, hasData: true, health: 'healthy' }])).toEqual(['delete a']);
  });

  test('is kept if it is healthy again before the new one is', () => {
    const back = settled('a', 'd1', 10, { hasData: true });
    const ready = [disk('d1'), disk('d2'), disk('d3')];
    expect(steps([back, good, settled('v1-r0', 'd3')], ready)).toEqual(['delete v1-r0']);
  });

  test('is not replaced before the time is over, without a healthy replica, or without room', () => {
    expect(steps([broken({ brokenMs: replaceAfterMs - 1 }), good])).toEqual([]);
    expect(steps([broken(), { ...good, health: 'unreachable', brokenMs: replaceAfterMs }])).toEqual([]);
    expect(steps([broken(), good], disks.slice(0, 2))).toEqual([]);
    expect(steps([broken(), good], [...disks.slice(0, 2), disk('d3', 5)])).toEqual([]);
  });
});

describe('a volume that had data', () => {
  const lost = { currentBytes: 10, hadData: true } as const;

  test('gets no empty replicas when all of its replicas are gone', () => {
    expect(plan(volume(lost), disk('d1'))).toMatchObject({
      steps: [],
      allocation: { kind: 'data-lost', message: expect.stringContaining('kubectl annotate v1') },
    });
  });

  test('begins empty when a user has given the data up: what is left of it goes first', () => {
    const failed = settled('a', 'd1', 10, { hasData: true, health: 'failed' });
    const accepted = { ...lost, isLossAccepted: true };
    expect(planVolume(volume({ ...accepted, replicas: [failed] }), [disk('d1')]).steps).toEqual([
      { kind: 'delete', replica: 'a', isLossAccepted: true },
    ]);
    expect(plan(volume({ ...accepted, hadData: false }), disk('d1')).steps).toEqual(['create v1-r0 10']);
  });

  test('keeps a healthy replica, whatever was given up', () => {
    const replicas = [settled('a', 'd1', 10, { hasData: true })];
    expect(plan(volume({ ...lost, isLossAccepted: true, replicas }), disk('d1')).steps).toEqual([]);
  });
});
