import type { Cluster } from '../../../src/cluster/cluster.ts';
import { persistentVolumeClaims } from '../../../src/kube/resources.ts';
import { annotations } from '../../../src/kube/well-known.ts';
import { accessModes, until, untilEvent } from './run-scheduler.ts';

interface FailingClaim {
  readonly storageClassName: string;
  /** The node that a scheduler selects. */
  readonly node: string;
  /** More than there is. */
  readonly storage: string;
}

/** The same node is selected twice for a claim that it has no room for. The provisioner takes the selection back, and its Events are repeated. */
export async function failTwice(
  cluster: Cluster,
  { storageClassName, node, storage }: FailingClaim,
): Promise<void> {
  const claims = cluster.resource(persistentVolumeClaims);
  const key = { namespace: 'default', name: 'too-large' };
  const spec = { accessModes, storageClassName, resources: { requests: { storage } } };
  await claims.create({ metadata: key, spec });
  const selected = async () => (await claims.get(key)).metadata?.annotations?.[annotations.selectedNode];
  for (const _ of ['first', 'second']) {
    const body = { metadata: { annotations: { [annotations.selectedNode]: node } } };
    await claims.patch(key, { type: 'merge', body }, {});
    await until(async () => (await selected()) === undefined, 200);
    await untilEvent(cluster, key.name, 'ProvisioningFailed');
  }
  await claims.delete(key);
}
