import { describe, expect, test } from 'vitest';
import type { Cluster, ResourceClient } from '../cluster/cluster.ts';
import { EmbeddedFixture } from '../cluster/testing/embedded-fixture.ts';
import { stowageProfile } from '../engine/cluster-index/profile.ts';
import { node, pod, volume } from '../engine/testing/objects.ts';
import type { KubeObject } from '../kube/api/meta.ts';
import { failure, forbidden, notFound } from '../kube/api-error.ts';
import type { ListOptions } from '../kube/api-requests.ts';
import type { Resource } from '../kube/resource.ts';
import { nodes, persistentVolumes, pods } from '../kube/resources.ts';
import { VirtualClock } from '../runtime/virtual-clock.ts';
import { ClusterSnapshot } from './cluster-snapshot.ts';
import { listCluster } from './list-cluster.ts';
import { readManifests } from './read-manifests.ts';

/** Each line repeats the previous one ten times. */
const nestedAliases = Array.from(
  { length: 9 },
  (_, at) => `a${at + 1}: &a${at + 1} [${Array(10).fill(`*a${at}`).join(', ')}]`,
).join('\n');

describe('manifests', () => {
  function read(text: string) {
    const snapshot = new ClusterSnapshot();
    return { snapshot, ...readManifests(text, 'file.yaml', snapshot) };
  }

  test('may contain several documents, lists, and lists of one kind', () => {
    const { snapshot, objects, others, events } = read(`
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Pod, metadata: {name: p}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}
- {apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: s}}
- {apiVersion: v1, kind: Event, metadata: {name: e}, reason: FailedScheduling}
---
---
apiVersion: v1
kind: PersistentVolumeList
items:
- {metadata: {name: v}, spec: {capacity: {storage: 1Gi}}}
`);
    expect(objects).toBe(3);
    expect(snapshot.get('Node', 'n1')).toBeDefined();
    expect(snapshot.get('Pod', 'default/p')?.metadata?.namespace).toBe('default');
    expect(snapshot.get('PersistentVolume', 'v')?.kind).toBe('PersistentVolume');
    expect(snapshot.count('Service')).toBe(0);
    expect(others.map(({ kind }) => kind)).toEqual(['ConfigMap', 'Service']);
    expect(events.map(({ reason }) => reason)).toEqual(['FailedScheduling']);
  });

  test('may have the pools of a CSIDriver in its status, as the storage-capacity proposal has them', () => {
    const { snapshot } = read(`
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: disk.csi}
spec: {capacityTracking: true}
status:
  storage:
  - storageClassName: fast
    pools: [{name: p1, nodeList: [n1], capacity: 10Gi}]
`);
    const { index } = snapshot.toIndex(stowageProfile);
    expect(index.pools.isDriverTracked('disk.csi')).toBe(true);
    expect([...index.pools.records()].map(({ name, storageClass }) => [name, storageClass])).toEqual([
      ['p1', 'fast'],
    ]);
  });

  test('have exact 64-bit integers in JSON', () => {
    const pod = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":{"terminationGracePeriodSeconds":9007199254740993}}`;
    const [found] = read(pod).snapshot.values('Pod');
    expect(found?.spec?.terminationGracePeriodSeconds).toBe(9007199254740993n);
  });

  test('may be JSON', () => {
    const list = {
      kind: 'List',
      apiVersion: 'v1',
      items: [{ kind: 'Node', apiVersion: 'v1', ...node('n1') }],
    };
    expect(read(JSON.stringify(list)).snapshot.count('Node')).toBe(1);
  });

  test.each([
    ['kind: [', 'file.yaml: is not valid YAML: '],
    ['{"kind": ', 'file.yaml: is not JSON: '],
    ['just a text', 'file.yaml, document 1: must be a Kubernetes object, as kubectl get -o yaml prints it'],
    ['a: 1', 'file.yaml, document 1: kind: is missing'],
    ['kind: List\nitems: [1]', 'file.yaml, document 1: items[0]: must be a Kubernetes object'],
  ])('that cannot be read are reported with their position: %s', (text, message) => {
    expect(() => read(text)).toThrow(message);
  });

  test.each([
    ['expand aliases without end', `a0: &a0 [x]\n${nestedAliases}`],
    ['nest too deeply', `a: ${'['.repeat(100_000)}`],
  ])('that %s are refused with the name of the file', (_, text) => {
    expect(() => read(text)).toThrow(/^file\.yaml: is not valid YAML: /);
  });

  test('with terminal escape sequences are reported without them', () => {
    expect(() => read('kind: "\u001b[31mred\nother: x')).toThrow(/^\P{Cc}+(\n\P{Cc}*)*$/u);
  });
});

describe('a snapshot', () => {
  test('builds an index, and returns what the index could not read', () => {
    const snapshot = new ClusterSnapshot();
    snapshot.add('Node', node('n1'));
    snapshot.add('PersistentVolume', volume('v', 'lots'));
    const { index, warnings } = snapshot.toIndex(stowageProfile);
    expect(index.nodes.size).toBe(1);
    expect(warnings).toMatchObject([{ kind: 'PersistentVolume', key: 'v' }]);
  });
});

describe('listing a cluster', () => {
  test('lists all objects, page by page', async () => {
    const { cluster } = await EmbeddedFixture.start(new VirtualClock());
    await cluster.resource(nodes).create(fresh(node('n1')));
    await cluster
      .resource(persistentVolumes)
      .create(fresh(volume('v', '1Gi', { spec: { hostPath: { path: '/v' } } })));
    const { snapshot, unlisted: unseen } = await listCluster(cluster, { namespace: 'default' });
    expect(unseen).toEqual([]);
    expect([...snapshot.values('Node')].map(({ metadata }) => metadata?.name)).toEqual(['n1']);
    expect(snapshot.get('PersistentVolume', 'v')).toBeDefined();
    expect(snapshot.get('Namespace', 'default')).toBeDefined();
  });

  test('reports kinds that it may not list, falls back to one namespace, and skips kinds that do not exist', async () => {
    const cluster = clusterThat(({ plural }, { namespace }) => {
      if (plural === 'drivercapacities') throw notFound(nodes, '');
      if (plural === 'csinodes') throw forbidden(nodes, '', 'no');
      if (plural === 'csistoragecapacities') throw forbidden(nodes, '', 'no');
      if (plural === 'pods' && namespace === undefined) throw forbidden(pods, '', 'no');
      return plural === 'pods' ? [pod('p', [])] : [];
    });
    const { snapshot, unlisted: unseen } = await listCluster(cluster, { namespace: 'default' });
    expect(snapshot.count('Pod')).toBe(1);
    expect(unseen).toEqual([
      { kind: 'CSINode', plural: 'csinodes', onlyNamespace: undefined },
      { kind: 'CSIStorageCapacity', plural: 'csistoragecapacities', onlyNamespace: undefined },
      { kind: 'Pod', plural: 'pods', onlyNamespace: 'default' },
    ]);
  });

  test('rejects if the server fails', async () => {
    const cluster = clusterThat(() => {
      throw failure(503, 'ServiceUnavailable', 'away');
    });
    await expect(listCluster(cluster, { namespace: 'default' })).rejects.toThrow('away');
  });
});

/** A cluster that supports only lists. */
function clusterThat(list: (resource: Resource, options: ListOptions) => readonly KubeObject[]): Cluster {
  return {
    resource: <T extends KubeObject>(resource: Resource<T>) =>
      ({
        resource,
        list: async (options: ListOptions = {}) => ({
          items: list(resource as Resource, options),
          metadata: { resourceVersion: '1' },
        }),
      }) as unknown as ResourceClient<T>,
  };
}

/** The object without the fields that the server sets. */
function fresh<T extends KubeObject>(object: T): T {
  const { resourceVersion: _, uid: __, ...metadata } = object.metadata ?? {};
  return { ...object, metadata };
}
