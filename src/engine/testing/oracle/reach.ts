import type { Node, PersistentVolume, VolumeNodeAffinity } from '../../../kube/api/core.ts';
import type { StorageClass } from '../../../kube/api/storage.ts';
import { migratedPlugins, migrateVolume } from '../../../kube/legacy/in-tree-migration.ts';
import { migrateNodeAffinity } from '../../../kube/legacy/in-tree-topology.ts';
import { compileNodeSelector, matchesNode } from '../../../kube/selectors/node-selector.ts';
import { compileTopologySelector } from '../../../kube/selectors/topology-selector.ts';
import { multiZoneSeparator, labels as wellKnownLabels } from '../../../kube/well-known.ts';
import { type OracleCluster, objectName } from './cluster.ts';

/** Whether the node reaches a free volume, by its node affinity as written. */
export function isReachable(cluster: OracleCluster, volume: PersistentVolume, node: Node): boolean {
  return admits(cluster, volume.spec?.nodeAffinity, node);
}

/** Whether the node reaches a bound volume. An in-tree disk counts as a CSI volume if the node has migrated the plugin. */
export function isBoundReachable(cluster: OracleCluster, volume: PersistentVolume, node: Node): boolean {
  const migrated = migrateVolume(volume);
  const isMigrated =
    migrated?.ok === true && migratedPlugins(cluster.csiNode(objectName(node))).has(migrated.source.plugin);
  return isMigrated ? admits(cluster, migrateNodeAffinity(volume), node) : isReachable(cluster, volume, node);
}

/** kube-scheduler evaluates a volume's affinity against labels only, so that every matchFields requirement holds. */
function admits(cluster: OracleCluster, affinity: VolumeNodeAffinity | undefined, node: Node): boolean {
  if (!affinity?.required) return true;
  const nodeName = cluster.isUpstream ? undefined : objectName(node);
  return matchesNode(compileNodeSelector(affinity.required), nodeName, node.metadata?.labels);
}

export function allowsNode(storageClass: StorageClass, node: Node): boolean {
  const selector = compileTopologySelector(storageClass.allowedTopologies);
  return selector === undefined || matchesNode(selector, objectName(node), node.metadata?.labels);
}

const stableKeyOf: Readonly<Record<string, string>> = {
  [wellKnownLabels.betaZone]: wellKnownLabels.zone,
  [wellKnownLabels.betaRegion]: wellKnownLabels.region,
};
const zoneKeys = [...Object.keys(stableKeyOf), ...Object.values(stableKeyOf)];

/** Whether the node matches the zone and region labels of the volume. */
export function isInZone(volume: PersistentVolume, node: Node): boolean {
  const nodeLabels = node.metadata?.labels ?? {};
  if (!zoneKeys.some((key) => nodeLabels[key] !== undefined)) return true;
  return zoneKeys.every((key) => {
    const zones = volume.metadata?.labels?.[key]?.split(multiZoneSeparator).map((zone) => zone.trim());
    // A list with an empty zone is ignored.
    if (zones === undefined || zones.includes('')) return true;
    const zone = nodeLabels[key] ?? nodeLabels[stableKeyOf[key] ?? ''];
    return zone !== undefined && zones.includes(zone);
  });
}
