import { describe, expect, test } from 'vitest';
import { configMaps } from '../../kube/resources.ts';
import { type ContractFixture, EventReader, freshNamespace } from './contract-fixture.ts';

export function watchContract(fixture: () => ContractFixture): void {
  describe('watching', () => {
    async function aNamespace() {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(configMaps);
      const put = (name: string, labels: Readonly<Record<string, string>> = {}) =>
        client.create({ metadata: { namespace, name, labels } });
      return { client, namespace, put };
    }

    test('returns the changes after a version, in order', async () => {
      const { client, namespace, put } = await aNamespace();
      await put('before');
      const { metadata } = await client.list({ namespace });
      await put('a');
      await client.patch({ namespace, name: 'a' }, { type: 'merge', body: { data: { key: 'value' } } });
      await using reader = new EventReader(client, { namespace, resourceVersion: metadata.resourceVersion });
      expect(await reader.changes(2)).toEqual(['ADDED a', 'MODIFIED a']);
      await client.delete({ namespace, name: 'a' });
      await put('b');
      expect(await reader.changes(2)).toEqual(['DELETED a', 'ADDED b']);
    });

    test('starts with the existing objects if no version is given', async () => {
      const { client, namespace, put } = await aNamespace();
      await put('a');
      await put('b');
      await using reader = new EventReader(client, { namespace });
      expect((await reader.changes(2)).toSorted()).toEqual(['ADDED a', 'ADDED b']);
      await put('c');
      expect(await reader.nextChange()).toBe('ADDED c');
    });

    test('marks the end of the initial objects', async () => {
      const { client, namespace, put } = await aNamespace();
      await put('a');
      await using reader = new EventReader(client, { namespace, sendInitialEvents: true, bookmarks: true });
      expect(await reader.nextChange()).toBe('ADDED a');
      expect(await reader.next()).toMatchObject({ type: 'BOOKMARK', isInitialEnd: true });
      await put('b');
      expect(await reader.nextChange()).toBe('ADDED b');
    });

    test('shows objects appear and disappear as they match a selector', async () => {
      const { client, namespace, put } = await aNamespace();
      const { metadata } = await client.list({ namespace });
      const options = { namespace, labelSelector: 'colour=red', resourceVersion: metadata.resourceVersion };
      await using reader = new EventReader(client, options);
      await put('a', { colour: 'blue' });
      const paint = (colour: string) =>
        client.patch({ namespace, name: 'a' }, { type: 'merge', body: { metadata: { labels: { colour } } } });
      const red = await paint('red');
      const added = await reader.next();
      expect(added).toMatchObject({
        type: 'ADDED',
        object: { metadata: { resourceVersion: red.metadata?.resourceVersion } },
      });
      const blue = await paint('blue');
      const gone = await reader.next();
      expect(gone).toMatchObject({
        type: 'DELETED',
        object: { metadata: { labels: { colour: 'red' }, resourceVersion: blue.metadata?.resourceVersion } },
      });
    });

    test('reports a deletion under a version of its own', async () => {
      const { client, namespace, put } = await aNamespace();
      const made = await put('a');
      await using reader = new EventReader(client, {
        namespace,
        resourceVersion: made.metadata?.resourceVersion ?? '',
      });
      await client.delete({ namespace, name: 'a' });
      const event = await reader.next();
      if (event.type !== 'DELETED') throw new Error(`${event.type} is not a deletion`);
      expect(Number(event.object.metadata?.resourceVersion)).toBeGreaterThan(
        Number(made.metadata?.resourceVersion),
      );
    });

    test('loses nothing and repeats nothing while many write', async () => {
      const { client, namespace, put } = await aNamespace();
      const { metadata } = await client.list({ namespace });
      await using reader = new EventReader(client, { namespace, resourceVersion: metadata.resourceVersion });
      const names = Array.from({ length: 100 }, (_, index) => `object-${index}`);
      await Promise.all(names.map((name) => put(name)));
      const seen: string[] = [];
      let last = 0;
      while (seen.length < names.length) {
        const event = await reader.next();
        if (event.type === 'BOOKMARK') continue;
        const version = Number(event.object.metadata?.resourceVersion);
        expect(version).toBeGreaterThan(last);
        last = version;
        seen.push(event.object.metadata?.name ?? '');
      }
      expect(seen.toSorted()).toEqual(names.toSorted());
    });

    test('ends when its signal aborts', async () => {
      const { client, namespace } = await aNamespace();
      const abort = new AbortController();
      const { metadata } = await client.list({ namespace });
      const events = client.watch({
        namespace,
        resourceVersion: metadata.resourceVersion,
        signal: abort.signal,
      });
      const iterator = events[Symbol.asyncIterator]();
      const next = iterator.next();
      abort.abort();
      expect((await next).done).toBe(true);
    });
  });
}
