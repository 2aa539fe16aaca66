import type { Cluster } from '../../../src/cluster/cluster.ts';
import { ownDefinitions } from '../../../src/embedded/own-definitions.ts';
import type { CustomResourceDefinition } from '../../../src/kube/api/apiextensions.ts';
import type { Resource } from '../../../src/kube/resource.ts';
import { customResourceDefinitions } from '../../../src/kube/resources.ts';
import { until } from './run-scheduler.ts';

/** Creates the definitions of our own kinds, and waits until the given ones are served: that is some time after their creation. */
export async function installOwnKinds(cluster: Cluster, kinds: readonly Resource[]): Promise<void> {
  // Safe: the API server completes what a definition leaves out.
  for (const definition of await ownDefinitions())
    await cluster.resource(customResourceDefinitions).create(definition as CustomResourceDefinition);
  for (const kind of kinds)
    await until(() =>
      cluster
        .resource(kind)
        .list()
        .then(
          () => true,
          () => false,
        ),
    );
}
