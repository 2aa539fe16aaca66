import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Cluster } from '../cluster/cluster.ts';
import { type ClusterCall, InterceptedCluster } from '../cluster/intercepted-cluster.ts';
import { fastClock } from '../cluster/kubernetes/testing/fast-clock.ts';
import { failWith, onlyFor } from '../cluster/testing/fault-hooks.ts';
import { RealTimeCluster } from '../controllers/testing/real-time-cluster.ts';
import { forbidden } from '../kube/api-error.ts';
import type { Resource } from '../kube/resource.ts';
import { driverCapacities, nodes } from '../kube/resources.ts';
import { MissingPermission, VolumeBinding } from './index.ts';

const message =
  'not allowed to list and watch drivercapacities.stowage.dev: the pools that drivers publish there are ignored, and volumes may be placed ' +
  'where their pool has no free capacity; grant list and watch on drivercapacities in API group stowage.dev with a ClusterRole';

/** A cluster without permission to read DriverCapacity objects: an API server answers like this whether or not it has the kind. */
async function refusingCluster() {
  const fixture = await RealTimeCluster.start();
  onTestFinished(() => fixture[Symbol.asyncDispose]());
  const intercepted = new InterceptedCluster(fixture.cluster);
  const isAffected = ({ verb, resource }: ClusterCall) =>
    verb === 'list' && resource.plural === driverCapacities.plural;
  const error = forbidden(driverCapacities, '', 'User "u" cannot list resource');
  const permit = intercepted.addHooks(onlyFor(isAffected, { before: failWith(error) }));
  const discovery = { served: [driverCapacities] as readonly Resource[], discoveries: 0, permit };
  return Object.assign(intercepted, discovery, {
    async discover(this: typeof discovery) {
      this.discoveries += 1;
      return { resources: this.served };
    },
  });
}

/** The errors that the library has reported so far. */
async function open(cluster: Cluster): Promise<unknown[]> {
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const binding = await VolumeBinding.on(cluster, { clock: fastClock, onError });
  onTestFinished(() => binding.close());
  return errors;
}

describe('pools that may not be read', () => {
  test('are reported, with the missing permission and its consequence', async () => {
    const errors = await open(await refusingCluster());
    await vi.waitFor(() => expect(errors).toEqual([new MissingPermission()]), { timeout: 120_000 });
    expect(String(errors[0])).toBe(`MissingPermission: ${message}`);
  });

  test('are not reported while the kind does not exist', async () => {
    const cluster = await refusingCluster();
    cluster.served = [nodes];
    const errors = await open(cluster);
    await vi.waitFor(() => expect(cluster.discoveries).toBeGreaterThan(1), { timeout: 120_000 });
    expect(errors).toEqual([]);
    cluster.served = [nodes, driverCapacities];
    await vi.waitFor(() => expect(errors).toEqual([new MissingPermission()]), { timeout: 120_000 });
  });

  test('are not reported if the permission is granted together with the kind', async () => {
    const cluster = await refusingCluster();
    cluster.served = [];
    const errors = await open(cluster);
    cluster.permit();
    cluster.served = [driverCapacities];
    const asked = cluster.discoveries;
    await vi.waitFor(() => expect(cluster.discoveries).toBeGreaterThan(asked), { timeout: 120_000 });
    expect(errors).toEqual([]);
  });

  test('are reported as a process warning if there is no `onError`', async () => {
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
    const binding = await VolumeBinding.on(await refusingCluster());
    onTestFinished(() => binding.close());
    expect(await warned).toEqual(new MissingPermission());
  });
});
