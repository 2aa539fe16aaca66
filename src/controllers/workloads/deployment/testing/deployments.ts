import type { Cluster } from '../../../../cluster/cluster.ts';
import type { Deployment, DeploymentSpec, ReplicaSet } from '../../../../kube/api/apps.ts';
import { deployments, replicaSets } from '../../../../kube/resources.ts';
import { namespace, podsOf } from '../../testing/workload-fixture.ts';

const labels = { app: 'web' };

export function deploymentTemplate(image: string) {
  return {
    metadata: { labels },
    spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image }] },
  };
}

export async function makeDeployment(cluster: Cluster, changes: DeploymentSpec = {}): Promise<Deployment> {
  const spec = { selector: { matchLabels: labels }, template: deploymentTemplate('v1'), ...changes };
  return await cluster.resource(deployments).create({ metadata: { namespace, name: 'web' }, spec });
}

export async function changeDeployment(cluster: Cluster, spec: object): Promise<void> {
  const patch = { type: 'merge', body: { spec } } as const;
  await cluster.resource(deployments).patch({ namespace, name: 'web' }, patch);
}

export async function getDeployment(cluster: Cluster): Promise<Deployment> {
  return await cluster.resource(deployments).get({ namespace, name: 'web' });
}

export async function setsOf(cluster: Cluster): Promise<readonly ReplicaSet[]> {
  return (await cluster.resource(replicaSets).list({ namespace })).items;
}

/** `v2: 3 of 3` for each replica set that has or wants pods. */
export async function sizes(cluster: Cluster): Promise<readonly string[]> {
  return (await setsOf(cluster))
    .filter(({ spec, status }) => (spec?.replicas ?? 0) + (status?.replicas ?? 0) > 0)
    .map(
      ({ spec, status }) =>
        `${spec?.template?.spec?.containers?.[0]?.image}: ${status?.replicas} of ${spec?.replicas}`,
    )
    .toSorted();
}

export async function images(cluster: Cluster): Promise<readonly string[]> {
  return (await podsOf(cluster)).map(({ spec }) => spec?.containers?.[0]?.image ?? '').toSorted();
}

/** As `kubectl rollout status` decides it. */
export function isRolledOut({ metadata, spec, status }: Deployment): boolean {
  const wanted = spec?.replicas ?? 1;
  return (
    status?.observedGeneration === metadata?.generation &&
    (status?.updatedReplicas ?? 0) === wanted &&
    (status?.replicas ?? 0) === wanted &&
    (status?.availableReplicas ?? 0) === wanted
  );
}
