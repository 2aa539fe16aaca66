import type { Cluster, ResourceClient } from '../../../cluster/cluster.ts';
import type { KubeObject, OwnerReference } from '../../../kube/api/meta.ts';
import { apiVersionOf } from '../../../kube/resource.ts';
import { customResourceDefinitions } from '../../../kube/resources.ts';
import { untilObject } from '../../testing/real-time-cluster.ts';
import { namespace } from './workload-fixture.ts';

/** Creates an object, with an owner if one is given; the result is a reference to it as the owner of others. */
export async function createOwned(
  client: ResourceClient<KubeObject>,
  name: string,
  owner?: OwnerReference,
  more: KubeObject = {},
): Promise<OwnerReference> {
  const ownerReferences = owner === undefined ? [] : [owner];
  const made = await client.create({ metadata: { ...more.metadata, namespace, name, ownerReferences } });
  const { resource } = client;
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, name, uid: made.metadata?.uid ?? '' };
}

/** Resolves when the kind of that definition is served. */
export async function untilEstablished(cluster: Cluster, name: string): Promise<void> {
  await untilObject(cluster.resource(customResourceDefinitions), { name }, ({ status }) =>
    (status?.conditions ?? []).some(({ type, status: is }) => type === 'Established' && is === 'True'),
  );
}
