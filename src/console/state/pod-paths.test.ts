import { expect, test } from 'vitest';
import { claim, pod } from '../../engine/testing/objects.ts';
import type { PersistentVolumeClaim, Pod } from '../../kube/api/core.ts';
import { annotations } from '../../kube/well-known.ts';
import { PodPaths } from './pod-paths.ts';

const created: Pod = {
  ...pod('db-0', ['data']),
  metadata: { name: 'db-0', namespace: 'default', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' },
};
const createdMs = Date.parse('2026-01-01T00:00:00Z');
const waiting: PersistentVolumeClaim = claim('data', '1Gi');
const selected: PersistentVolumeClaim = {
  ...waiting,
  metadata: { ...waiting.metadata, annotations: { [annotations.selectedNode]: 'n1' } },
};
const bound: PersistentVolumeClaim = {
  ...selected,
  metadata: {
    ...selected.metadata,
    annotations: { ...selected.metadata?.annotations, [annotations.bindCompleted]: 'yes' },
  },
  spec: { ...selected.spec, volumeName: 'pv-1' },
};
const assigned: Pod = { ...created, spec: { ...created.spec, nodeName: 'n1' } };
const running: Pod = { ...assigned, status: { phase: 'Running' } };

function objects(at: Pod, of: PersistentVolumeClaim) {
  return { pod: at, claims: [of], claimCount: 1, isHeld: [false] };
}

function summary(paths: PodPaths, at: Pod, of: PersistentVolumeClaim) {
  return paths
    .pathOf(objects(at, of))
    .steps.map(({ name, isDone, atMs, isExact }) => [
      name,
      isDone,
      atMs === undefined ? undefined : atMs - createdMs,
      isExact,
    ]);
}

test('steps that were seen have exact times, in the order in which they happened', () => {
  const paths = new PodPaths();
  const see = (at: Pod, of: PersistentVolumeClaim, ms: number) =>
    paths.observe(objects(at, of), createdMs + ms, false);
  see(created, waiting, 5);
  expect(summary(paths, created, waiting).map(([name, isDone]) => [name, isDone])).toEqual([
    ['Created', true],
    ['Claims', true],
    ['Decision', false],
    ['Reservation', false],
    ['Binding', false],
    ['Assigned', false],
    ['Running', false],
  ]);
  see(created, selected, 12);
  see(created, bound, 40);
  see(assigned, bound, 45);
  see(running, bound, 90);
  see(running, bound, 900);
  expect(summary(paths, running, bound).slice(2)).toEqual([
    ['Decision', true, 12, true],
    ['Reservation', true, 12, true],
    ['Binding', true, 40, true],
    ['Assigned', true, 45, true],
    ['Running', true, 90, true],
  ]);
});

test('steps from before the first look have the times of the objects, or none', () => {
  const paths = new PodPaths();
  const old: Pod = {
    ...running,
    status: {
      phase: 'Running',
      startTime: '2026-01-01T00:00:09Z',
      conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-01-01T00:00:03Z' }],
    },
  };
  paths.observe(objects(old, bound), createdMs + 60_000, true);
  expect(summary(paths, old, bound).slice(2)).toEqual([
    ['Decision', true, 3_000, false],
    ['Reservation', true, 3_000, false],
    ['Binding', true, 3_000, false],
    ['Assigned', true, 3_000, false],
    ['Running', true, 9_000, false],
  ]);
});
