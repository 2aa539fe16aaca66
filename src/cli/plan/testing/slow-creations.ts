import type { Cluster, ResourceClient } from '../../../cluster/cluster.ts';
import type { KubeObject } from '../../../kube/api/meta.ts';
import type { Controller } from '../../../reconcile/controller.ts';

/**
 * The same controller, except that it takes a while to create an object. Otherwise it would be up to chance whether the claim of an ephemeral volume exists before
 * or after the pods that other controllers create at the same time, and which pod is decided on first.
 */
export function withSlowCreations(controller: Controller, takesMs: number): Controller {
  return {
    name: controller.name,
    run: (context, signal) => {
      const { cluster, clock } = context;
      const slow: Cluster = {
        resource: (resource) =>
          slowlyCreating(cluster.resource(resource), () => clock.sleep(takesMs, signal)),
      };
      return controller.run({ ...context, cluster: slow }, signal);
    },
  };
}

function slowlyCreating<T extends KubeObject>(
  client: ResourceClient<T>,
  wait: () => Promise<void>,
): ResourceClient<T> {
  return {
    resource: client.resource,
    get: (key, options) => client.get(key, options),
    list: (options) => client.list(options),
    watch: (options) => client.watch(options),
    create: async (object, options) => {
      await wait();
      return await client.create(object, options);
    },
    update: (object, options) => client.update(object, options),
    patch: (key, patch, options) => client.patch(key, patch, options),
    delete: (key, options) => client.delete(key, options),
    deleteCollection: (options) => client.deleteCollection(options),
    post: (key, subresource, body, options) => client.post(key, subresource, body, options),
  };
}
