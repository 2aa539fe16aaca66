import { describe, expect, test } from 'vitest';
import { configMaps, pods } from '../../kube/resources.ts';
import { aPod, apiErrorOf, type ContractFixture, freshNamespace } from './contract-fixture.ts';

export function patchContract(fixture: () => ContractFixture): void {
  describe('patching', () => {
    async function aConfigMap() {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(configMaps);
      const made = await client.create({ metadata: { namespace, name: 'a' }, data: { one: '1', two: '2' } });
      return { client, key: { namespace, name: 'a' }, made };
    }

    test('merges, and removes what is null', async () => {
      const { client, key } = await aConfigMap();
      const changed = await client.patch(key, { type: 'merge', body: { data: { one: null, three: '3' } } });
      expect(changed.data).toEqual({ two: '2', three: '3' });
    });

    test('applies JSON patch operations, or none of them', async () => {
      const { client, key, made } = await aConfigMap();
      const failing = [
        { op: 'replace', path: '/data/one', value: 'changed' },
        { op: 'test', path: '/data/two', value: 'other' },
      ] as const;
      const error = await apiErrorOf(client.patch(key, { type: 'json', operations: failing }));
      expect(error.status).toMatchObject({ code: 422, reason: 'Invalid' });
      expect(await client.get(key)).toEqual(made);
      const changed = await client.patch(key, { type: 'json', operations: [failing[0]] });
      expect(changed.data).toEqual({ one: 'changed', two: '2' });
    });

    test('merges lists by their keys in a strategic patch', async () => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(pods);
      await client.create(aPod(namespace, 'a'));
      const body = {
        metadata: { finalizers: ['example.com/one'] },
        spec: { containers: [{ name: 'main', image: 'registry.k8s.io/pause:3.9' }] },
      };
      const changed = await client.patch({ namespace, name: 'a' }, { type: 'strategic', body });
      expect(changed.spec?.containers).toHaveLength(1);
      expect(changed.spec?.containers?.[0]).toMatchObject({
        name: 'main',
        image: 'registry.k8s.io/pause:3.9',
        imagePullPolicy: 'IfNotPresent',
      });
      await client.patch(
        { namespace, name: 'a' },
        { type: 'merge', body: { metadata: { finalizers: null } } },
      );
    });

    test('treats a version in the patch as a precondition', async () => {
      const { client, key, made } = await aConfigMap();
      const condition = { resourceVersion: made.metadata?.resourceVersion };
      const body = { metadata: condition, data: { one: 'first' } };
      await client.patch(key, { type: 'merge', body });
      const error = await apiErrorOf(
        client.patch(key, { type: 'merge', body: { ...body, data: { one: 'second' } } }),
      );
      expect(error.reason).toBe('Conflict');
    });

    test('treats a uid in the patch as a precondition', async () => {
      const { client, key } = await aConfigMap();
      const body = { metadata: { uid: '00000000-0000-4000-8000-000000000000' }, data: { one: 'changed' } };
      const error = await apiErrorOf(client.patch(key, { type: 'merge', body }));
      expect(error.code).toBe(422);
      expect(error.status.details?.causes?.[0]).toMatchObject({ field: 'metadata.uid' });
      expect(error.message).toContain('field is immutable');
    });

    test('fails if the object does not exist', async () => {
      const { client, key } = await aConfigMap();
      const error = await apiErrorOf(client.patch({ ...key, name: 'b' }, { type: 'merge', body: {} }));
      expect(error.reason).toBe('NotFound');
    });

    describe('by server-side apply', () => {
      function configuration(data: Readonly<Record<string, string>>) {
        const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data };
        return { type: 'apply', body } as const;
      }

      async function anAppliedMap() {
        const key = { namespace: await freshNamespace(fixture()), name: 'applied' };
        const client = fixture().cluster.resource(configMaps);
        const by = (fieldManager: string, data: Readonly<Record<string, string>>, force = false) =>
          client.patch(key, configuration(data), { fieldManager, force });
        return { by, made: await by('one', { a: '1', b: '1' }) };
      }

      test('creates a missing object, and writes nothing the second time', async () => {
        const { by, made } = await anAppliedMap();
        expect(made.data).toEqual({ a: '1', b: '1' });
        expect(made.metadata?.managedFields).toMatchObject([{ manager: 'one', operation: 'Apply' }]);
        const again = await by('one', { a: '1', b: '1' });
        expect(again.metadata?.resourceVersion).toBe(made.metadata?.resourceVersion);
      });

      test('refuses to change a field that another manager owns, unless it is forced', async () => {
        const { by } = await anAppliedMap();
        const { status } = await apiErrorOf(by('two', { a: '2' }));
        expect(status).toMatchObject({
          code: 409,
          reason: 'Conflict',
          message: 'Apply failed with 1 conflict: conflict with "one": .data.a',
          details: {
            causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.a' }],
          },
        });
        expect((await by('two', { a: '2' }, true)).data).toEqual({ a: '2', b: '1' });
      });

      test('removes fields that its manager no longer applies, but not those that another owns too', async () => {
        const { by } = await anAppliedMap();
        await by('two', { a: '1' });
        expect((await by('one', {})).data).toEqual({ a: '1' });
        expect((await by('two', {})).data ?? {}).toEqual({});
      });
    });

    test('writes nothing if nothing changes', async () => {
      const { client, key, made } = await aConfigMap();
      const same = await client.patch(key, { type: 'merge', body: { data: { one: '1' } } });
      expect(same.metadata?.resourceVersion).toBe(made.metadata?.resourceVersion);
    });
  });
}
