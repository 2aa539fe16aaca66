import { expect, test } from 'vitest';
import type { Deployment, DeploymentSpec, ReplicaSet } from '../../kube/api/apps.ts';
import type { IntOrString } from '../../kube/api/meta.ts';
import { sizeAnnotations } from './revision-annotations.ts';
import { isScaled, type Resize, recreateSteps, rollingSteps, scalingSteps } from './rollout.ts';

/** `old 3/2`: three replicas, two of them available. Sets are created in the order in which they are listed. */
function setFrom(text: string, index: number, meant?: Deployment): ReplicaSet {
  const [, name = '', replicas, available] = /^(\S+) (\d+)\/(\d+)$/.exec(text) ?? [];
  return {
    metadata: {
      name,
      creationTimestamp: `2026-11-15T12:00:0${index}Z`,
      ...(meant === undefined ? {} : { annotations: sizeAnnotations(meant) }),
    },
    spec: { replicas: Number(replicas) },
    status: { replicas: Number(replicas), availableReplicas: Number(available) },
  };
}

function deploymentOf(replicas: number, maxSurge: IntOrString, maxUnavailable: IntOrString): Deployment {
  return {
    spec: { replicas, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } } },
  };
}

function linesOf(resizes: readonly Resize[]): readonly string[] {
  return resizes.map(({ set, replicas }) => `${set.metadata?.name} to ${replicas}`);
}

const updates: readonly {
  readonly wanted: number;
  readonly surge: IntOrString;
  readonly unavailable: IntOrString;
  readonly sets: readonly string[];
  readonly steps: readonly string[];
}[] = [
  { wanted: 3, surge: 1, unavailable: 0, sets: ['old 3/3', 'new 0/0'], steps: ['new to 1'] },
  { wanted: 3, surge: 1, unavailable: 0, sets: ['old 3/3', 'new 1/0'], steps: [] },
  { wanted: 3, surge: 1, unavailable: 0, sets: ['old 3/3', 'new 1/1'], steps: ['old to 2'] },
  { wanted: 3, surge: 0, unavailable: 1, sets: ['old 3/3', 'new 0/0'], steps: ['old to 2'] },
  { wanted: 3, surge: 0, unavailable: 1, sets: ['old 2/2', 'new 0/0'], steps: ['new to 1'] },
  { wanted: 4, surge: '25%', unavailable: '25%', sets: ['old 4/4', 'new 0/0'], steps: ['new to 1'] },
  { wanted: 4, surge: '25%', unavailable: '25%', sets: ['old 4/4', 'new 1/0'], steps: ['old to 3'] },
  { wanted: 10, surge: 0, unavailable: 2, sets: ['old 10/3', 'new 0/0'], steps: ['old to 8'] },
  {
    wanted: 10,
    surge: 5,
    unavailable: 2,
    sets: ['ill 5/0', 'old 5/5', 'new 5/5'],
    steps: ['ill to 0', 'old to 3'],
  },
  { wanted: 3, surge: 1, unavailable: 0, sets: ['old 0/0', 'new 5/5'], steps: ['new to 3'] },
  { wanted: 1, surge: '0%', unavailable: '0%', sets: ['old 1/1', 'new 0/0'], steps: ['old to 0'] },
  { wanted: 0, surge: 1, unavailable: 0, sets: ['old 2/2', 'new 0/0'], steps: ['old to 0'] },
];

test.each(updates)(
  'updating $wanted with surge $surge and unavailable $unavailable: $sets',
  ({ wanted, surge, unavailable, sets, steps }) => {
    const all = sets.map((text, index) => setFrom(text, index));
    const family = { current: all.at(-1), old: all.slice(0, -1) };
    expect(linesOf(rollingSteps(deploymentOf(wanted, surge, unavailable), family))).toEqual(steps);
  },
);

const scalings: readonly {
  readonly from: number;
  readonly to: number;
  readonly sets: readonly string[];
  readonly steps: readonly string[];
}[] = [
  { from: 3, to: 5, sets: ['old 0/0', 'new 3/3'], steps: ['new to 5'] },
  { from: 3, to: 0, sets: ['old 0/0', 'new 3/3'], steps: ['new to 0'] },
  { from: 0, to: 2, sets: ['old 0/0', 'new 0/0'], steps: ['new to 2'] },
  { from: 10, to: 20, sets: ['old 8/8', 'new 3/0'], steps: ['old to 15', 'new to 6'] },
  { from: 10, to: 5, sets: ['old 8/8', 'new 3/0'], steps: ['old to 4', 'new to 2'] },
  { from: 10, to: 0, sets: ['old 8/8', 'new 3/0'], steps: ['old to 0', 'new to 0'] },
];

test.each(scalings)('scaling from $from to $to: $sets', ({ from, to, sets, steps }) => {
  const meant = deploymentOf(from, 1, 0);
  const all = sets.map((text, index) => setFrom(text, index, meant));
  const family = { current: all.at(-1), old: all.slice(0, -1) };
  expect(isScaled(deploymentOf(from, 1, 0), family)).toBe(false);
  expect(isScaled(deploymentOf(to, 1, 0), family)).toBe(from > 0);
  expect(linesOf(scalingSteps(deploymentOf(to, 1, 0), family))).toEqual(steps);
});

test.each([
  { sets: ['old 2/2', 'new 0/0'], isOldGone: false, steps: ['old to 0'] },
  { sets: ['old 0/0', 'new 0/0'], isOldGone: false, steps: [] },
  { sets: ['old 0/0', 'new 0/0'], isOldGone: true, steps: ['new to 2'] },
  { sets: ['old 0/0', 'new 2/0'], isOldGone: true, steps: [] },
])('recreating with $sets, the old gone: $isOldGone', ({ sets, isOldGone, steps }) => {
  const all = sets.map((text, index) => setFrom(text, index));
  const spec: DeploymentSpec = { replicas: 2, strategy: { type: 'Recreate' } };
  const family = { current: all.at(-1), old: all.slice(0, -1) };
  expect(linesOf(recreateSteps({ spec }, family, isOldGone))).toEqual(steps);
});
