import { expect, test } from 'vitest';
import type { Cluster } from '../../cluster/cluster.ts';
import { InterceptedCluster } from '../../cluster/intercepted-cluster.ts';
import { CrashAfterWrites } from '../../cluster/testing/fault-hooks.ts';
import { VirtualTimeCluster } from '../testing/virtual-time-cluster.ts';
import { deploymentController } from './deployment/deployment-controller.ts';
import { changeDeployment, makeDeployment } from './deployment/testing/deployments.ts';
import { statefulSetController } from './stateful-set/stateful-set-controller.ts';
import { changeSet, dataTemplate, makeSet } from './stateful-set/testing/sets.ts';
import { podsOf } from './testing/workload-fixture.ts';

const largest = 2_147_483_647;
const volumeClaimTemplates = [dataTemplate];

interface Workload {
  readonly what: string;
  readonly make: (cluster: Cluster) => Promise<unknown>;
  readonly scale: (cluster: Cluster, replicas: number) => Promise<void>;
  readonly podsMin: number;
}

const scaleSet = (cluster: Cluster, replicas: number) => changeSet(cluster, { replicas });
const workloads: readonly Workload[] = [
  {
    what: 'an ordered StatefulSet',
    make: (cluster) => makeSet(cluster, { replicas: largest, volumeClaimTemplates }),
    scale: scaleSet,
    podsMin: 1,
  },
  {
    what: 'a parallel StatefulSet',
    make: (cluster) =>
      makeSet(cluster, { replicas: largest, volumeClaimTemplates, podManagementPolicy: 'Parallel' }),
    scale: scaleSet,
    podsMin: 100,
  },
  {
    what: 'a Deployment',
    make: (cluster) => makeDeployment(cluster, { replicas: largest }),
    scale: (cluster, replicas) => changeDeployment(cluster, { replicas }),
    podsMin: 100,
  },
];

/** The controllers stop after so many writes; otherwise they would continue to create pods. */
const writesMax = 400;

test.each(workloads)(
  '$what with the largest number of replicas can be scaled down again',
  async (workload) => {
    await using fixture = await VirtualTimeCluster.start();
    const { cluster } = fixture;
    const crashing = new InterceptedCluster(cluster, new CrashAfterWrites(writesMax));
    const controllers = [statefulSetController, deploymentController];
    const first = fixture.run(controllers, crashing);
    await workload.make(cluster);
    await fixture.settle();
    await first.close();
    const { length } = await podsOf(cluster);
    expect(length).toBeGreaterThanOrEqual(workload.podsMin);
    expect(length).toBeLessThanOrEqual(writesMax);
    await workload.scale(cluster, 1);
    fixture.run(controllers);
    await fixture.settle();
    expect(await podsOf(cluster)).toHaveLength(1);
  },
);
