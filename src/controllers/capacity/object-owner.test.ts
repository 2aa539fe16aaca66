import { expect, test } from 'vitest';
import { csiStorageCapacities, daemonSets, pods } from '../../kube/resources.ts';
import { gib, PublisherFixture } from './testing/publisher-fixture.ts';

const namespace = 'kube-system';

async function startedWith(level: number): Promise<PublisherFixture> {
  const fixture = await PublisherFixture.prepare({
    pools: { n1: gib },
    settings: { owner: { podName: 'csi-x', level } },
  });
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const set = await fixture.cluster.resource(daemonSets).create({
    metadata: { namespace, name: 'csi' },
    spec: { selector: { matchLabels: { a: 'b' } }, template },
  });
  const controller = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'csi', uid: set.metadata?.uid ?? '' };
  await fixture.cluster.resource(pods).create({
    metadata: { namespace, name: 'csi-x', ownerReferences: [{ ...controller, controller: true }] },
    spec: template.spec,
  });
  fixture.run();
  await fixture.settle();
  return fixture;
}

async function ownersIn(fixture: PublisherFixture): Promise<readonly string[]> {
  const { items } = await fixture.cluster.resource(csiStorageCapacities).list();
  return items.flatMap(({ metadata }) =>
    (metadata?.ownerReferences ?? []).map(({ kind, name, controller }) => `${kind} ${name} ${controller}`),
  );
}

test.each([
  { level: 0, owner: 'Pod csi-x true' },
  { level: 1, owner: 'DaemonSet csi true' },
])('--capacity-ownerref-level $level: the owner is $owner', async ({ level, owner }) => {
  await using fixture = await startedWith(level);
  expect(await ownersIn(fixture)).toEqual([owner]);
});

test('a level above the last controller publishes nothing, and the error names the remedy', async () => {
  await using fixture = await startedWith(2);
  expect(await fixture.published()).toEqual([]);
});

test('a missing owner is added', async () => {
  await using fixture = await startedWith(1);
  const client = fixture.cluster.resource(csiStorageCapacities);
  const [object] = (await client.list()).items;
  const name = object?.metadata?.name ?? '';
  await client.patch({ namespace, name }, { type: 'merge', body: { metadata: { ownerReferences: null } } });
  await fixture.settle();
  expect(await ownersIn(fixture)).toEqual(['DaemonSet csi true']);
});
