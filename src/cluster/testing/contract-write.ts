import { describe, expect, test } from 'vitest';
import { configMaps, leases, persistentVolumes, pods } from '../../kube/resources.ts';
import {
  aPod,
  apiErrorOf,
  aVolume,
  type ContractFixture,
  freshName,
  freshNamespace,
} from './contract-fixture.ts';

export function writeContract(fixture: () => ContractFixture): void {
  describe('creating and replacing', () => {
    test('gives a new object uid, version and time, and returns it to get', async () => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(configMaps);
      const made = await client.create({ metadata: { namespace, name: 'a' }, data: { key: 'value' } });
      expect(made.metadata?.uid).toMatch(/^[0-9a-f-]{36}$/);
      expect(made.metadata?.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(Number(made.metadata?.resourceVersion)).toBeGreaterThan(0);
      expect(await client.get({ namespace, name: 'a' })).toEqual(made);
    });

    test('makes names from generateName, without vowels', async () => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(configMaps);
      const object = { metadata: { namespace, generateName: 'generated-' } };
      const [one, two] = await Promise.all([client.create(object), client.create(object)]);
      expect(one?.metadata?.name).toMatch(/^generated-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
      expect(one?.metadata?.name).not.toBe(two?.metadata?.name);
    });

    test('refuses a name that is taken', async () => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(configMaps);
      await client.create({ metadata: { namespace, name: 'a' } });
      const error = await apiErrorOf(client.create({ metadata: { namespace, name: 'a' } }));
      expect(error.status).toMatchObject({
        code: 409,
        reason: 'AlreadyExists',
        message: 'configmaps "a" already exists',
        details: { name: 'a', kind: 'configmaps' },
      });
    });

    test('fails for a missing object', async () => {
      const namespace = await freshNamespace(fixture());
      const error = await apiErrorOf(fixture().cluster.resource(pods).get({ namespace, name: 'absent' }));
      expect(error.status).toMatchObject({
        code: 404,
        reason: 'NotFound',
        message: 'pods "absent" not found',
      });
    });

    test('refuses objects of a namespace that does not exist', async () => {
      const namespace = freshName('nowhere');
      const error = await apiErrorOf(
        fixture()
          .cluster.resource(configMaps)
          .create({ metadata: { namespace, name: 'a' } }),
      );
      expect(error.status).toMatchObject({
        code: 404,
        reason: 'NotFound',
        message: `namespaces "${namespace}" not found`,
      });
    });

    test('refuses a version on a new object', async () => {
      const namespace = await freshNamespace(fixture());
      const object = { metadata: { namespace, name: 'a', resourceVersion: '12' } };
      const error = await apiErrorOf(fixture().cluster.resource(configMaps).create(object));
      expect(error.message).toBe('resourceVersion should not be set on objects to be created');
    });

    test('keeps the version of an object that an update does not change', async () => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(configMaps);
      const made = await client.create({ metadata: { namespace, name: 'a' }, data: { key: 'value' } });
      const same = await client.update(made);
      expect(same.metadata?.resourceVersion).toBe(made.metadata?.resourceVersion);
    });

    test('refuses an update of an outdated read', async () => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(configMaps);
      const read = await client.create({ metadata: { namespace, name: 'a' } });
      await client.update({ ...read, data: { by: 'one' } });
      const error = await apiErrorOf(client.update({ ...read, data: { by: 'two' } }));
      expect(error.status).toMatchObject({
        code: 409,
        reason: 'Conflict',
        message:
          'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
      });
    });

    test('refuses an update of an object that was replaced', async () => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(configMaps);
      const first = await client.create({ metadata: { namespace, name: 'a' } });
      await client.delete({ namespace, name: 'a' });
      await client.create({ metadata: { namespace, name: 'a' } });
      const { resourceVersion: _, ...metadata } = first.metadata ?? {};
      const error = await apiErrorOf(client.update({ ...first, metadata }));
      expect(error.reason).toBe('Conflict');
      expect(error.message).toContain(`Precondition failed: UID in precondition: ${first.metadata?.uid}`);
    });

    test('creates a Lease by PUT, and requires a version to replace it', async () => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(leases);
      const made = await client.update({
        metadata: { namespace, name: 'a' },
        spec: { holderIdentity: 'me' },
      });
      expect(made.metadata?.uid).toBeDefined();
      const error = await apiErrorOf(client.update({ metadata: { namespace, name: 'a' } }));
      expect(error.code).toBe(422);
      expect(error.status.details?.causes?.[0]?.field).toBe('metadata.resourceVersion');
    });

    test('writes nothing on a dry run but returns the result', async () => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(configMaps);
      const made = await client.create({ metadata: { namespace, name: 'a' } }, { dryRun: true });
      expect(made.metadata?.uid).toBeDefined();
      expect(made.metadata?.resourceVersion ?? '').toBe('');
      expect((await apiErrorOf(client.get({ namespace, name: 'a' }))).reason).toBe('NotFound');
    });

    test('reads quantities back in their canonical form', async () => {
      const client = fixture().cluster.resource(persistentVolumes);
      const made = await client.create(aVolume(freshName('pv'), { capacity: { storage: '1024Mi' } }));
      expect(made.spec?.capacity?.storage).toBe('1Gi');
      expect(made.spec?.persistentVolumeReclaimPolicy).toBe('Retain');
      expect(made.metadata?.finalizers).toEqual(['kubernetes.io/pv-protection']);
    });

    test('records who owns which field', async () => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(configMaps);
      const object = { metadata: { namespace, name: 'a' }, data: { key: 'value' } };
      const made = await client.create(object, { fieldManager: 'the-creator' });
      expect(made.metadata?.managedFields).toEqual([
        {
          manager: 'the-creator',
          operation: 'Update',
          apiVersion: 'v1',
          time: made.metadata?.creationTimestamp,
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:data': { '.': {}, 'f:key': {} } },
        },
      ]);
      const body = { data: { other: 'value' } };
      const key = { namespace, name: 'a' };
      const changed = await client.patch(key, { type: 'merge', body }, { fieldManager: 'another' });
      // The server sorts entries by their second first, so their order depends on when the second one was written.
      const entries = changed.metadata?.managedFields ?? [];
      const fieldsByManager = Object.fromEntries(entries.map(({ manager, fieldsV1 }) => [manager, fieldsV1]));
      expect(fieldsByManager).toEqual({
        another: { 'f:data': { 'f:other': {} } },
        'the-creator': { 'f:data': { '.': {}, 'f:key': {} } },
      });
    });

    test('refuses unknown fields if the writer asks for strict validation', async () => {
      const namespace = await freshNamespace(fixture());
      const object = { ...aPod(namespace, 'a'), misspelled: true };
      const error = await apiErrorOf(
        fixture().cluster.resource(pods).create(object, { fieldValidation: 'Strict' }),
      );
      expect(error.code).toBe(400);
      expect(error.message).toContain('strict decoding error: unknown field "misspelled"');
    });
  });
}
