import { describe, expect, test } from 'vitest';
import { configMaps, pods } from '../../kube/resources.ts';
import { aPod, apiErrorOf, type ContractFixture, freshNamespace } from './contract-fixture.ts';

export function listContract(fixture: () => ContractFixture): void {
  describe('listing', () => {
    async function letters(names: readonly string[]) {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(configMaps);
      for (const name of names) {
        await client.create({
          metadata: { namespace, name, labels: { letter: name, shape: name < 'c' ? 'early' : 'late' } },
        });
      }
      return { client, namespace };
    }

    function namesOf(items: readonly { readonly metadata?: { readonly name?: string } }[]) {
      return items.map(({ metadata }) => metadata?.name);
    }

    test('comes in the order of names, one namespace at a time', async () => {
      const { client, namespace } = await letters(['b', 'a', 'c']);
      await letters(['x']);
      const { items, metadata } = await client.list({ namespace });
      expect(namesOf(items)).toEqual(['a', 'b', 'c']);
      expect(Number(metadata.resourceVersion)).toBeGreaterThan(0);
    });

    test.each([
      ['letter=a', ['a']],
      ['letter!=a', ['b', 'c', 'd']],
      ['letter in (a,d)', ['a', 'd']],
      ['letter notin (a,d),shape=late', ['c']],
      ['shape=early,letter', ['a', 'b']],
      ['!absent,letter==b', ['b']],
      ['absent', []],
    ])('selects by label: %s', async (labelSelector, expected) => {
      const { client, namespace } = await letters(['a', 'b', 'c', 'd']);
      const { items } = await client.list({ namespace, labelSelector });
      expect(namesOf(items)).toEqual(expected);
    });

    test('selects by field, where an absent boolean counts as false', async () => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(pods);
      await client.create(aPod(namespace, 'a', { nodeName: 'node-1' }));
      await client.create(aPod(namespace, 'b'));
      const listed = async (fieldSelector: string) =>
        namesOf((await client.list({ namespace, fieldSelector })).items);
      expect(await listed('spec.nodeName=node-1')).toEqual(['a']);
      expect(await listed('spec.nodeName=')).toEqual(['b']);
      expect(await listed('metadata.name!=a,status.phase=Pending')).toEqual(['b']);
    });

    test.each([
      ['labelSelector', 'a===b', "unable to parse requirement: found '=', expected: identifier"],
      ['labelSelector', 'a in b', "unable to parse requirement: found 'b' expected: '('"],
      [
        'fieldSelector',
        'spec.x=1',
        '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
      ],
      ['fieldSelector', 'x', "invalid selector: 'x'; can't understand 'x'"],
    ])('refuses a bad %s: %s', async (option, text, message) => {
      const error = await apiErrorOf(
        fixture()
          .cluster.resource(configMaps)
          .list({ [option]: text }),
      );
      expect(error.status).toMatchObject({ code: 400, reason: 'BadRequest', message });
    });

    test('comes in pages that belong to one version', async () => {
      const { client, namespace } = await letters(['a', 'b', 'c', 'd', 'e']);
      const first = await client.list({ namespace, limit: 2 });
      expect(namesOf(first.items)).toEqual(['a', 'b']);
      expect(first.metadata.remainingItemCount).toBe(3);
      await client.delete({ namespace, name: 'c' });
      await client.create({ metadata: { namespace, name: 'cc' } });
      const rest = await client.list({ namespace, limit: 10, continue: first.metadata.continue ?? '' });
      expect(namesOf(rest.items)).toEqual(['c', 'd', 'e']);
      expect(rest.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
      expect(rest.metadata.continue ?? '').toBe('');
    });

    test('refuses a token that it did not make', async () => {
      const error = await apiErrorOf(
        fixture().cluster.resource(configMaps).list({ limit: 1, continue: 'abc' }),
      );
      expect(error.code).toBe(400);
      expect(error.message).toContain('invalid continue token: continue key is not valid');
    });

    test('returns an earlier version if exactly that is requested', async () => {
      const { client, namespace } = await letters(['a', 'b']);
      const before = await client.list({ namespace });
      await client.delete({ namespace, name: 'a' });
      const then = await client.list({
        namespace,
        resourceVersion: before.metadata.resourceVersion,
        resourceVersionMatch: 'Exact',
      });
      expect(namesOf(then.items)).toEqual(['a', 'b']);
      const notOlder = await client.list({
        namespace,
        resourceVersion: before.metadata.resourceVersion,
        resourceVersionMatch: 'NotOlderThan',
      });
      expect(Number(notOlder.metadata.resourceVersion)).toBeGreaterThanOrEqual(
        Number(before.metadata.resourceVersion),
      );
    });

    test('fails for a version that does not exist yet', async () => {
      const error = await apiErrorOf(
        fixture().cluster.resource(configMaps).list({ resourceVersion: '900000000000000' }),
      );
      expect(error.status).toMatchObject({ code: 504, reason: 'Timeout' });
      expect(error.status.details?.causes?.[0]?.reason).toBe('ResourceVersionTooLarge');
    }, 30_000);
  });
}
