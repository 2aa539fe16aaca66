import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { settle } from '../../store/testing/manual-durability.ts';
import type { RegistryEvent } from '../registry.ts';
import { RegistryFixture } from '../testing/registry-fixture.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

test('events are shared by all watchers and freed afterwards, though the history keeps the change', async () => {
  const fixture = await RegistryFixture.start();
  const seen: WeakRef<RegistryEvent>[][] = [[], []];
  const take = (into: WeakRef<RegistryEvent>[]) => (events: readonly RegistryEvent[]) =>
    void into.push(...events.map((event) => new WeakRef(event)));
  const before = String(fixture.store.revision);
  const query = { resourceVersion: before, labelSelector: 'a=1' };
  for (const into of seen)
    await fixture.registry.watch(fixture.kind('configmaps'), query, { events: take(into) });
  await fixture.create('configmaps', { metadata: { name: 'c', labels: { a: '1' } } });
  await fixture.patch('configmaps', 'c', { metadata: { labels: { a: '2' } } });
  await settle();
  const [left, right] = seen.map((refs) => refs.map((ref) => ref.deref()));
  expect(left?.map((event) => event?.type)).toEqual(['ADDED', 'DELETED']);
  expect(left?.every((event, index) => event === right?.[index])).toBe(true);
  left?.splice(0);
  right?.splice(0);
  await settle();
  collectGarbage();
  expect(seen.flat().map((ref) => ref.deref())).toEqual([undefined, undefined, undefined, undefined]);
  expect((await fixture.watch('configmaps', query)).described()).toHaveLength(2);
});
