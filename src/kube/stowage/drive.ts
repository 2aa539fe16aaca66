import type { Condition, KubeObject } from '../api/meta.ts';
import type { Resource } from '../resource.ts';
import { stowageGroup, stowageVersion } from './driver-capacity.ts';

/** A formatted local drive and the ledger of its volumes: `stowage.dev/v1alpha1`, cluster-scoped. docs/kinds.md describes each field. */
export interface Drive extends KubeObject {
  readonly spec?: DriveSpec;
  readonly status?: DriveStatus;
}

export interface DriveSpec {
  readonly nodeName?: string;
  readonly filesystemUUID?: string;
  readonly filesystemType?: string;
  readonly accessTier?: string;
  /** True keeps new volumes away (cordon). */
  readonly unschedulable?: boolean;
  /** The ledger: a list-map with the key `name`. */
  readonly volumes?: readonly DriveVolume[];
}

/** One entry of the ledger. */
export interface DriveVolume {
  readonly name: string;
  readonly sizeBytes: number;
  /** Absent: Active. */
  readonly state?: 'Active' | 'Releasing';
  readonly claimRef?: DriveUser;
  /** For an inline volume, which has no claim. */
  readonly podRef?: DriveUser;
  readonly spreadGroup?: string;
}

/** The claim or pod that an entry was made for. */
export interface DriveUser {
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string;
}

export interface DriveStatus {
  readonly observedGeneration?: number;
  readonly capacityBytes?: number;
  readonly freeBytes?: number;
  readonly state?: string;
  readonly topology?: Readonly<Record<string, string>>;
  /** The device that the filesystem was found on. */
  readonly device?: { readonly path?: string; readonly make?: string };
  readonly conditions?: readonly Condition[];
}

export const drives: Resource<Drive> = {
  group: stowageGroup,
  version: stowageVersion,
  namespaced: false,
  kind: 'Drive',
  plural: 'drives',
  isOptional: true,
};

/** UUIDs are equal in any letter case. */
export function isSameUuid(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && a.toLowerCase() === b?.toLowerCase();
}

/** The CSI driver whose volumes are on Drives. */
export const drivesDriver = 'drives.stowage.dev';

/** The topology key of that driver; its value is the name of the Node. */
export const driveNodeKey = 'stowage.dev/node';

/** Labels of a Node that are topology segments of its drives, beside the node itself, wherever the Node has them. */
export const nodeTopologyKeys: readonly string[] = [
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
];

/** Further keys that a setting may name: a Drive's `status.topology` has a limit. */
export const furtherTopologyKeysMax = 16;

/**
 * The topology segments of the drives of a node: the node's own, and those of its labels with the well-known and the further keys. CSI
 * permits no empty values. The segment of the node alone identifies the drives, so only that one pins a volume.
 */
export function driveTopology(
  nodeName: string,
  labels: Readonly<Record<string, string>> | undefined,
  furtherKeys: readonly string[],
): Readonly<Record<string, string>> {
  const segments: Record<string, string> = {};
  for (const key of [...nodeTopologyKeys, ...furtherKeys]) {
    const value = labels?.[key];
    if (value !== undefined && value !== '') segments[key] = value;
  }
  return { ...segments, [driveNodeKey]: nodeName };
}

/** On a Drive while its ledger has entries. */
export const driveProtectionFinalizer = 'stowage.dev/drive-protection';

/** A key of a volume's attributes and of CreateVolume's parameters: the name of its Drive. */
export const driveNameKey = 'stowage.dev/drive';

/** Entries that the definition of Drive permits in one ledger. */
export const driveVolumesMax = 1000;

export const accessTierNames = ['Default', 'Hot', 'Warm', 'Cold'] as const;
