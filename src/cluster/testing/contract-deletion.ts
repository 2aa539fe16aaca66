import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../kube/api/meta.ts';
import { configMaps, persistentVolumeClaims, pods, replicaSets } from '../../kube/resources.ts';
import {
  aClaim,
  aPod,
  apiErrorOf,
  type ContractFixture,
  EventReader,
  freshNamespace,
} from './contract-fixture.ts';

export function deletionContract(fixture: () => ContractFixture): void {
  describe('deleting', () => {
    async function aConfigMap(finalizers: readonly string[] = []) {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(configMaps);
      const made = await client.create({ metadata: { namespace, name: 'a', finalizers } });
      return { client, key: { namespace, name: 'a' }, made };
    }

    test('removes an object without finalizers, and returns its identity', async () => {
      const { client, key, made } = await aConfigMap();
      expect(await client.delete(key)).toMatchObject({
        status: 'Success',
        details: { name: 'a', kind: 'configmaps', uid: made.metadata?.uid },
      });
      expect((await apiErrorOf(client.get(key))).reason).toBe('NotFound');
      expect((await apiErrorOf(client.delete(key))).reason).toBe('NotFound');
    });

    test('waits for finalizers, and ends with the last of them', async () => {
      const { client, key, made } = await aConfigMap(['example.com/hold']);
      const marked = (await client.delete(key)) as KubeObject;
      expect(marked.metadata).toMatchObject({ uid: made.metadata?.uid, deletionGracePeriodSeconds: 0 });
      expect(marked.metadata?.deletionTimestamp).toBeDefined();
      const again = (await client.delete(key)) as KubeObject;
      expect(again.metadata?.resourceVersion).toBe(marked.metadata?.resourceVersion);

      const recreated = await apiErrorOf(client.create({ metadata: key }));
      expect(recreated.message).toBe('object is being deleted: configmaps "a" already exists');
      const body = { metadata: { finalizers: ['example.com/hold', 'example.com/more'] } };
      const added = await apiErrorOf(client.patch(key, { type: 'merge', body }));
      expect(added.status).toMatchObject({ code: 422, reason: 'Invalid' });
      expect(added.message).toContain('no new finalizers can be added if the object is being deleted');

      await client.patch(key, { type: 'merge', body: { metadata: { finalizers: null } } });
      expect((await apiErrorOf(client.get(key))).reason).toBe('NotFound');
    });

    test('checks preconditions', async () => {
      const { client, key, made } = await aConfigMap();
      const otherUid = '00000000-0000-4000-8000-000000000000';
      const wrongUid = await apiErrorOf(client.delete(key, { preconditions: { uid: otherUid } }));
      expect(wrongUid.status).toMatchObject({ code: 409, reason: 'Conflict' });
      expect(wrongUid.message).toContain(
        `the UID in the precondition (${otherUid}) does not match the UID in record`,
      );
      const wrongVersion = await apiErrorOf(client.delete(key, { preconditions: { resourceVersion: '1' } }));
      expect(wrongVersion.reason).toBe('Conflict');
      const { uid = '', resourceVersion = '' } = made.metadata ?? {};
      await client.delete(key, { preconditions: { uid, resourceVersion } });
    });

    test('gives a scheduled pod its grace period, which may only get shorter', async () => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(pods);
      await client.create(aPod(namespace, 'a', { nodeName: 'node-1' }));
      const key = { namespace, name: 'a' };
      const marked = (await client.delete(key)) as KubeObject;
      expect(marked.metadata?.deletionGracePeriodSeconds).toBe(30);
      const longer = (await client.delete(key, { gracePeriodSeconds: 60 })) as KubeObject;
      expect(longer.metadata?.deletionGracePeriodSeconds).toBe(30);
      const shorter = (await client.delete(key, { gracePeriodSeconds: 5 })) as KubeObject;
      expect(shorter.metadata?.deletionGracePeriodSeconds).toBe(5);
      await client.delete(key, { gracePeriodSeconds: 0 });
      expect((await apiErrorOf(client.get(key))).reason).toBe('NotFound');
    });

    test('removes a pod without a node at once, in two steps that watchers see', async () => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(pods);
      const made = await client.create(aPod(namespace, 'a'));
      const options = { namespace, resourceVersion: made.metadata?.resourceVersion ?? '' };
      await using reader = new EventReader(client, options);
      await client.delete({ namespace, name: 'a' });
      expect(await reader.changes(2)).toEqual(['MODIFIED a', 'DELETED a']);
    });

    test.each([
      ['Foreground', ['foregroundDeletion']],
      ['Orphan', ['orphan']],
    ] as const)('holds the owner for the garbage collector: %s', async (propagationPolicy, finalizers) => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(replicaSets);
      const labels = { app: 'a' };
      const template = { metadata: { labels }, spec: aPod(namespace, 'x').spec ?? {} };
      await client.create({
        metadata: { namespace, name: 'a' },
        spec: { replicas: 0, selector: { matchLabels: labels }, template },
      });
      const marked = (await client.delete({ namespace, name: 'a' }, { propagationPolicy })) as KubeObject;
      expect(marked.metadata?.finalizers).toEqual(finalizers);
      expect(marked.metadata?.generation).toBe(2);
    });

    test('keeps a claim that is protected', async () => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(persistentVolumeClaims);
      const made = await client.create(aClaim(namespace, 'a'));
      expect(made.metadata?.finalizers).toEqual(['kubernetes.io/pvc-protection']);
      const marked = (await client.delete({ namespace, name: 'a' })) as KubeObject;
      expect(marked.metadata?.deletionTimestamp).toBeDefined();
    });

    test('deletes a selection', async () => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(configMaps);
      for (const name of ['a', 'b', 'c']) {
        await client.create({ metadata: { namespace, name, labels: { doomed: String(name !== 'b') } } });
      }
      await client.deleteCollection({ namespace, labelSelector: 'doomed=true' });
      const { items } = await client.list({ namespace });
      expect(items.map(({ metadata }) => metadata?.name)).toEqual(['b']);
    });

    test('changes nothing on a dry run', async () => {
      const { client, key, made } = await aConfigMap();
      await client.delete(key, { dryRun: true });
      expect(await client.get(key)).toEqual(made);
    });
  });
}
