import { expect, test } from 'vitest';
import { RegistryWorld } from '../registry/testing/registry-world.ts';
import { bootstrapPolicy } from './bootstrap-policy.ts';

async function start(): Promise<RegistryWorld> {
  const world = await RegistryWorld.start();
  await bootstrapPolicy(world.registry);
  return world;
}

const autoUpdate = 'rbac.authorization.kubernetes.io/autoupdate';
const own = { verbs: ['get'], apiGroups: ['mine'], resources: ['things'] };

test('every cluster has the roles that Kubernetes makes', async () => {
  const world = await start();
  const { names } = await world.list('clusterroles');
  expect(names).toEqual(
    expect.arrayContaining(['admin', 'cluster-admin', 'edit', 'system:basic-user', 'view']),
  );
  const before = world.store.revision;
  await bootstrapPolicy(world.registry);
  expect(world.store.revision).toBe(before);
});

test('what was taken from them comes back, what was added stays', async () => {
  const world = await start();
  await world.patch('clusterroles', 'system:basic-user', { rules: [own] });
  await world.patch('clusterrolebindings', 'system:basic-user', {
    subjects: [{ kind: 'User', name: 'bob' }],
  });
  await world.patch('clusterroles', 'view', { metadata: { labels: null }, aggregationRule: null });
  await world.delete('clusterroles', 'system:discovery');
  await bootstrapPolicy(world.registry);
  const role = (await world.get('clusterroles', 'system:basic-user')) as unknown as { rules: object[] };
  expect(role.rules[0]).toEqual(own);
  expect(role.rules).toContainEqual({
    verbs: ['create'],
    apiGroups: ['authentication.k8s.io'],
    resources: ['selfsubjectreviews'],
  });
  const binding = (await world.get('clusterrolebindings', 'system:basic-user')) as unknown as {
    subjects: object[];
  };
  expect(binding.subjects).toMatchObject([{ name: 'bob' }, { name: 'system:authenticated' }]);
  expect(await world.get('clusterroles', 'view')).toMatchObject({
    metadata: { labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' } },
    aggregationRule: { clusterRoleSelectors: [{}] },
  });
  expect((await world.list('clusterroles')).names).toContain('system:discovery');
});

test('one that says so is left alone', async () => {
  const world = await start();
  const metadata = { annotations: { [autoUpdate]: 'false' } };
  await world.patch('clusterroles', 'system:basic-user', { metadata, rules: [own] });
  await bootstrapPolicy(world.registry);
  const role = (await world.get('clusterroles', 'system:basic-user')) as unknown as { rules: object[] };
  expect(role.rules).toEqual([own]);
});

test('a binding of another role is made anew', async () => {
  const world = await start();
  await world.delete('clusterrolebindings', 'system:basic-user');
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
  await world.create('clusterrolebindings', { metadata: { name: 'system:basic-user' }, roleRef });
  await bootstrapPolicy(world.registry);
  expect(await world.get('clusterrolebindings', 'system:basic-user')).toMatchObject({
    roleRef: { name: 'system:basic-user' },
  });
});
