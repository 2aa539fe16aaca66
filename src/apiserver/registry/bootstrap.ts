import { isReason } from '../../kube/api-error.ts';
import { canonicalObject } from './canonical-object.ts';
import type { Registry, WriteContext } from './registry.ts';

const namespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

const systemClasses = [
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
];

/**
 * Creates the objects that every cluster has from the start. Existing objects are left unchanged, so this may run at
 * every start and stop anywhere.
 */
export async function bootstrap(registry: Registry): Promise<void> {
  for (const name of namespaces) {
    await ensure(registry, 'v1', 'namespaces', { metadata: { name } });
  }
  for (const { name, value, description } of systemClasses) {
    const object = { metadata: { name }, value, description, preemptionPolicy: 'PreemptLowerPriority' };
    await ensure(registry, 'scheduling.k8s.io/v1', 'priorityclasses', object);
  }
  await ensure(registry, 'v1', 'services', kubernetesService, 'default');
}

/** Pods of a real cluster reach the API under this name; here it exists only for completeness. */
const kubernetesService = {
  metadata: { name: 'kubernetes', labels: { component: 'apiserver', provider: 'kubernetes' } },
  spec: {
    clusterIP: '10.96.0.1',
    clusterIPs: ['10.96.0.1'],
    ipFamilyPolicy: 'SingleStack',
    ipFamilies: ['IPv4'],
    ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 6443 }],
    sessionAffinity: 'None',
    type: 'ClusterIP',
  },
};

const write: WriteContext = { manager: 'kube-apiserver', user: 'system:apiserver', warn: () => {} };

async function ensure(
  registry: Registry,
  apiVersion: string,
  plural: string,
  object: { readonly metadata: { readonly name: string } },
  namespace?: string,
): Promise<void> {
  const kind = registry.kinds.byPlural(apiVersion, plural);
  if (kind === undefined) return;
  try {
    await registry.create(kind, namespace, canonicalObject(kind, object, 'Strict'), write);
  } catch (error) {
    // Invalid: the service was deleted and another one has its address. That must not prevent a start.
    if (!isReason(error, 'AlreadyExists', 'Invalid')) throw error;
  }
}
