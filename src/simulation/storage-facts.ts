import type { RestFacts, StorageFacts } from './invariants/invariant.ts';
import type { KnownExpansions } from './known-expansions.ts';
import type { LateSelections } from './late-selections.ts';
import type { SimulatedDriveHosts } from './simulated-drive-hosts.ts';
import type { SimulatedDriver } from './simulated-driver.ts';
import type { UnseenRemovals } from './unseen-removals.ts';

export interface SimulatedStorage {
  readonly driver: SimulatedDriver;
  readonly driveHosts: SimulatedDriveHosts;
}

export interface SentWrites {
  readonly lateSelections: LateSelections;
  readonly unseenRemovals: UnseenRemovals;
  readonly knownExpansions: KnownExpansions;
}

/** What invariants about single versions can ask. */
export function storageFactsOf(
  { driver, driveHosts }: SimulatedStorage,
  { lateSelections, unseenRemovals, knownExpansions }: SentWrites,
): StorageFacts {
  return {
    limitBytes: (node) => driver.limitBytes(node),
    wasMeasured: (node, bytes, sinceMs) => driver.wasMeasured(node, bytes, sinceMs),
    attached: driver.attached,
    volumes: driver.volumes,
    hasDriveData: (node, uuid, volume) => driveHosts.hasData(node, uuid, volume),
    wasSelectedLate: (claimUid, node) => lateSelections.has(claimUid, node),
    reservedSizeOf: (volume, selection) => knownExpansions.sizeOf(volume, selection),
    wasRemovedUnseen: (podUid, claimKey) => unseenRemovals.has(podUid, claimKey),
  };
}

/** What invariants about rest can ask of the storage. */
export function storageAtRest({ driver, driveHosts }: SimulatedStorage): StorageAtRest {
  return {
    driverVolumes: driver.volumes,
    deletedInUse: driver.deletedInUse,
    freeBytes: (node) => driver.freeBytes(node),
    attached: driver.attached,
    detachedInUse: driver.detachedInUse,
    isConnected: (node, uuid) => driveHosts.isConnected(node, uuid),
    driveDataRemovedInUse: driveHosts.removedInUse,
    driveDataRemovedWhileHeld: driveHosts.removedWhileHeld,
  };
}

type StorageAtRest = Pick<
  RestFacts,
  | 'driverVolumes'
  | 'deletedInUse'
  | 'freeBytes'
  | 'attached'
  | 'detachedInUse'
  | 'isConnected'
  | 'driveDataRemovedInUse'
  | 'driveDataRemovedWhileHeld'
>;
