/** Random PodDisruptionBudgets. */
import fc from 'fast-check';
import { sometimes } from '../../../src/engine/testing/random/chance.ts';
import { named } from '../../../src/engine/testing/random/names.ts';
import type { LabelSelector } from '../../../src/kube/api/meta.ts';
import type { PodDisruptionBudget } from '../../../src/kube/api/policy.ts';
import type { Theme } from './themes.ts';

export function arbBudgets({ priorities }: Theme): fc.Arbitrary<PodDisruptionBudget[]> {
  return fc
    .tuple(...named('budget', 3).map((name) => sometimes(Math.round(priorities / 2), arbBudget(name))))
    .map((budgets) => budgets.filter((budget) => budget !== undefined));
}

function arbBudget(name: string): fc.Arbitrary<PodDisruptionBudget> {
  return fc
    .record({
      namespace: fc.constantFrom('default', 'default', 'blue'),
      selector: fc.constantFrom<LabelSelector>(
        { matchLabels: { app: 'x' } },
        { matchLabels: { app: 'y' } },
        { matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
        {},
      ),
      disruptionsAllowed: fc.constantFrom(0, 0, 1, 2),
    })
    .map(({ namespace, selector, disruptionsAllowed }) => ({
      metadata: { namespace, name },
      spec: { selector, maxUnavailable: 1 },
      status: {
        disruptionsAllowed,
        currentHealthy: 3,
        desiredHealthy: 2,
        expectedPods: 3,
        observedGeneration: 1,
      },
    }));
}
