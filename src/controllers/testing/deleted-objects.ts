import type { Cluster } from '../../cluster/cluster.ts';
import type { ConfigMap } from '../../kube/api/core.ts';
import type { ObjectMeta, OwnerReference } from '../../kube/api/meta.ts';
import {
  configMaps,
  namespaces,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  volumeAttributesClasses,
} from '../../kube/resources.ts';

const namespace = 'default';
const template = { containers: [{ name: 'main', image: 'pause' }] };
const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } as const;
const volumeSpec = {
  capacity: { storage: '1Gi' },
  accessModes: ['ReadWriteOnce'],
  hostPath: { path: '/a' },
} as const;

function owner({ metadata }: ConfigMap): OwnerReference {
  const { name = '', uid = '' } = metadata ?? {};
  return { apiVersion: 'v1', kind: 'ConfigMap', name, uid, blockOwnerDeletion: true };
}

/** A cluster in which many objects were deleted while no controller ran; some of each kind must remain. */
export async function seedDeletedObjects(cluster: Cluster): Promise<void> {
  await leaveFamilies(cluster);
  await leaveVolumes(cluster);
  await leaveNamespace(cluster);
}

/** The objects that must remain in the end, and their state. */
export const expectedRemainders: readonly string[] = [
  'configmaps default/half-orphan of living',
  'configmaps default/living',
  'configmaps default/orphan',
  'namespaces default',
  'namespaces kube-node-lease',
  'namespaces kube-public',
  'namespaces kube-system',
  'persistentvolumeclaims default/data, terminating, held by kubernetes.io/pvc-protection',
  'persistentvolumes bound, terminating, held by kubernetes.io/pv-protection',
  'pods default/web',
  'volumeattributesclasses named, terminating, held by kubernetes.io/vac-protection',
];

/** All objects that could remain, one line each. */
export async function listRemaining(cluster: Cluster): Promise<readonly string[]> {
  const lines: string[] = [];
  const resources = [
    configMaps,
    namespaces,
    persistentVolumeClaims,
    persistentVolumes,
    pods,
    volumeAttributesClasses,
  ];
  for (const resource of resources) {
    const { items } = await cluster.resource<ConfigMap>(resource).list();
    for (const { metadata } of items) lines.push(`${resource.plural} ${lineOf(metadata ?? {})}`);
  }
  return lines.sort();
}

function lineOf({
  namespace: place,
  name,
  ownerReferences,
  deletionTimestamp,
  finalizers,
}: ObjectMeta): string {
  const owners = (ownerReferences ?? []).map((owned) => owned.name);
  return [
    place === undefined ? name : `${place}/${name}`,
    owners.length === 0 ? '' : ` of ${owners.join(' and ')}`,
    deletionTimestamp === undefined ? '' : `, terminating, held by ${(finalizers ?? []).join(' and ')}`,
  ].join('');
}

async function leaveFamilies(cluster: Cluster): Promise<void> {
  const client = cluster.resource(configMaps);
  const make = (name: string, ...owners: readonly ConfigMap[]) =>
    client.create({ metadata: { namespace, name, ownerReferences: owners.map(owner) } });
  const [deleted, orphaned, parent, circle] = [
    await make('deleted'),
    await make('orphaned'),
    await make('parent'),
    await make('circle'),
  ];
  const living = await make('living');
  await make('grandchild', await make('child', deleted));
  await make('orphan', orphaned);
  await make('half-orphan', deleted, living);
  await make('deep', await make('middle', parent));
  const other = await make('other', circle);
  const ownerReferences = [owner(other)];
  await client.patch(
    { namespace, name: 'circle' },
    { type: 'merge', body: { metadata: { ownerReferences } } },
  );
  await client.delete({ namespace, name: 'deleted' }, { propagationPolicy: 'Background' });
  await client.delete({ namespace, name: 'orphaned' }, { propagationPolicy: 'Orphan' });
  for (const name of ['parent', 'circle'])
    await client.delete({ namespace, name }, { propagationPolicy: 'Foreground' });
}

async function leaveVolumes(cluster: Cluster): Promise<void> {
  const claims = cluster.resource(persistentVolumeClaims);
  await claims.create({ metadata: { namespace, name: 'unused' }, spec: claimSpec });
  const spec = { ...claimSpec, volumeAttributesClassName: 'named' };
  await claims.create({ metadata: { namespace, name: 'data' }, spec });
  await cluster
    .resource(pods)
    .create({ metadata: { namespace, name: 'web' }, spec: { ...template, nodeName: 'n1', volumes } });
  const client = cluster.resource(persistentVolumes);
  const classes = cluster.resource(volumeAttributesClasses);
  for (const name of ['free', 'bound']) await client.create({ metadata: { name }, spec: volumeSpec });
  for (const name of ['named', 'unnamed'])
    await classes.create({ metadata: { name }, driverName: 'd.example.com', parameters: { a: 'b' } });
  const bound = { status: { phase: 'Bound' } };
  await client.patch({ name: 'bound' }, { type: 'merge', body: bound }, { subresource: 'status' });
  for (const name of ['data', 'unused']) await claims.delete({ namespace, name });
  for (const name of ['free', 'bound']) await client.delete({ name });
  for (const name of ['named', 'unnamed']) await classes.delete({ name });
}

async function leaveNamespace(cluster: Cluster): Promise<void> {
  const metadata = { namespace: 'doomed', name: 'data' };
  await cluster.resource(namespaces).create({ metadata: { name: 'doomed' } });
  await cluster.resource(configMaps).create({ metadata });
  await cluster.resource(persistentVolumeClaims).create({ metadata, spec: claimSpec });
  await cluster.resource(pods).create({ metadata, spec: { ...template, volumes } });
  await cluster.resource(namespaces).delete({ name: 'doomed' });
}
