import type { Cluster } from '../../../src/cluster/cluster.ts';
import type { DeletionPropagation, KubeObject, OwnerReference } from '../../../src/kube/api/meta.ts';
import type { Resource } from '../../../src/kube/resource.ts';
import {
  configMaps,
  namespaces,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
} from '../../../src/kube/resources.ts';

const kept = 'kept';
const doomed = 'doomed';

/**
 * Deletes owners with each of the three propagation policies, a namespace with content, and claims and volumes with and without users. The
 * remaining objects then depend on the controllers.
 */
export async function runDeletions(cluster: Cluster): Promise<void> {
  for (const name of [kept, doomed]) await cluster.resource(namespaces).create({ metadata: { name } });
  await playOwners(cluster);
  await playVolumes(cluster);
  for (const name of ['a', 'b']) await configMap(cluster, doomed, name);
  await cluster.resource(persistentVolumeClaims).create(claim(doomed, 'unused'));
  await cluster.resource(namespaces).delete({ name: doomed });
}

async function playOwners(cluster: Cluster): Promise<void> {
  const policies: readonly DeletionPropagation[] = ['Background', 'Foreground', 'Orphan'];
  for (const policy of policies) {
    const name = policy.toLowerCase();
    const parent = await configMap(cluster, kept, `${name}-parent`);
    const child = await configMap(cluster, kept, `${name}-child`, [ownerOf(parent)]);
    await configMap(cluster, kept, `${name}-grandchild`, [ownerOf(child)]);
    const other = await configMap(cluster, kept, `${name}-other`);
    await configMap(cluster, kept, `${name}-of-both`, [ownerOf(parent), ownerOf(other)]);
    const key = { namespace: kept, name: `${name}-parent` };
    await cluster.resource(configMaps).delete(key, { propagationPolicy: policy });
  }
  const lost = { apiVersion: 'v1', kind: 'ConfigMap', name: 'never-was', uid: 'no-such-uid' };
  await configMap(cluster, kept, 'without-owner', [lost]);
}

async function playVolumes(cluster: Cluster): Promise<void> {
  const claims = cluster.resource(persistentVolumeClaims);
  for (const name of ['used', 'waiting', 'unused']) await claims.create(claim(kept, name));
  await cluster.resource(pods).create(podOf('used', 'node-1'));
  await cluster.resource(pods).create(podOf('waiting'));
  for (const name of ['used', 'waiting', 'unused']) await claims.delete({ namespace: kept, name });
  const volumes = cluster.resource(persistentVolumes);
  for (const name of ['bound', 'free']) await volumes.create(volume(name));
  const status = { status: { phase: 'Bound' } };
  await volumes.patch({ name: 'bound' }, { type: 'merge', body: status }, { subresource: 'status' });
  for (const name of ['bound', 'free']) await volumes.delete({ name });
}

async function configMap(
  cluster: Cluster,
  namespace: string,
  name: string,
  ownerReferences: readonly OwnerReference[] = [],
): Promise<KubeObject> {
  return await cluster.resource(configMaps).create({ metadata: { namespace, name, ownerReferences } });
}

function ownerOf({ metadata }: KubeObject): OwnerReference {
  const { name = '', uid = '' } = metadata ?? {};
  return { apiVersion: 'v1', kind: 'ConfigMap', name, uid, blockOwnerDeletion: true };
}

function claim(namespace: string, name: string) {
  const resources = { requests: { storage: '1Gi' } };
  const spec = { accessModes: ['ReadWriteOnce'], storageClassName: 'none', resources } as const;
  return { metadata: { namespace, name }, spec };
}

function volume(name: string) {
  const spec = {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    hostPath: { path: '/mnt' },
  } as const;
  return { metadata: { name }, spec };
}

function podOf(claimName: string, nodeName?: string) {
  return {
    metadata: { namespace: kept, name: `of-${claimName}` },
    spec: {
      ...(nodeName === undefined ? {} : { nodeName }),
      containers: [{ name: 'main', image: 'pause' }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
    },
  };
}

const looked: readonly Resource[] = [namespaces, configMaps, persistentVolumeClaims, persistentVolumes, pods];

/** The remaining objects, one line each: name, deletion, finalizers and owners. */
export async function remainingObjects(cluster: Cluster): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const resource of looked) {
    const { items } = await cluster.resource(resource).list();
    for (const { metadata = {} } of items) {
      const { namespace, name, deletionTimestamp, finalizers = [], ownerReferences = [] } = metadata;
      if (namespace !== undefined && namespace !== kept && namespace !== doomed) continue;
      const owners = ownerReferences.map((owner) => owner.name).join('+');
      const going = deletionTimestamp === undefined ? '' : ' going';
      lines.push(`${resource.kind} ${namespace ?? ''}/${name}${going} [${finalizers.join()}] of [${owners}]`);
    }
  }
  // The real controllers create these in every namespace.
  return lines.filter((line) => !line.includes('kube-root-ca.crt')).sort();
}

/** What every cluster does in the end; until then its controllers may not have begun. */
export function areDeletionsOver(remaining: readonly string[]): boolean {
  const going = [
    /^Namespace \/doomed /,
    /^ConfigMap kept\/((back|fore)ground-(parent|child|grandchild)|orphan-parent|without-owner) /,
    / of \[[^\]]*-parent/,
    /^PersistentVolumeClaim kept\/unused /,
    /^PersistentVolume \/free /,
  ];
  return !remaining.some((line) => going.some((pattern) => pattern.test(line)));
}
