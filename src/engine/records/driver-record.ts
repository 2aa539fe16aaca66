import type { CSIDriver, CSINode } from '../../kube/api/storage.ts';
import { migratedPlugins } from '../../kube/legacy/in-tree-migration.ts';
import { textOf } from '../../kube/wire.ts';
import { nonNullItems } from './field-readers.ts';
import { clusterIdentity, type Identity } from './identity.ts';

/** The fields of a CSIDriver that the engine uses. */
export interface DriverRecord extends Identity {
  readonly tracksCapacity: boolean;
  /** A node without the driver is refused, instead of treated as unlimited. */
  readonly refusesNodesWithoutIt: boolean;
}

export function readDriver(driver: CSIDriver): DriverRecord {
  const { key, uid, version, isDeleting } = clusterIdentity(driver);
  return {
    key,
    uid,
    version,
    isDeleting,
    tracksCapacity: driver.spec?.storageCapacity === true,
    refusesNodesWithoutIt: driver.spec?.preventPodSchedulingIfMissing === true,
  };
}

/** The fields of a CSINode that the engine uses. Its key is the node's name. */
export interface NodeDriversRecord extends Identity {
  /** How many volumes each installed driver can attach; undefined if there is no limit. */
  readonly limits: ReadonlyMap<string, number | undefined>;
  /** The labels of each installed driver's topology, sorted; drivers without any are left out. */
  readonly topologyKeys: ReadonlyMap<string, readonly string[]>;
  readonly migratedPlugins: ReadonlySet<string>;
  readonly problems: readonly string[];
}

export function readNodeDrivers(node: CSINode): NodeDriversRecord {
  const problems: string[] = [];
  const limits = new Map<string, number | undefined>();
  const topologyKeys = new Map<string, readonly string[]>();
  for (const driver of nonNullItems(node.spec?.drivers)) {
    limits.set(textOf(driver.name), readLimit(driver.allocatable?.count, textOf(driver.name), problems));
    const keys = nonNullItems(driver.topologyKeys).filter((key) => typeof key === 'string');
    if (keys.length > 0) topologyKeys.set(textOf(driver.name), keys.sort());
  }
  const { key, uid, version, isDeleting } = clusterIdentity(node);
  const plugins = migratedPlugins(node);
  return { key, uid, version, isDeleting, limits, topologyKeys, migratedPlugins: plugins, problems };
}

function readLimit(count: unknown, driver: string, problems: string[]): number | undefined {
  if (count === undefined || count === null) return undefined;
  if (typeof count === 'number' && Number.isInteger(count) && count >= 0) return count;
  problems.push(
    `spec.drivers[${driver}].allocatable.count: must be an integer of zero or more; treated as no limit`,
  );
  return undefined;
}

/** 1 for a driver that must be installed on the node of its volumes. */
export function requirementCount(driver: DriverRecord | undefined): number {
  return driver?.refusesNodesWithoutIt === true ? 1 : 0;
}
