import type { CustomResourceDefinition } from '../../kube/api/apiextensions.ts';
import type { Lease } from '../../kube/api/coordination.ts';
import type {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ServiceAccount,
} from '../../kube/api/core.ts';
import type { Event } from '../../kube/api/events.ts';
import type { CSIDriver, CSINode, CSIStorageCapacity, StorageClass } from '../../kube/api/storage.ts';
import type { DiskSchedule } from '../../kube/stowage/disk-schedule.ts';
import type { Drive } from '../../kube/stowage/drive.ts';
import type { DriverCapacity } from '../../kube/stowage/driver-capacity.ts';
import type { StorageNode } from '../../kube/stowage/storage-node.ts';
import type { DiskVolume } from '../../kube/stowage/volume.ts';
import type { DoctorServer } from './report.ts';

/** The facts that the checks read. Each is read separately, so that a missing permission hides only the checks that depend on it. */
export interface ClusterFacts {
  readonly server: DoctorServer;
  /** The version of this program. */
  readonly version: string;
  /** Local time. */
  readonly nowMs: number;
  readonly lists: FactLists;
  readonly clock: Fact<ServerClock>;
  /** Feature gates of the API server. */
  readonly gates: Fact<ReadonlyMap<string, boolean>>;
  /** Rights that the caller lacks for an installation, as text. */
  readonly missingCallerRights: Fact<readonly string[]>;
  readonly accounts: Fact<readonly AccountRights[]>;
  /** The definitions of this version of the program. */
  readonly ownDefinitions: readonly CustomResourceDefinition[];
}

/** Something that was read, or the reason why it was not. */
export type Fact<T> = { readonly value: T } | { readonly unread: string };

/** Lists of objects; a kind that the server does not have is an empty list. */
export interface FactLists {
  readonly nodes: Fact<readonly Node[]>;
  /** Pods without a node. */
  readonly pendingPods: Fact<readonly Pod[]>;
  /** Pods of Stowage's own components. */
  readonly ownPods: Fact<readonly Pod[]>;
  readonly volumes: Fact<readonly PersistentVolume[]>;
  readonly claims: Fact<readonly PersistentVolumeClaim[]>;
  readonly classes: Fact<readonly StorageClass[]>;
  readonly drivers: Fact<readonly CSIDriver[]>;
  readonly csiNodes: Fact<readonly CSINode[]>;
  readonly capacities: Fact<readonly CSIStorageCapacity[]>;
  readonly driverCapacities: Fact<readonly DriverCapacity[]>;
  readonly drives: Fact<readonly Drive[]>;
  readonly storageNodes: Fact<readonly StorageNode[]>;
  readonly diskSchedules: Fact<readonly DiskSchedule[]>;
  readonly diskVolumes: Fact<readonly DiskVolume[]>;
  readonly definitions: Fact<readonly CustomResourceDefinition[]>;
  /** Leases of controllers, in kube-system. */
  readonly leases: Fact<readonly Lease[]>;
  /** Leases of kubelets. */
  readonly nodeLeases: Fact<readonly Lease[]>;
  readonly schedulingEvents: Fact<readonly Event[]>;
  readonly accounts: Fact<readonly ServiceAccount[]>;
}

export interface ServerClock {
  readonly serverMs: number;
  /** Local time in the middle of the request. */
  readonly localMs: number;
  /** How much the two may differ without a skew: the resolution of the server's answer, and the time that it took. */
  readonly toleranceMs: number;
}

/** The permissions that an installed service account lacks. */
export interface AccountRights {
  readonly namespace: string;
  readonly name: string;
  /** `patch persistentvolumes`, each. */
  readonly missing: readonly string[];
}

/** The value of a fact that a check has listed in `needs`. */
export function factValue<T>(fact: Fact<T>): T {
  if ('value' in fact) return fact.value;
  throw new Error(`a check read a fact that it does not list: ${fact.unread}`);
}

/** The objects of a list, none if it could not be read: for facts that only improve a finding. */
export function factItems<T>(fact: Fact<readonly T[]>): readonly T[] {
  return 'value' in fact ? fact.value : [];
}
