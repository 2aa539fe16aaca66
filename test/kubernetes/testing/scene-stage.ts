import type { Cluster } from '../../../src/cluster/cluster.ts';
import { nodes, storageClasses } from '../../../src/kube/resources.ts';
import type { Bed } from '../bed.ts';
import { makeDisks } from './disk-maker.ts';
import { sharedClasses } from './scenes/volume-scenes.ts';

/** More than kwok gives a node by default, because all scenarios use the node at the same time. */
const room = { cpu: '64', memory: '512Gi', pods: '1000' };

/** Creates what every scenario needs: a node, classes, and a provisioner that runs until `ended`. */
export async function setStage(bed: Bed, ended: AbortSignal): Promise<Cluster> {
  const cluster = await bed.connect();
  const status = { capacity: room, allocatable: room };
  await cluster.resource(nodes).create({ metadata: { name: 'n1' }, status });
  for (const each of sharedClasses) await cluster.resource(storageClasses).create(each);
  makeDisks(cluster, ended).catch((error: unknown) => {
    if (!ended.aborted) console.error(error);
  });
  return cluster;
}
