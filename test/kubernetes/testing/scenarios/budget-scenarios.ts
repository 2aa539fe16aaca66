import type { PodDisruptionBudgetSpec } from '../../../../src/kube/api/policy.ts';
import {
  deployments,
  podDisruptionBudgets,
  pods,
  replicaSets,
  statefulSets,
} from '../../../../src/kube/resources.ts';
import type { UserAction, UserScenario } from '../scenario-runner.ts';
import { all, change, create, evict, podTemplate, withReplicas } from './actions.ts';

/** Named after its rule; each has its own deployment of three pods. */
const budgets: Readonly<Record<string, PodDisruptionBudgetSpec>> = {
  'min-2': { minAvailable: 2 },
  'min-half': { minAvailable: '50%' },
  'max-1': { maxUnavailable: 1 },
  'max-0': { maxUnavailable: 0 },
  'max-third': { maxUnavailable: '34%' },
  'always-unhealthy': { minAvailable: 3, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
};

const names = Object.keys(budgets);

export const budgetUserScenarios: readonly UserScenario[] = [
  {
    name: 'budgets',
    actions: {
      'no pods to count': all(...Object.entries(budgets).map(([name, spec]) => budget(name, spec))),
      counted: all(...names.map(deployment)),
      // Whether a second eviction is granted depends on how soon the first pod is replaced.
      'one eviction each': all(...names.map((name) => evict(name))),
      'scaled down': all(...names.map((name) => change(deployments, name, withReplicas(1)))),
      'evicted again': all(...names.map((name) => evict(name))),
    },
  },
  {
    name: 'budgets-of-sets',
    actions: {
      'no pods to count': all(
        budget('db', { maxUnavailable: '50%' }),
        budget('bare', { minAvailable: '60%' }),
      ),
      counted: all(
        create(statefulSets, {
          metadata: { name: 'db' },
          spec: { ...replicated('db'), serviceName: 'db', podManagementPolicy: 'Parallel' },
        }),
        create(replicaSets, { metadata: { name: 'bare' }, spec: replicated('bare') }),
      ),
      'one eviction each': all(evict('db'), evict('bare')),
      'budgets change': all(
        change(podDisruptionBudgets, 'db', { spec: { maxUnavailable: 0 } }),
        change(podDisruptionBudgets, 'bare', { spec: { minAvailable: '100%' } }),
      ),
      'evicted again': all(evict('db'), evict('bare')),
    },
  },
  {
    name: 'budgets-alone',
    actions: {
      'no pods to count': budget('alone', { minAvailable: 1 }),
      'two pods without a controller': all(barePod('one', 'alone'), barePod('two', 'alone')),
      'evicted one of two': evict('alone', 2),
      'no pods to count, by percentage': budget('share', { maxUnavailable: '50%' }),
      'one by percentage': barePod('three', 'share'),
      'evicted, by percentage': evict('share'),
      'two budgets for one pod': create(podDisruptionBudgets, {
        metadata: { name: 'second' },
        spec: { minAvailable: 0, selector: { matchLabels: { app: 'alone' } } },
      }),
      'evicted with two budgets': evict('alone'),
    },
  },
];

function deployment(name: string): UserAction {
  return create(deployments, { metadata: { name }, spec: replicated(name) });
}

function replicated(app: string) {
  return { replicas: 3, selector: { matchLabels: { app } }, template: podTemplate(app, 'v1') };
}

function budget(name: string, spec: PodDisruptionBudgetSpec): UserAction {
  return create(podDisruptionBudgets, {
    metadata: { name },
    spec: { selector: { matchLabels: { app: name } }, ...spec },
  });
}

function barePod(name: string, app: string): UserAction {
  return create(pods, { metadata: { name, labels: { app } }, spec: podTemplate(app, 'v1').spec ?? {} });
}
