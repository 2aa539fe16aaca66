import { expect, test } from 'vitest';
import { RegistryFixture } from '../registry/testing/registry-fixture.ts';
import { bootstrapPolicy } from './bootstrap-policy.ts';

async function start(): Promise<RegistryFixture> {
  const fixture = await RegistryFixture.start();
  await bootstrapPolicy(fixture.registry);
  return fixture;
}

const autoUpdate = 'rbac.authorization.kubernetes.io/autoupdate';
const own = { verbs: ['get'], apiGroups: ['mine'], resources: ['things'] };

test('every cluster has the default roles of Kubernetes', async () => {
  const fixture = await start();
  const { names } = await fixture.list('clusterroles');
  expect(names).toEqual(
    expect.arrayContaining(['admin', 'cluster-admin', 'edit', 'system:basic-user', 'view']),
  );
  const before = fixture.store.revision;
  await bootstrapPolicy(fixture.registry);
  expect(fixture.store.revision).toBe(before);
});

test('removed rules and subjects are restored, additions stay', async () => {
  const fixture = await start();
  await fixture.patch('clusterroles', 'system:basic-user', { rules: [own] });
  await fixture.patch('clusterrolebindings', 'system:basic-user', {
    subjects: [{ kind: 'User', name: 'bob' }],
  });
  await fixture.patch('clusterroles', 'view', { metadata: { labels: null }, aggregationRule: null });
  await fixture.delete('clusterroles', 'system:discovery');
  await bootstrapPolicy(fixture.registry);
  const role = (await fixture.get('clusterroles', 'system:basic-user')) as unknown as { rules: object[] };
  expect(role.rules[0]).toEqual(own);
  expect(role.rules).toContainEqual({
    verbs: ['create'],
    apiGroups: ['authentication.k8s.io'],
    resources: ['selfsubjectreviews'],
  });
  const binding = (await fixture.get('clusterrolebindings', 'system:basic-user')) as unknown as {
    subjects: object[];
  };
  expect(binding.subjects).toMatchObject([{ name: 'bob' }, { name: 'system:authenticated' }]);
  expect(await fixture.get('clusterroles', 'view')).toMatchObject({
    metadata: { labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' } },
    aggregationRule: { clusterRoleSelectors: [{}] },
  });
  expect((await fixture.list('clusterroles')).names).toContain('system:discovery');
});

test('an object with auto-update disabled is left unchanged', async () => {
  const fixture = await start();
  const metadata = { annotations: { [autoUpdate]: 'false' } };
  await fixture.patch('clusterroles', 'system:basic-user', { metadata, rules: [own] });
  await bootstrapPolicy(fixture.registry);
  const role = (await fixture.get('clusterroles', 'system:basic-user')) as unknown as { rules: object[] };
  expect(role.rules).toEqual([own]);
});

test('a binding to another role is recreated', async () => {
  const fixture = await start();
  await fixture.delete('clusterrolebindings', 'system:basic-user');
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
  await fixture.create('clusterrolebindings', { metadata: { name: 'system:basic-user' }, roleRef });
  await bootstrapPolicy(fixture.registry);
  expect(await fixture.get('clusterrolebindings', 'system:basic-user')).toMatchObject({
    roleRef: { name: 'system:basic-user' },
  });
});
