import type { CsiReply } from '../../../../csi/csi-methods.ts';
import type { Node } from '../../../../kube/api/core.ts';
import type { CSINode, CSINodeDriver } from '../../../../kube/api/storage.ts';
import { isSemanticallyEqual } from '../../../../kube/deep-equal.ts';
import { annotations } from '../../../../kube/well-known.ts';
import { pluginDriversOf } from '../csi-records/node-plugins.ts';

/** The largest limit that a CSINode can hold. */
const countMax = 2_147_483_647n;

/** The entry of a driver in the CSINode, from what its plugin says about the node. */
export function entryOf(driver: string, info: CsiReply<'NodeGetInfo'>): CSINodeDriver {
  const topologyKeys = Object.keys(topologyOf(info)).sort();
  const { maxVolumesPerNode: limit } = info;
  return {
    name: driver,
    nodeID: info.nodeId,
    ...(topologyKeys.length === 0 ? {} : { topologyKeys }),
    ...(limit > 0n ? { allocatable: { count: Number(limit < countMax ? limit : countMax) } } : {}),
  };
}

export type PluginLabels =
  | { readonly kind: 'missing'; readonly labels: Readonly<Record<string, string>> }
  | { readonly kind: 'present' }
  | { readonly kind: 'conflict'; readonly problem: string };

/** The labels that the node needs for the plugin's topology. A label with another value belongs to someone else, and is kept. */
export function pluginLabels({ metadata }: Node, info: CsiReply<'NodeGetInfo'>): PluginLabels {
  const labels: Record<string, string> = {};
  for (const [key, value] of Object.entries(topologyOf(info))) {
    const found = metadata?.labels?.[key];
    if (found === value) continue;
    if (found !== undefined)
      return {
        kind: 'conflict',
        problem: `detected topology value collision: driver reported "${key}":"${value}" but existing label is "${key}":"${found}"`,
      };
    labels[key] = value;
  }
  return Object.keys(labels).length === 0 ? { kind: 'present' } : { kind: 'missing', labels };
}

/** A change of a CSINode's entries: the drivers that it must list, and those of them that node plugins of ours serve. */
export interface CsiNodeChange {
  readonly drivers: readonly CSINodeDriver[];
  readonly pluginDrivers: readonly string[];
}

/**
 * The changes that lead to the entry, in order; none if it is there. Of an existing entry only the limit can be changed; the rest is removed
 * and added again, which is what Kubernetes accepts.
 */
export function changesFor(csiNode: CSINode | undefined, entry: CSINodeDriver): readonly CsiNodeChange[] {
  const before = csiNode?.spec?.drivers ?? [];
  const ours = csiNode === undefined ? [] : pluginDriversOf(csiNode);
  const { name = '' } = entry;
  const found = before.find((driver) => driver.name === name);
  const others = before.filter((driver) => driver !== found);
  const pluginDrivers = [...new Set([...ours, name])].sort();
  const added = { drivers: [...others, entry], pluginDrivers };
  if (found === undefined) return [added];
  if (!isSemanticallyEqual(identityOf(found), identityOf(entry)))
    return [{ drivers: others, pluginDrivers }, added];
  const isSame = found.allocatable?.count === entry.allocatable?.count && ours.includes(name);
  // The order of topology keys is part of an entry, and means nothing.
  const changed = before.map((driver) => (driver === found ? withLimitOf(found, entry) : driver));
  return isSame ? [] : [{ drivers: changed, pluginDrivers }];
}

/** Without the entries of these drivers, which node plugins of ours served. */
export function withoutDrivers(csiNode: CSINode, gone: readonly string[]): CsiNodeChange {
  return {
    drivers: (csiNode.spec?.drivers ?? []).filter(({ name = '' }) => !gone.includes(name)),
    pluginDrivers: pluginDriversOf(csiNode).filter((name) => !gone.includes(name)),
  };
}

/** A merge patch. The owner is the node, as a kubelet writes it: a CSINode of a node that was created again gets the new uid. */
export function csiNodePatch(
  csiNode: CSINode,
  node: Node,
  { drivers, pluginDrivers }: CsiNodeChange,
): object {
  const { uid, resourceVersion } = csiNode.metadata ?? {};
  const text = pluginDrivers.length === 0 ? null : pluginDrivers.join(',');
  const isOwned = (csiNode.metadata?.ownerReferences ?? []).some(({ kind }) => kind === 'Node');
  return {
    metadata: {
      uid,
      resourceVersion,
      annotations: { [annotations.csiNodePlugins]: text },
      ...(isOwned ? { ownerReferences: [ownerOf(node)] } : {}),
    },
    spec: { drivers },
  };
}

export function newCsiNode(node: Node, { drivers, pluginDrivers }: CsiNodeChange): CSINode {
  return {
    metadata: {
      name: node.metadata?.name ?? '',
      annotations: { [annotations.csiNodePlugins]: pluginDrivers.join(',') },
      ownerReferences: [ownerOf(node)],
    },
    spec: { drivers },
  };
}

/** Whether the CSINode belongs to a node of this name that was deleted. */
export function hasStaleOwner({ metadata }: CSINode, node: Node): boolean {
  return (metadata?.ownerReferences ?? []).some(
    ({ kind, uid }) => kind === 'Node' && uid !== node.metadata?.uid,
  );
}

function ownerOf({ metadata }: Node): { apiVersion: string; kind: string; name: string; uid: string } {
  return { apiVersion: 'v1', kind: 'Node', name: metadata?.name ?? '', uid: metadata?.uid ?? '' };
}

function topologyOf({ accessibleTopology }: CsiReply<'NodeGetInfo'>): Readonly<Record<string, string>> {
  return accessibleTopology?.segments ?? {};
}

/** The fields of an entry that cannot be changed. */
function identityOf({ name, nodeID, topologyKeys }: CSINodeDriver): object {
  return { name, nodeID, topologyKeys: [...(topologyKeys ?? [])].sort() };
}

function withLimitOf(
  { allocatable: _, ...driver }: CSINodeDriver,
  { allocatable }: CSINodeDriver,
): CSINodeDriver {
  return allocatable === undefined ? driver : { ...driver, allocatable };
}
