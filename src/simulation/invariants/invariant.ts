import type { KubeObject } from '../../kube/api/meta.ts';
import type { SelectedNode } from '../known-expansions.ts';
import type { StoredObjects } from './stored-objects.ts';

/**
 * Something that must always be true. `onVersion` is called with every version that is stored, right after the state contains it;
 * `atRest` after faults have stopped and the system has had time to finish its work, and if something is wrong, once more after some
 * seconds: an invariant that is broken both times counts; `beforeSweeps` twice, some seconds apart, when events have had time to cause all
 * work, and no sweep or periodic retry has yet: what is wrong both times counts. All return what is wrong: the objects, and what about them.
 */
export interface Invariant {
  /** A sentence, for the report. */
  readonly name: string;
  readonly onVersion?: (
    version: StoredVersion,
    state: StoredObjects,
    storage: StorageFacts | undefined,
  ) => string | undefined;
  readonly beforeSweeps?: (state: StoredObjects, nowMs: number) => readonly string[];
  readonly atRest?: (state: StoredObjects, facts: RestFacts) => readonly string[];
}

/** One version of one object. */
export interface StoredVersion<T extends KubeObject = KubeObject> {
  /** `persistentvolumes` or `statefulsets.apps`. */
  readonly resource: string;
  /** `name` or `namespace/name`. */
  readonly key: string;
  readonly revision: number;
  /** Undefined for a new object. */
  readonly before: T | undefined;
  /** Undefined if the object is removed. */
  readonly after: T | undefined;
}

/** The storage outside the cluster; undefined in tests that have none. */
export interface StorageFacts {
  /** The largest capacity that the node's pool had, or pretended to have, until now. */
  limitBytes(node: string): number;
  /** Whether the driver has said, at this time or later, that so much is free. */
  wasMeasured(node: string, bytes: number, sinceMs: number): boolean;
  /** `VOLUME NODE` each. */
  readonly attached: ReadonlySet<string>;
  readonly volumes: ReadonlyMap<string, DriverVolumeFact>;
  /** Whether the filesystem of a drive has data of the volume, or remains of it. */
  hasDriveData(node: string, filesystemUuid: string, volume: string): boolean;
  /** Whether the node was selected for the claim by a scheduler that had ended when the server stored it. */
  wasSelectedLate(claimUid: string, node: string): boolean;
  /** The size of a volume that the scheduler had to reserve when it selected the node for the claim; 0 if it did not know the volume. */
  reservedSizeOf(volume: string, selection: SelectedNode): number;
  /** Whether the claim was removed, and the scheduler that bound the pod could not know it. */
  wasRemovedUnseen(podUid: string, claimKey: string): boolean;
}

/** What is known at the end of a run beside the stored objects. */
export interface RestFacts {
  readonly nowMs: number;
  /** Volumes that exist in the storage of the simulated driver, by name. */
  readonly driverVolumes: ReadonlyMap<string, DriverVolumeFact>;
  /** Volumes that the driver deleted although a claim was bound to them. */
  readonly deletedInUse: readonly string[];
  /** What is free in the pool of a node. */
  readonly freeBytes: (node: string) => number;
  /** The attachments of the driver, `VOLUME NODE` each. */
  readonly attached: ReadonlySet<string>;
  /** Volumes that the driver detached although a pod ran with them. */
  readonly detachedInUse: readonly string[];
  /** Whether a device has this filesystem; undefined on a node without node service. */
  readonly isConnected: (node: string, filesystemUuid: string) => boolean | undefined;
  /** Volumes on drives whose data was removed although a pod used it. */
  readonly driveDataRemovedInUse: readonly string[];
  /** Volumes on drives whose data was removed although a ledger of the filesystem had an active entry of them. */
  readonly driveDataRemovedWhileHeld: readonly string[];
  /** Versions stored during the last minutes, other than Leases and Events. */
  readonly lateVersions: readonly string[];
  /** Counters of sweeps that found work which an event should have caused. */
  readonly rescued: readonly string[];
  /** Tasks that ended with an error which is not an API error: bugs. */
  readonly crashes: readonly string[];
  /** Writes of volumes, claims, capacity reports and drives, and bindings of pods, by controllers that name no version. */
  readonly unversioned: readonly string[];
  /** Responses of the server that contradict its stored objects. */
  readonly wrongAnswers: readonly string[];
}

export interface DriverVolumeFact {
  readonly node: string;
  readonly bytes: number;
  /** Its size before any expansion. */
  readonly createdBytes: number;
}

/** A broken invariant: the run ends with it. */
export interface Violation {
  readonly invariant: string;
  readonly detail: string;
}
