import type { Cluster } from '../../../src/cluster/cluster.ts';
import { nodes, storageClasses } from '../../../src/kube/resources.ts';
import type { TestBed } from '../test-bed.ts';
import { runFakeProvisioner } from './fake-provisioner.ts';
import { sharedClasses } from './scenarios/volume-scenarios.ts';

/** More than kwok gives a node by default, because all scenarios use the node at the same time. */
const capacity = { cpu: '64', memory: '512Gi', pods: '1000' };

/** Creates what every scenario needs: a node, classes, and a provisioner that runs until `ended`. */
export async function setUpCluster(bed: TestBed, ended: AbortSignal): Promise<Cluster> {
  const cluster = await bed.connect();
  const status = { capacity: capacity, allocatable: capacity };
  await cluster.resource(nodes).create({ metadata: { name: 'n1' }, status });
  for (const each of sharedClasses) await cluster.resource(storageClasses).create(each);
  runFakeProvisioner(cluster, ended).catch((error: unknown) => {
    if (!ended.aborted) console.error(error);
  });
  return cluster;
}
