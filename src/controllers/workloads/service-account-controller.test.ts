import { expect, test } from 'vitest';
import { configMaps, namespaces, serviceAccounts } from '../../kube/resources.ts';
import { RealTimeCluster, untilGone, untilObject } from '../testing/real-time-cluster.ts';

const account = { namespace: 'a', name: 'default' };
const authority = { namespace: 'a', name: 'kube-root-ca.crt' };

async function start(): Promise<RealTimeCluster> {
  const fixture = await RealTimeCluster.start('serviceaccount', 'namespace');
  await fixture.cluster.resource(namespaces).create({ metadata: { name: 'a' } });
  return fixture;
}

test("every namespace has a service account, and the server's certificate authority", async () => {
  await using fixture = await start();
  for (const namespace of ['a', 'default', 'kube-system']) {
    await untilObject(fixture.cluster.resource(serviceAccounts), { ...account, namespace }, () => true);
    const maps = fixture.cluster.resource(configMaps);
    await untilObject(maps, { ...authority, namespace }, () => true);
    const found = await maps.get({ ...authority, namespace });
    expect(found.data).toEqual({ 'ca.crt': 'PEM' });
    expect(found.metadata?.annotations?.['kubernetes.io/description']).toMatch(/^Contains a CA bundle/);
  }
});

test('deleted or changed objects are restored', async () => {
  await using fixture = await start();
  const accounts = fixture.cluster.resource(serviceAccounts);
  const maps = fixture.cluster.resource(configMaps);
  await untilObject(accounts, account, () => true);
  const first = await accounts.get(account);
  await untilObject(maps, authority, () => true);
  await accounts.delete(account);
  await untilObject(accounts, account, ({ metadata }) => metadata?.uid !== first.metadata?.uid);
  await maps.patch(authority, { type: 'merge', body: { data: { 'ca.crt': 'other', more: 'x' } } });
  await untilObject(maps, authority, ({ data }) => data?.['ca.crt'] === 'PEM');
  expect((await maps.get(authority)).data).toEqual({ 'ca.crt': 'PEM' });
  await maps.delete(authority);
  await untilObject(maps, authority, () => true);
});

test('other fields of the service account stay', async () => {
  await using fixture = await start();
  const accounts = fixture.cluster.resource(serviceAccounts);
  await untilObject(accounts, account, () => true);
  await accounts.patch(account, { type: 'merge', body: { imagePullSecrets: [{ name: 'mine' }] } });
  await fixture.cluster
    .resource(namespaces)
    .patch({ name: 'a' }, { type: 'merge', body: { metadata: { labels: { x: 'y' } } } });
  await fixture.cluster.resource(namespaces).create({ metadata: { name: 'b' } });
  await untilObject(accounts, { ...account, namespace: 'b' }, () => true);
  expect((await accounts.get(account)).imagePullSecrets).toEqual([{ name: 'mine' }]);
});

test('a terminating namespace is not blocked', async () => {
  await using fixture = await start();
  await untilObject(fixture.cluster.resource(configMaps), authority, () => true);
  await fixture.cluster.resource(namespaces).delete({ name: 'a' });
  await untilGone(fixture.cluster.resource(namespaces), { name: 'a' });
});
