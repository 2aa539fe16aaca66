import { describe, expect, test } from 'vitest';
import type { Scale } from '../../kube/api/autoscaling.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { persistentVolumes, podDisruptionBudgets, pods, statefulSets } from '../../kube/resources.ts';
import {
  aPod,
  apiErrorOf,
  aVolume,
  type ContractFixture,
  freshName,
  freshNamespace,
} from './contract-fixture.ts';

export function subresourceContract(fixture: () => ContractFixture): void {
  describe('subresources', () => {
    test('status and spec are written separately', async () => {
      const client = fixture().cluster.resource(persistentVolumes);
      const name = freshName('pv');
      await client.create(aVolume(name));
      const body = { spec: { storageClassName: 'ignored' }, status: { phase: 'Available' } };
      const withStatus = await client.patch({ name }, { type: 'merge', body }, { subresource: 'status' });
      expect(withStatus.status?.phase).toBe('Available');
      expect(withStatus.spec?.storageClassName).toBeUndefined();
      const other = { metadata: { labels: { a: 'b' } }, status: { phase: 'Failed' } };
      const withLabel = await client.patch({ name }, { type: 'merge', body: other });
      expect(withLabel.metadata?.labels).toEqual({ a: 'b' });
      expect(withLabel.status?.phase).toBe('Available');
    });

    function binding(namespace: string, name: string, node: string): KubeObject {
      const target = { apiVersion: 'v1', kind: 'Node', name: node };
      return { apiVersion: 'v1', kind: 'Binding', metadata: { namespace, name }, target } as KubeObject;
    }

    test('binding gives a pod its node, once', async () => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(pods);
      await client.create(aPod(namespace, 'a'));
      const key = { namespace, name: 'a' };
      expect(await client.post(key, 'binding', binding(namespace, 'a', 'node-1'))).toMatchObject({
        status: 'Success',
      });
      const bound = await client.get(key);
      expect(bound.spec?.nodeName).toBe('node-1');
      expect(bound.status?.conditions).toMatchObject([{ type: 'PodScheduled', status: 'True' }]);
      const error = await apiErrorOf(client.post(key, 'binding', binding(namespace, 'a', 'node-2')));
      expect(error.status).toMatchObject({
        code: 409,
        reason: 'Conflict',
        message:
          'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "node-1"',
      });
    });

    test('binding refuses a pod with a scheduling gate', async () => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(pods);
      await client.create(aPod(namespace, 'a', { schedulingGates: [{ name: 'example.com/wait' }] }));
      const error = await apiErrorOf(
        client.post({ namespace, name: 'a' }, 'binding', binding(namespace, 'a', 'node-1')),
      );
      expect(error.message).toContain('pod a has non-empty .spec.schedulingGates');
    });

    function eviction(namespace: string, name: string): KubeObject {
      return { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name } };
    }

    test('eviction deletes a pod that no budget protects', async () => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(pods);
      await client.create(aPod(namespace, 'a'));
      await client.post({ namespace, name: 'a' }, 'eviction', eviction(namespace, 'a'));
      expect((await apiErrorOf(client.get({ namespace, name: 'a' }))).reason).toBe('NotFound');
    });

    test('eviction is refused by a budget that has not been computed yet', async () => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(pods);
      const pod = aPod(namespace, 'a', { nodeName: 'node-1' });
      await client.create({ ...pod, metadata: { ...pod.metadata, labels: { app: 'a' } } });
      const running = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };
      const key = { namespace, name: 'a' };
      await client.patch(key, { type: 'merge', body: running }, { subresource: 'status' });
      await fixture()
        .cluster.resource(podDisruptionBudgets)
        .create({
          metadata: { namespace, name: 'budget' },
          spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } },
        });
      const error = await apiErrorOf(client.post(key, 'eviction', eviction(namespace, 'a')));
      expect(error.status).toMatchObject({
        code: 429,
        reason: 'TooManyRequests',
        message: "Cannot evict pod as it would violate the pod's disruption budget.",
        details: { causes: [{ reason: 'DisruptionBudget' }] },
      });
      expect((await client.get(key)).metadata?.deletionTimestamp).toBeUndefined();
    });

    test('scale reads and writes the replicas of a StatefulSet', async () => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(statefulSets);
      const labels = { app: 'a' };
      await client.create({
        metadata: { namespace, name: 'a' },
        spec: {
          replicas: 2,
          serviceName: 'a',
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: aPod(namespace, 'x').spec ?? {} },
        },
      });
      const key = { namespace, name: 'a' };
      const read = (await client.get(key, { subresource: 'scale' })) as unknown as Scale;
      expect(read).toMatchObject({
        kind: 'Scale',
        spec: { replicas: 2 },
        status: { replicas: 0, selector: 'app=a' },
      });
      const patch = { type: 'merge', body: { spec: { replicas: 5 } } } as const;
      await client.patch(key, patch, { subresource: 'scale' });
      const scaled = await client.get(key);
      expect(scaled.spec?.replicas).toBe(5);
      expect(scaled.metadata?.generation).toBe(2);
    });
  });
}
