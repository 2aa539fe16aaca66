import { expect, test } from 'vitest';
import { discover } from './discovery.ts';

const verbs = ['create', 'delete', 'get', 'list', 'watch'];
const answers: Readonly<Record<string, unknown>> = {
  '/api': { versions: ['v1'] },
  '/apis': {
    groups: [
      {
        name: 'apps',
        preferredVersion: { version: 'v1' },
        versions: [{ version: 'v1' }, { version: 'v1beta1' }],
      },
      { name: 'events.k8s.io', preferredVersion: { version: 'v1' } },
      { name: 'metrics.k8s.io', preferredVersion: { version: 'v1beta1' } },
      { name: 'odd' },
    ],
  },
  '/api/v1': {
    resources: [
      { name: 'pods', kind: 'Pod', namespaced: true, verbs },
      { name: 'pods/status', kind: 'Pod', namespaced: true, verbs },
      { name: 'nodes', kind: 'Node', namespaced: false, verbs },
      { name: 'events', kind: 'Event', namespaced: true, verbs },
      { name: 'bindings', kind: 'Binding', namespaced: true, verbs: ['create'] },
    ],
  },
  '/apis/apps/v1': { resources: [{ name: 'deployments', kind: 'Deployment', namespaced: true, verbs }] },
  '/apis/events.k8s.io/v1': { resources: [{ name: 'events', kind: 'Event', namespaced: true, verbs }] },
};

async function read(path: string): Promise<unknown> {
  const answer = answers[path];
  if (answer === undefined) throw new Error(`${path} is down`);
  return answer;
}

test('finds what can be listed, watched and deleted, each once; an unavailable group does not hide the others', async () => {
  const { resources, failures } = await discover(read);
  expect(resources).toEqual([
    { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true },
    { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false },
    { group: '', version: 'v1', plural: 'events', kind: 'Event', namespaced: true },
    { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', namespaced: true },
  ]);
  expect(failures).toEqual([
    { groupVersion: 'metrics.k8s.io/v1beta1', error: new Error('/apis/metrics.k8s.io/v1beta1 is down') },
  ]);
});

test('fails if the server does not list its groups', async () => {
  await expect(discover(async () => Promise.reject(new Error('away')))).rejects.toThrow('away');
});

test.each([null, 'text', [], { versions: 1, groups: {} }])('%j has no resources', async (answer) => {
  expect(await discover(async () => answer)).toEqual({ resources: [], failures: [] });
});
