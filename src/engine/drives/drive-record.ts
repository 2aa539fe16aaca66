import { type Drive, type DriveVolume, driveNodeKey, driveVolumesMax } from '../../kube/stowage/drive.ts';
import { isRecord, listOf, textOf } from '../../kube/wire.ts';
import { type FilesystemUser, filesystemKey } from './shared-filesystems.ts';

/** The facts about a Drive that the choice needs. */
export interface DriveRecord extends FilesystemUser {
  readonly version: string;
  readonly nodeName: string;
  readonly tier: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The segments from which its volumes can be reached; always contains the node's own. */
  readonly topology: Readonly<Record<string, string>>;
  /** 0 while the drive has not reported it. */
  readonly capacityBytes: number;
  readonly volumes: readonly DriveVolume[];
  /** Why it takes no new volumes, as far as the Drive says; undefined if it does. See `exclusionAmong`. */
  readonly exclusion: DriveExclusion | undefined;
  /** Whether a node service has mounted the drive: then only that service may delete data and entries. */
  readonly hasNodeService: boolean;
  /** Whether `spec.volumes` exists, even if it is empty. */
  readonly hasLedger: boolean;
  readonly finalizers: readonly string[];
}

/** Why a drive takes no new volumes of any kind, as the end of a sentence about the drive. */
export const driveExclusions = {
  Cordoned: 'is cordoned',
  Lost: 'is lost: no device has its filesystem',
  Error: 'has errors',
  Repairing: 'is being repaired',
  Removing: 'is being removed',
  Deleting: 'is being deleted',
  Duplicate: 'has the filesystem of an older Drive, which counts',
  NodeGone: 'is on a node that does not exist',
  NotReady: 'has not reported that it is ready',
  UnknownCapacity: 'has not reported its capacity',
  LedgerFull: `has ${driveVolumesMax} volumes, which is the maximum`,
} as const;

export type DriveExclusion = keyof typeof driveExclusions;

/** Fields that are missing or of another type are read as if they were absent. */
export function readDrive(drive: Drive): DriveRecord {
  const { metadata, spec, status } = drive;
  const volumes = listOf(spec?.volumes).filter(isEntry);
  const nodeName = textOf(spec?.nodeName);
  return {
    name: textOf(metadata?.name),
    uid: textOf(metadata?.uid),
    version: textOf(metadata?.resourceVersion),
    nodeName,
    filesystem: filesystemKey(nodeName, textOf(spec?.filesystemUUID)),
    createdAt: textOf(metadata?.creationTimestamp),
    tier: textOf(spec?.accessTier) || 'Default',
    labels: isRecord(metadata?.labels) ? metadata.labels : {},
    topology: { ...status?.topology, [driveNodeKey]: nodeName },
    capacityBytes: bytesIn(status?.capacityBytes) ?? 0,
    volumes,
    exclusion: exclusionOf(drive, volumes.length),
    hasNodeService: listOf(status?.conditions).some((condition) => condition?.type === 'Mounted'),
    hasLedger: Array.isArray(spec?.volumes),
    finalizers: listOf(metadata?.finalizers),
  };
}

/** An API server stores no other entries. */
function isEntry(entry: unknown): boolean {
  return isRecord(entry) && typeof entry.name === 'string' && bytesIn(entry.sizeBytes) !== undefined;
}

/** The bytes that the ledger has promised. Sums of whole bytes below 2^53 are exact, and the API server permits no larger sum. */
export function promisedBytes({ volumes }: Pick<DriveRecord, 'volumes'>): number {
  let sum = 0;
  for (const { sizeBytes } of volumes) sum += sizeBytes;
  return sum;
}

function exclusionOf({ metadata, spec, status }: Drive, volumes: number): DriveExclusion | undefined {
  if (metadata?.deletionTimestamp !== undefined) return 'Deleting';
  if (status?.state === 'Lost' || status?.state === 'Error') return status.state;
  if (status?.state === 'Repairing' || status?.state === 'Removing') return status.state;
  if (spec?.unschedulable === true) return 'Cordoned';
  if (status?.state !== 'Ready') return 'NotReady';
  if (bytesIn(status.capacityBytes) === undefined) return 'UnknownCapacity';
  return volumes >= driveVolumesMax ? 'LedgerFull' : undefined;
}

function bytesIn(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}
