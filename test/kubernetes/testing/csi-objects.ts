import { expect } from 'vitest';
import type { KubernetesCluster } from '../../../src/cluster/kubernetes/client.ts';
import type { PodSpec } from '../../../src/kube/api/core.ts';
import {
  csiStorageCapacities,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
} from '../../../src/kube/resources.ts';
import type { MockDriver } from './mock-driver.ts';
import { accessModes, main, until } from './run-scheduler.ts';

const namespace = 'default';

/** A cluster with the driver and the class `fast` of its volumes. */
export interface CsiSetup {
  readonly cluster: KubernetesCluster;
  readonly mock: MockDriver;
}

/** Until the class has these figures: `SEGMENT CAPACITY`, sorted. */
export async function untilPublished(
  { cluster }: Pick<CsiSetup, 'cluster'>,
  expected: string,
): Promise<void> {
  await until(async () => {
    const { items } = await cluster.resource(csiStorageCapacities).list();
    const lines = items.map(
      ({ nodeTopology, capacity }) => `${Object.values(nodeTopology?.matchLabels ?? {})} ${capacity}`,
    );
    return lines.sort().join(', ') === expected;
  });
}

export async function makeClaimAndPod(
  { cluster }: Pick<CsiSetup, 'cluster'>,
  name: string,
  storage: string,
  spec: Partial<PodSpec> = {},
): Promise<void> {
  await cluster.resource(persistentVolumeClaims).create({
    metadata: { namespace, name },
    spec: { accessModes, storageClassName: 'fast', resources: { requests: { storage } } },
  });
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: name } }];
  // A grace period of 0 would remove the pod immediately, before its volume is unpublished.
  await cluster.resource(pods).create({
    metadata: { namespace, name },
    spec: { terminationGracePeriodSeconds: 1, containers: [main], volumes, ...spec },
  });
}

/** The node of the pod, once it runs. */
export async function runsOn({ cluster }: Pick<CsiSetup, 'cluster'>, name: string): Promise<string> {
  let node = '';
  await until(async () => {
    const { spec, status } = await cluster.resource(pods).get({ namespace, name });
    node = spec?.nodeName ?? '';
    return status?.phase === 'Running';
  });
  return node;
}

/** Until nothing is left, in the cluster and in the driver. */
export async function deleteAll({ cluster, mock }: CsiSetup, name: string): Promise<void> {
  await cluster.resource(pods).delete({ namespace, name });
  await cluster.resource(persistentVolumeClaims).delete({ namespace, name });
  await until(async () => (await cluster.resource(persistentVolumes).list()).items.length === 0);
  expect(await mock.volumeNames()).toEqual([]);
}

const gib = 2n ** 30n;

/** A volume that the cluster does not know. */
export async function makeForeignVolume(
  mock: MockDriver,
  segment: string,
  sizeGib: number,
): Promise<{ readonly volumeId: string }> {
  const topology = { segments: { [mock.topologyKey]: segment } };
  const { volume } = await mock.call('CreateVolume', {
    name: 'foreign',
    capacityRange: { requiredBytes: BigInt(sizeGib) * gib },
    volumeCapabilities: [{ accessType: { case: 'mount', value: {} }, accessMode: { mode: 1 } }],
    accessibilityRequirements: { requisite: [topology], preferred: [topology] },
  });
  return { volumeId: volume?.volumeId ?? '' };
}
