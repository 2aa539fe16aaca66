import type { Cluster } from '../../cluster/cluster.ts';
import { readDrive } from '../../engine/drives/drive-record.ts';
import type { Node } from '../../kube/api/core.ts';
import type { CSINode, CSINodeDriver } from '../../kube/api/storage.ts';
import type { Patch } from '../../kube/api-requests.ts';
import { isEqualJson } from '../../kube/deep-equal.ts';
import { withPreconditions } from '../../kube/patch-preconditions.ts';
import { csiNodes, nodes } from '../../kube/resources.ts';
import {
  type Drive,
  driveNodeKey,
  drives,
  drivesDriver,
  driveTopology,
  nodeTopologyKeys,
} from '../../kube/stowage/drive.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import { annotations } from '../../kube/well-known.ts';

type Segments = Readonly<Record<string, string>>;

export interface DriveNodeOptions {
  readonly cluster: Cluster;
  /** Labels of Nodes that are topology segments beside the well-known ones. */
  readonly topologyKeys: readonly string[];
}

/**
 * Gives a node with drives the label that its volumes are pinned by, its drives the topology of its labels, and the driver its entry in the
 * CSINode, as a kubelet does with a node plugin. The entry comes last: its readers rely on the labels and on the topology of drives. Every
 * write carries the version that was read, and is made only where something differs; after a crash the next call makes the missing ones.
 */
export async function registerDriveNode(
  { cluster, topologyKeys }: DriveNodeOptions,
  name: string,
  ownDrives: readonly Drive[],
  signal: AbortSignal,
): Promise<void> {
  const node = await undefinedIfNotFound(cluster.resource(nodes).get({ name }, { signal }));
  // It is registered when it is added.
  if (node === undefined) return;
  if (node.metadata?.labels?.[driveNodeKey] === undefined) {
    const { uid, resourceVersion } = node.metadata ?? {};
    const body = { metadata: { uid, resourceVersion, labels: { [driveNodeKey]: name } } };
    await cluster.resource(nodes).patch({ name }, { type: 'merge', body }, { signal });
  }
  const segments = driveTopology(name, node.metadata?.labels, topologyKeys);
  for (const drive of ownDrives) await writeTopology(cluster, drive, segments, signal);
  await writeEntry(
    cluster,
    node,
    Object.keys(segments).sort(),
    [...nodeTopologyKeys, ...topologyKeys],
    signal,
  );
}

async function writeTopology(
  cluster: Cluster,
  drive: Drive,
  segments: Segments,
  signal: AbortSignal,
): Promise<void> {
  const patch = topologyPatch(drive, segments);
  if (patch === undefined) return;
  const { name = '' } = drive.metadata ?? {};
  // A drive that was deleted needs no topology.
  await undefinedIfNotFound(
    cluster.resource(drives).patch({ name }, patch, { signal, subresource: 'status' }),
  );
}

/**
 * Undefined if the drive has this topology. A node service reports the topology of its drives itself; a drive that has not reported its
 * capacity gets its whole status first.
 */
export function topologyPatch(drive: Drive, segments: Segments): Patch | undefined {
  const { metadata, status = {} } = drive;
  if (readDrive(drive).hasNodeService || status.capacityBytes === undefined) return undefined;
  const { topology: before = {} } = status;
  if (isEqualJson(before, segments)) return undefined;
  const removed = Object.keys(before).filter((key) => segments[key] === undefined);
  const topology = { ...Object.fromEntries(removed.map((key) => [key, null])), ...segments };
  return { type: 'merge', body: withPreconditions({ metadata: metadata ?? {} }, { status: { topology } }) };
}

/** Removes an existing entry and adds it again, as a kubelet does, because the API server refuses a change of its keys. */
async function writeEntry(
  cluster: Cluster,
  node: Node,
  topologyKeys: readonly string[],
  knownKeys: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { name = '', uid = '' } = node.metadata ?? {};
  const client = cluster.resource(csiNodes);
  const entry = { name: drivesDriver, nodeID: name, topologyKeys };
  const found = await undefinedIfNotFound(client.get({ name }, { signal }));
  if (found === undefined) {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid }];
    await client.create({ metadata: { name, ownerReferences }, spec: { drivers: [entry] } }, { signal });
    return;
  }
  const existing = found.spec?.drivers?.find((driver) => driver.name === drivesDriver);
  if (existing !== undefined && !mayReplace(found, existing, topologyKeys, knownKeys)) return;
  const others = (found.spec?.drivers ?? []).filter((driver) => driver !== existing);
  const write = (csiNode: CSINode, drivers: readonly CSINodeDriver[]) => {
    const body = withPreconditions(csiNode, { spec: { drivers } });
    return client.patch({ name }, { type: 'merge', body }, { signal });
  };
  const without = existing === undefined ? found : await write(found, others);
  await write(without, [...others, entry]);
}

/**
 * An entry with other keys that this process wrote for other labels of the Node. One that a node plugin registered is written by its kubelet,
 * and one with a key that this process does not know by another process.
 */
function mayReplace(
  { metadata }: CSINode,
  { topologyKeys = [] }: CSINodeDriver,
  wanted: readonly string[],
  known: readonly string[],
): boolean {
  const ofPlugins = metadata?.annotations?.[annotations.csiNodePlugins]?.split(',') ?? [];
  const isKnown = topologyKeys.every((key) => key === driveNodeKey || known.includes(key));
  return isKnown && !ofPlugins.includes(drivesDriver) && !isEqualJson([...topologyKeys].sort(), wanted);
}
