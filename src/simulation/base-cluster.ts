import type { Cluster } from '../cluster/cluster.ts';
import type { Node } from '../kube/api/core.ts';
import type { CSINode } from '../kube/api/storage.ts';
import {
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  nodes,
  priorityClasses,
  storageClasses,
} from '../kube/resources.ts';
import { labels, noProvisioner } from '../kube/well-known.ts';
import { driverClassName, driverName, gibibyte, type SimulatedDriver } from './simulated-driver.ts';
import { segmentClassName, segmentDriverName } from './simulated-segment-driver.ts';

/** The nodes of every scenario; actions delete and create them again under the same names. */
export const nodeNames = ['n0', 'n1', 'n2'] as const;
export const localClassName = 'local';
export const urgentClassName = 'urgent';
const poolGib = 12;

const allocatable = { cpu: '4', memory: '8Gi', pods: '10' };

export interface BaseClusterOptions {
  readonly driver: SimulatedDriver;
  /** Whether the volumes of the driver have to be attached to their node. */
  readonly attaches: boolean;
}

/** What every scenario starts with: three small nodes, three classes, a driver with one pool a node, and one without capacity. */
export async function createBaseCluster(
  cluster: Cluster,
  { driver, attaches }: BaseClusterOptions,
): Promise<void> {
  const waits = { volumeBindingMode: 'WaitForFirstConsumer' as const };
  const classes = cluster.resource(storageClasses);
  await classes.create({ metadata: { name: localClassName }, provisioner: noProvisioner, ...waits });
  await classes.create({
    metadata: { name: driverClassName },
    provisioner: driverName,
    allowVolumeExpansion: true,
    ...waits,
  });
  await cluster
    .resource(csiDrivers)
    .create({ metadata: { name: driverName }, spec: { attachRequired: attaches, storageCapacity: true } });
  await classes.create({ metadata: { name: segmentClassName }, provisioner: segmentDriverName, ...waits });
  await cluster
    .resource(csiDrivers)
    .create({ metadata: { name: segmentDriverName }, spec: { attachRequired: false } });
  await createForeignCapacityReport(cluster);
  await cluster.resource(priorityClasses).create({ metadata: { name: urgentClassName }, value: 1000 });
  for (const name of nodeNames) {
    driver.setCapacity(name, poolGib * gibibyte);
    await createNode(cluster, name);
  }
}

/** A capacity report of this driver that another program has published, for a class that does not exist any more. */
async function createForeignCapacityReport(cluster: Cluster): Promise<void> {
  const owner = { [labels.driverName]: driverName, [labels.managedBy]: 'external-provisioner' };
  await cluster.resource(csiStorageCapacities).create({
    metadata: { namespace: 'kube-system', name: 'foreign', labels: owner },
    storageClassName: 'foreign',
    nodeTopology: { matchLabels: { [labels.hostname]: nodeNames[0] } },
    capacity: '1Gi',
  });
}

async function createNode(cluster: Cluster, name: string): Promise<void> {
  await cluster.resource(nodes).create(nodeOf(name));
  await cluster.resource(csiNodes).create(csiNodeOf(name));
}

export function csiNodeOf(name: string): CSINode {
  const drivers = [driverName, segmentDriverName].map((driver) => ({
    name: driver,
    nodeID: name,
    topologyKeys: [labels.hostname],
  }));
  return { metadata: { name }, spec: { drivers } };
}

export function nodeOf(name: string): Node {
  const zone = name === 'n2' ? 'b' : 'a';
  return {
    metadata: { name, labels: { [labels.hostname]: name, [labels.zone]: zone } },
    status: { allocatable, capacity: allocatable },
  };
}
