import type { Cluster } from '../cluster/cluster.ts';
import type { SecretReference } from '../kube/api/core.ts';
import { secrets } from '../kube/resources.ts';

/** The contents of a Secret for a request to a CSI driver; none without a reference. Rejects if the Secret cannot be read. */
export async function csiSecrets(
  cluster: Cluster,
  reference: SecretReference | undefined,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  if (reference === undefined) return {};
  const { namespace = '', name = '' } = reference;
  const { data = {} } = await cluster.resource(secrets).get({ namespace, name }, { signal });
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
}
