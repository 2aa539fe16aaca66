import { describe, expect, test } from 'vitest';
import type { StatusCause } from '../../kube/api/meta.ts';
import {
  configMaps,
  coreEvents,
  events,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  priorityClasses,
  storageClasses,
} from '../../kube/resources.ts';
import {
  aClaim,
  aPod,
  apiErrorOf,
  aVolume,
  type ContractFixture,
  freshName,
  freshNamespace,
} from './contract-fixture.ts';

export function rulesContract(fixture: () => ContractFixture): void {
  describe('rules that storage relies on', () => {
    async function causesOf(call: Promise<unknown>): Promise<readonly StatusCause[]> {
      const error = await apiErrorOf(call);
      expect(error.status).toMatchObject({ code: 422, reason: 'Invalid' });
      return error.status.details?.causes ?? [];
    }

    test("a claim's volumeName can be set and never cleared", async () => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(persistentVolumeClaims);
      await client.create(aClaim(namespace, 'a'));
      const key = { namespace, name: 'a' };
      await client.patch(key, { type: 'merge', body: { spec: { volumeName: 'pv-1' } } });
      const [cause] = await causesOf(
        client.patch(key, { type: 'merge', body: { spec: { volumeName: null } } }),
      );
      expect(cause?.field).toBe('spec');
      expect(cause?.message).toContain('spec is immutable after creation except');
    });

    test("a volume's node affinity can be added and not changed", async () => {
      const client = fixture().cluster.resource(persistentVolumes);
      const name = freshName('pv');
      await client.create(aVolume(name));
      const affinity = (zone: string) => ({
        required: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: [zone] }] }],
        },
      });
      await client.patch({ name }, { type: 'merge', body: { spec: { nodeAffinity: affinity('a') } } });
      const [cause] = await causesOf(
        client.patch({ name }, { type: 'merge', body: { spec: { nodeAffinity: affinity('b') } } }),
      );
      expect(cause).toMatchObject({ field: 'nodeAffinity' });
      expect(cause?.message).toContain('field is immutable');
    });

    test('a local volume needs a node affinity', async () => {
      const { hostPath: _, ...spec } = aVolume('x').spec ?? {};
      const client = fixture().cluster.resource(persistentVolumes);
      const causes = await causesOf(
        client.create({ metadata: { name: freshName('pv') }, spec: { ...spec, local: { path: '/mnt/a' } } }),
      );
      expect(causes).toEqual([
        {
          reason: 'FieldValueRequired',
          message: 'Required value: Local volume requires node affinity',
          field: 'spec.nodeAffinity',
        },
      ]);
    });

    test('a class keeps its provisioner and its parameters', async () => {
      const client = fixture().cluster.resource(storageClasses);
      const name = freshName('class');
      const made = await client.create({
        metadata: { name },
        provisioner: 'example.com/disk',
        parameters: { a: 'b' },
      });
      expect(made).toMatchObject({ reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' });
      const causes = await causesOf(
        client.patch({ name }, { type: 'merge', body: { provisioner: 'other', parameters: { a: 'c' } } }),
      );
      expect(causes.map(({ field }) => field)).toEqual(['parameters', 'provisioner']);
    });

    test('a pod gets its defaults', async () => {
      const namespace = await freshNamespace(fixture());
      const made = await fixture().cluster.resource(pods).create(aPod(namespace, 'a'));
      expect(made.spec).toMatchObject({
        restartPolicy: 'Always',
        dnsPolicy: 'ClusterFirst',
        schedulerName: 'default-scheduler',
        terminationGracePeriodSeconds: 30,
        priority: 0,
        preemptionPolicy: 'PreemptLowerPriority',
        enableServiceLinks: true,
        securityContext: {},
      });
      expect(made.spec?.tolerations).toHaveLength(2);
      expect(made.status).toMatchObject({ phase: 'Pending', qosClass: 'BestEffort' });
    });

    test('a pod keeps its volumes', async () => {
      const namespace = await freshNamespace(fixture());
      const client = fixture().cluster.resource(pods);
      await client.create(aPod(namespace, 'a'));
      const body = { spec: { volumes: [{ name: 'new', emptyDir: {} }] } };
      const [cause] = await causesOf(client.patch({ namespace, name: 'a' }, { type: 'merge', body }));
      expect(cause?.message).toContain('pod updates may not change fields other than');
    });

    test('a pod cannot name a priority class that does not exist', async () => {
      const namespace = await freshNamespace(fixture());
      const pod = aPod(namespace, 'a', { priorityClassName: 'absent' });
      const error = await apiErrorOf(fixture().cluster.resource(pods).create(pod));
      expect(error.status).toMatchObject({
        code: 403,
        reason: 'Forbidden',
        message: 'pods "a" is forbidden: no PriorityClass with name absent was found',
      });
    });

    test('a pod gets the priority of its class', async () => {
      const namespace = await freshNamespace(fixture());
      const name = freshName('class');
      await fixture().cluster.resource(priorityClasses).create({ metadata: { name }, value: 1000 });
      const made = await fixture()
        .cluster.resource(pods)
        .create(aPod(namespace, 'a', { priorityClassName: name }));
      expect(made.spec?.priority).toBe(1000);
    });

    test('names and labels are validated', async () => {
      const namespace = await freshNamespace(fixture());
      const object = { metadata: { namespace, name: 'Not_A_Name', labels: { 'a b': 'c' } } };
      const causes = await causesOf(fixture().cluster.resource(configMaps).create(object));
      expect(causes.map(({ field }) => field)).toEqual(['metadata.name', 'metadata.labels']);
      expect(causes[0]?.message).toContain('a lowercase RFC 1123 subdomain must consist of');
    });

    test('the default namespace stays', async () => {
      const error = await apiErrorOf(fixture().cluster.resource(namespaces).delete({ name: 'default' }));
      expect(error.message).toBe('namespaces "default" is forbidden: this namespace may not be deleted');
    });

    test('a terminating namespace accepts nothing new', async () => {
      const namespace = await freshNamespace(fixture());
      await fixture().cluster.resource(namespaces).delete({ name: namespace });
      const error = await apiErrorOf(
        fixture()
          .cluster.resource(configMaps)
          .create({ metadata: { namespace, name: 'a' } }),
      );
      expect(error.status).toMatchObject({ code: 403, reason: 'Forbidden' });
      expect(error.status.details?.causes?.[0]).toMatchObject({ reason: 'NamespaceTerminating' });
    });

    test('a node without unschedulable counts as schedulable', async () => {
      const client = fixture().cluster.resource(nodes);
      const name = freshName('node');
      await client.create({ metadata: { name } });
      const { items } = await client.list({
        fieldSelector: `metadata.name=${name},spec.unschedulable=false`,
      });
      expect(items).toHaveLength(1);
    });

    test('an event is the same object in both groups', async () => {
      const namespace = await freshNamespace(fixture());
      const regarding = { apiVersion: 'v1', kind: 'Pod', namespace, name: 'a', uid: 'u' };
      await fixture()
        .cluster.resource(events)
        .create({
          metadata: { namespace, name: 'a.1' },
          eventTime: '2026-01-02T03:04:05.123456Z',
          reportingController: 'example.com/controller',
          reportingInstance: 'one',
          action: 'Binding',
          reason: 'Scheduled',
          type: 'Normal',
          note: 'it fits',
          regarding,
        });
      const read = await fixture().cluster.resource(coreEvents).get({ namespace, name: 'a.1' });
      expect(read).toMatchObject({
        involvedObject: regarding,
        message: 'it fits',
        reportingComponent: 'example.com/controller',
      });
    });
  });
}
