import { asTable, del, get, patch, post, type Scenario, scenario } from '../scenario.ts';
import { changes, creations } from './variations.ts';

const budgets = '/apis/policy/v1/namespaces/{{ns}}/poddisruptionbudgets';
const pods = '/api/v1/namespaces/{{ns}}/pods';
const budget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'b' },
  spec: { minAvailable: 1, selector: { matchLabels: { app: 'x' } } },
};
const running = {
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True' }],
  },
};

function pod(name: string): object {
  return {
    metadata: { name, labels: { app: 'x' } },
    spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'x:1' }] },
  };
}

export const budgetScenarios: readonly Scenario[] = [
  creations('budgets that are refused', budgets, budget, [
    { spec: null },
    { spec: { minAvailable: null } },
    { spec: { maxUnavailable: 1 } },
    { spec: { minAvailable: -1 } },
    { spec: { minAvailable: '150%' } },
    { spec: { minAvailable: 'x' } },
    { spec: { minAvailable: null, maxUnavailable: '10%' } },
    { spec: { selector: null } },
    { spec: { selector: {} } },
    { spec: { selector: { matchExpressions: [{ key: 'a', operator: 'Odd' }] } } },
    { spec: { unhealthyPodEvictionPolicy: 'Odd' } },
    { status: { disruptionsAllowed: 5 } },
  ]),
  changes({
    name: 'changes of budgets',
    collection: budgets,
    object: budget,
    changes: [
      { spec: { minAvailable: 2 } },
      { spec: { minAvailable: null, maxUnavailable: 1 } },
      { spec: { selector: { matchLabels: { app: 'y' } } } },
      { metadata: { resourceVersion: null } },
      { status: { disruptionsAllowed: 1 } },
    ],
  }),
  changes({
    name: 'changes of the status of budgets',
    collection: budgets,
    object: budget,
    subresource: 'status',
    changes: [
      {
        status: {
          disruptionsAllowed: 1,
          currentHealthy: 1,
          desiredHealthy: 1,
          expectedPods: 2,
          observedGeneration: 1,
        },
      },
      { status: { disruptionsAllowed: -1, currentHealthy: -1, desiredHealthy: -1, expectedPods: -1 } },
      { status: { disruptedPods: { p: '2020-01-01T00:00:00Z' } } },
      { status: { disruptedPods: { Bad_Pod: '2020-01-01T00:00:00Z' } } },
      { status: { conditions: [{ type: 'DisruptionAllowed', status: 'Odd' }] } },
    ],
  }),
  scenario(
    'eviction under a budget',
    ...['a', 'b', 'c'].map((name) => post(pods, pod(name), { form: 'metadata' })),
    ...['a', 'b', 'c'].map((name) => patch('merge', `${pods}/${name}/status`, running, { form: 'metadata' })),
    post(budgets, budget, { form: 'metadata' }),
    post(`${pods}/a/eviction`, {}),
    patch(
      'merge',
      `${budgets}/b/status`,
      {
        status: {
          observedGeneration: 1,
          disruptionsAllowed: 0,
          currentHealthy: 3,
          desiredHealthy: 3,
          expectedPods: 3,
        },
      },
      { form: 'metadata' },
    ),
    post(`${pods}/a/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } }),
    patch(
      'merge',
      `${budgets}/b/status`,
      { status: { disruptionsAllowed: 1, desiredHealthy: 2 } },
      { form: 'metadata' },
    ),
    post(`${pods}/a/eviction?dryRun=All`, {}),
    post(`${pods}/a/eviction`, { metadata: { name: 'other' } }),
    post(`${pods}/a/eviction`, {
      deleteOptions: { preconditions: { uid: '00000000-0000-0000-0000-000000000000' } },
    }),
    post(`${pods}/a/eviction`, { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: { name: 'a' } }),
    post(`${pods}/a/eviction`, { kind: 'Pod', apiVersion: 'v1' }),
    post(`${pods}/missing/eviction`, {}),
    post(`${pods}/a/eviction`, { metadata: { name: 'a' }, deleteOptions: { gracePeriodSeconds: 5 } }),
    get(`${pods}/a`),
    get(`${budgets}/b`),
    post(`${pods}/b/eviction`, {}),
    get(budgets, { accept: asTable }),
    patch('merge', `${pods}/c/status`, { status: { phase: 'Succeeded' } }, { form: 'metadata' }),
    post(`${pods}/c/eviction`, {}),
    post(budgets, { ...budget, metadata: { name: 'second' } }, { form: 'metadata' }),
    post(`${pods}/b/eviction`, {}),
    del(`${budgets}/b`),
    del(`${budgets}/second`),
    post(`${pods}/b/eviction`, {}),
    get(`${pods}/b`, { form: 'metadata' }),
  ),
];
