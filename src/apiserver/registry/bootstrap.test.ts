import { expect, test } from 'vitest';
import { bootstrap } from './bootstrap.ts';
import { RegistryFixture } from './testing/registry-fixture.ts';

test('every cluster begins with the same objects', async () => {
  const fixture = await RegistryFixture.start();
  expect((await fixture.list('namespaces')).names).toEqual([
    'default',
    'kube-node-lease',
    'kube-public',
    'kube-system',
  ]);
  expect((await fixture.list('priorityclasses')).names).toEqual([
    'system-cluster-critical',
    'system-node-critical',
  ]);
  expect((await fixture.get('services', 'kubernetes')).spec).toMatchObject({ clusterIP: '10.96.0.1' });
});

test('a second run writes nothing', async () => {
  const fixture = await RegistryFixture.start();
  await fixture.patch('namespaces', 'default', { metadata: { labels: { mine: 'yes' } } });
  await fixture.patch('services', 'kubernetes', { metadata: { labels: { mine: 'yes' } } });
  const before = fixture.store.revision;
  await bootstrap(fixture.registry);
  expect(fixture.store.revision).toBe(before);
});

test('missing objects are recreated unless another object has their address', async () => {
  const fixture = await RegistryFixture.start();
  await fixture.delete('services', 'kubernetes');
  await bootstrap(fixture.registry);
  expect((await fixture.get('services', 'kubernetes')).spec).toMatchObject({ clusterIP: '10.96.0.1' });
  await fixture.delete('services', 'kubernetes');
  const mine = { metadata: { name: 'mine' }, spec: { clusterIP: '10.96.0.1', ports: [{ port: 80 }] } };
  await fixture.create('services', mine);
  await bootstrap(fixture.registry);
  expect((await fixture.list('services')).names).toEqual(['mine']);
});
