import type { Cluster } from '../../../../cluster/cluster.ts';
import type { StatefulSet, StatefulSetSpec } from '../../../../kube/api/apps.ts';
import { persistentVolumeClaims, statefulSets } from '../../../../kube/resources.ts';
import { namespace } from '../../testing/workload-fixture.ts';

const labels = { app: 'web' };

export function setSpec(changes: StatefulSetSpec = {}): StatefulSetSpec {
  return { serviceName: 'web', selector: { matchLabels: labels }, template: setTemplate('v1'), ...changes };
}

export function setTemplate(image: string) {
  return {
    metadata: { labels },
    spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image }] },
  };
}

export const dataTemplate = {
  metadata: { name: 'data', labels: { tier: 'disk' } },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
} as const;

export async function makeSet(cluster: Cluster, changes: StatefulSetSpec = {}): Promise<StatefulSet> {
  return await cluster
    .resource(statefulSets)
    .create({ metadata: { namespace, name: 'web' }, spec: setSpec(changes) });
}

export async function changeSet(cluster: Cluster, spec: StatefulSetSpec): Promise<void> {
  const patch = { type: 'merge', body: { spec } } as const;
  await cluster.resource(statefulSets).patch({ namespace, name: 'web' }, patch);
}

export async function getSet(cluster: Cluster): Promise<StatefulSet> {
  return await cluster.resource(statefulSets).get({ namespace, name: 'web' });
}

/** Claims with their owners, one line each. */
export async function claimLines(cluster: Cluster): Promise<readonly string[]> {
  const { items } = await cluster.resource(persistentVolumeClaims).list({ namespace });
  return items
    .map(({ metadata }) => {
      const owners = (metadata?.ownerReferences ?? []).map(({ kind, name }) => ` of ${kind} ${name}`);
      return `${metadata?.name}${owners.join(' and')}`;
    })
    .toSorted();
}
