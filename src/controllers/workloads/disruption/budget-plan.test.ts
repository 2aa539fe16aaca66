import { expect, test } from 'vitest';
import type { Pod } from '../../../kube/api/core.ts';
import type { PodDisruptionBudgetSpec } from '../../../kube/api/policy.ts';
import { planBudget } from './budget-plan.ts';

const nowMs = Date.parse('2026-11-15T12:00:00Z');
const hasPredecessor = () => false;

function podOf(text: string): Pod {
  const [name = '', ...flags] = text.split(' ');
  return {
    metadata: { name, ...(flags.includes('going') ? { deletionTimestamp: '2026-11-15T11:59:00Z' } : {}) },
    status: { conditions: [{ type: 'Ready', status: flags.includes('ill') ? 'False' : 'True' }] },
  };
}

const cases: readonly {
  readonly spec: PodDisruptionBudgetSpec;
  readonly pods: readonly string[];
  readonly scale: number;
  /** Healthy, desired, expected, allowed. */
  readonly counts: readonly [number, number, number, number];
}[] = [
  { spec: { minAvailable: 2 }, pods: ['a', 'b', 'c'], scale: 9, counts: [3, 2, 3, 1] },
  { spec: { minAvailable: 2 }, pods: ['a', 'b ill', 'c'], scale: 9, counts: [2, 2, 3, 0] },
  { spec: { minAvailable: 1 }, pods: ['a', 'b going', 'c'], scale: 9, counts: [2, 1, 3, 1] },
  { spec: { minAvailable: 0 }, pods: [], scale: 0, counts: [0, 0, 0, 0] },
  { spec: { minAvailable: '50%' }, pods: ['a', 'b', 'c'], scale: 5, counts: [3, 3, 5, 0] },
  { spec: { minAvailable: '34%' }, pods: ['a', 'b', 'c'], scale: 3, counts: [3, 2, 3, 1] },
  { spec: { maxUnavailable: 1 }, pods: ['a', 'b', 'c'], scale: 3, counts: [3, 2, 3, 1] },
  { spec: { maxUnavailable: 1 }, pods: ['a', 'b', 'c'], scale: 4, counts: [3, 3, 4, 0] },
  { spec: { maxUnavailable: '30%' }, pods: ['a', 'b', 'c'], scale: 3, counts: [3, 2, 3, 1] },
  { spec: { maxUnavailable: 5 }, pods: ['a'], scale: 1, counts: [1, 0, 1, 1] },
  { spec: { maxUnavailable: 0 }, pods: ['a', 'b'], scale: 2, counts: [2, 2, 2, 0] },
];

test.each(cases)('$spec over $pods of $scale', ({ spec, pods, scale, counts }) => {
  const { status } = planBudget({
    budget: { metadata: { generation: 3 }, spec },
    pods: pods.map(podOf),
    scale: { kind: 'known', pods: scale, unmanaged: [] },
    hasPredecessor,
    nowMs,
  });
  const { currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed } = status;
  expect([currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed]).toEqual(counts);
  const isAllowed = disruptionsAllowed > 0;
  expect(status.conditions[0]).toMatchObject({
    status: isAllowed ? 'True' : 'False',
    reason: isAllowed ? 'SufficientPods' : 'InsufficientPods',
    observedGeneration: 3,
  });
});

test('pods whose eviction was granted are not healthy, until they are overdue or gone', () => {
  const disruptedPods = {
    a: '2026-11-15T11:59:00Z',
    late: '2026-11-15T11:57:59Z',
    gone: '2026-11-15T11:59:00Z',
    leaving: '2026-11-15T11:59:00Z',
  };
  const plan = planBudget({
    budget: { spec: { minAvailable: 1 }, status: { disruptedPods } },
    pods: ['a', 'b', 'late', 'leaving going'].map(podOf),
    scale: { kind: 'unknown', why: 'not looked up' },
    hasPredecessor,
    nowMs,
  });
  expect(plan.status).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 1 });
  expect(plan.status.disruptedPods).toEqual({ a: disruptedPods.a });
  expect(plan.overdue.map(({ metadata }) => metadata?.name)).toEqual(['late']);
  expect(plan.recheckMs).toBe(60_001);
});

const successions = [
  { name: 'an existing pod is waited for', created: '11:58:59', predecessor: true, healthy: 0 },
  {
    name: 'one of the same second may be the evicted pod',
    created: '11:59:00',
    predecessor: false,
    healthy: 0,
  },
  {
    name: 'one of the same second is not, if another was deleted',
    created: '11:59:00',
    predecessor: true,
    healthy: 1,
  },
  { name: 'a later one of the name is not', created: '11:59:01', predecessor: false, healthy: 1 },
];

test.each(successions)('of a granted eviction: $name', ({ created, predecessor, healthy }) => {
  const creationTimestamp = `2026-11-15T${created}Z`;
  const { status, recheckMs } = planBudget({
    budget: { spec: { minAvailable: 1 }, status: { disruptedPods: { 'db-0': '2026-11-15T11:59:00Z' } } },
    pods: [{ ...podOf('db-0'), metadata: { name: 'db-0', creationTimestamp } }],
    scale: { kind: 'unknown', why: 'not looked up' },
    hasPredecessor: () => predecessor,
    nowMs,
  });
  expect(status.currentHealthy).toBe(healthy);
  expect(Object.keys(status.disruptedPods)).toEqual(healthy === 0 ? ['db-0'] : []);
  expect(recheckMs).toBe(healthy === 0 ? 60_001 : undefined);
});
