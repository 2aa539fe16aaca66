import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Cluster, ResourceClient } from '../cluster/cluster.ts';
import { fastClock } from '../cluster/kubernetes/testing/fast-clock.ts';
import { ControlledCluster } from '../controllers/testing/controlled-cluster.ts';
import type { KubeObject } from '../kube/api/meta.ts';
import { forbidden } from '../kube/api-error.ts';
import type { Resource } from '../kube/resource.ts';
import { driverCapacities, nodes } from '../kube/resources.ts';
import { MissingRight, VolumeBinding } from './index.ts';

const message =
  'not allowed to list and watch drivercapacities.stowage.dev: the pools that drivers publish there are ignored, and volumes may be sent ' +
  'where there is no room for them; grant list and watch on drivercapacities in API group stowage.dev with a ClusterRole';

/** A way to a cluster on which DriverCapacity objects may not be read, as an API server says it whether or not it has the kind. */
class RefusingCluster implements Cluster {
  /** What discovery says. */
  served: readonly Resource[] = [driverCapacities];
  isRefusing = true;
  discoveries = 0;
  readonly #inner: Cluster;

  constructor(inner: Cluster) {
    this.#inner = inner;
  }

  resource<T extends KubeObject>(resource: Resource<T>): ResourceClient<T> {
    const client = this.#inner.resource(resource);
    if (resource.plural !== driverCapacities.plural) return client;
    return new Proxy(client, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (name === 'list' && this.isRefusing)
          return () => Promise.reject(forbidden(driverCapacities, '', 'User "u" cannot list resource'));
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
  }

  async discover(): Promise<{ readonly resources: readonly Resource[] }> {
    this.discoveries += 1;
    return { resources: this.served };
  }
}

async function refusingCluster(): Promise<RefusingCluster> {
  const fixture = await ControlledCluster.start();
  onTestFinished(() => fixture[Symbol.asyncDispose]());
  return new RefusingCluster(fixture.cluster);
}

/** What it was told of until now. */
async function open(cluster: Cluster): Promise<unknown[]> {
  const troubles: unknown[] = [];
  const onTrouble = (error: unknown) => troubles.push(error);
  const binding = await VolumeBinding.on(cluster, { clock: fastClock, onTrouble });
  onTestFinished(() => binding.close());
  return troubles;
}

describe('pools that may not be read', () => {
  test('are told of, with the right that is missing and what it leads to', async () => {
    const troubles = await open(await refusingCluster());
    await vi.waitFor(() => expect(troubles).toEqual([new MissingRight()]));
    expect(String(troubles[0])).toBe(`MissingRight: ${message}`);
  });

  test('are no trouble where there is no such kind, until there is', async () => {
    const cluster = await refusingCluster();
    cluster.served = [nodes];
    const troubles = await open(cluster);
    await vi.waitFor(() => expect(cluster.discoveries).toBeGreaterThan(1), { timeout: 30_000 });
    expect(troubles).toEqual([]);
    cluster.served = [nodes, driverCapacities];
    await vi.waitFor(() => expect(troubles).toEqual([new MissingRight()]), { timeout: 30_000 });
  });

  test('are no trouble where the right has come together with the kind', async () => {
    const cluster = await refusingCluster();
    cluster.served = [];
    const troubles = await open(cluster);
    cluster.isRefusing = false;
    cluster.served = [driverCapacities];
    const asked = cluster.discoveries;
    await vi.waitFor(() => expect(cluster.discoveries).toBeGreaterThan(asked), { timeout: 30_000 });
    expect(troubles).toEqual([]);
  });

  test('are told of by a warning of Node where nobody listens', async () => {
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
    const binding = await VolumeBinding.on(await refusingCluster());
    onTestFinished(() => binding.close());
    expect(await warned).toEqual(new MissingRight());
  });
});
