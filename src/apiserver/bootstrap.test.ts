import { expect, test } from 'vitest';
import { bootstrap } from './bootstrap.ts';
import { RegistryWorld } from './registry/testing/registry-world.ts';

test('every cluster begins with the same objects', async () => {
  const world = await RegistryWorld.start();
  expect((await world.list('namespaces')).names).toEqual([
    'default',
    'kube-node-lease',
    'kube-public',
    'kube-system',
  ]);
  expect((await world.list('priorityclasses')).names).toEqual([
    'system-cluster-critical',
    'system-node-critical',
  ]);
  expect((await world.get('services', 'kubernetes')).spec).toMatchObject({ clusterIP: '10.96.0.1' });
});

test('a second time it writes nothing', async () => {
  const world = await RegistryWorld.start();
  await world.patch('namespaces', 'default', { metadata: { labels: { mine: 'yes' } } });
  await world.patch('services', 'kubernetes', { metadata: { labels: { mine: 'yes' } } });
  const before = world.store.revision;
  await bootstrap(world.registry);
  expect(world.store.revision).toBe(before);
});

test('what is missing comes back, and what has taken its place stays', async () => {
  const world = await RegistryWorld.start();
  await world.delete('services', 'kubernetes');
  await bootstrap(world.registry);
  expect((await world.get('services', 'kubernetes')).spec).toMatchObject({ clusterIP: '10.96.0.1' });
  await world.delete('services', 'kubernetes');
  const mine = { metadata: { name: 'mine' }, spec: { clusterIP: '10.96.0.1', ports: [{ port: 80 }] } };
  await world.create('services', mine);
  await bootstrap(world.registry);
  expect((await world.list('services')).names).toEqual(['mine']);
});
