import type { Cluster, ResourceClient } from '../../../cluster/cluster.ts';
import type { CsiDriverSet, ServedCsiDriver } from '../../../csi/served-driver.ts';
import type { KubeObject } from '../../../kube/api/meta.ts';
import type { Controller } from '../../../reconcile/controller.ts';
import type { Clock } from '../../../runtime/clock.ts';

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

/**
 * The same drivers, except that they take a while to delete a volume. Otherwise its bytes would come free at the very time at which the claim, the volume and the
 * pod are written, each of which wakes pods; and the pod that happens to be in the scheduler's hands would get the bytes, whatever its priority.
 */
export function withSlowDeletions(drivers: CsiDriverSet, clock: Clock, takesMs: number): CsiDriverSet {
  const slow = new Map<ServedCsiDriver, ServedCsiDriver>();
  const of = (driver: ServedCsiDriver) => {
    const known = slow.get(driver) ?? withSlowDeletion(driver, clock, takesMs);
    slow.set(driver, known);
    return known;
  };
  return {
    get: (name) => {
      const driver = drivers.get(name);
      return driver && of(driver);
    },
    all: () => drivers.all().map(of),
    onJoin: (listener) => drivers.onJoin((driver) => listener(of(driver))),
  };
}

function withSlowDeletion(driver: ServedCsiDriver, clock: Clock, takesMs: number): ServedCsiDriver {
  return {
    name: driver.name,
    hasTopology: driver.hasTopology,
    hasPluginCapability: (capability) => driver.hasPluginCapability(capability),
    hasControllerCapability: (capability) => driver.hasControllerCapability(capability),
    hasNodeCapability: (capability) => driver.hasNodeCapability(capability),
    call: async (name, request, options) => {
      if (name === 'DeleteVolume') await clock.sleep(takesMs, options.signal);
      return await driver.call(name, request, options);
    },
    onCallEnd: (listener) => driver.onCallEnd(listener),
    onCapacityChange: driver.onCapacityChange,
  };
}
