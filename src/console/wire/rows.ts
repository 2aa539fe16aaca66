/**
 * What the server sends about the cluster: one row for each thing that the page shows. Rows are plain JSON; the page and the server share
 * these types. A row has everything that lists and the map draw, and nothing that only a detail view needs.
 */
export interface ConsoleRows {
  readonly node: ConsoleNode;
  readonly pool: ConsolePool;
  readonly disk: ConsoleDisk;
  readonly volume: ConsoleVolume;
  readonly claim: ConsoleClaim;
  readonly pod: ConsolePod;
}

export type RowType = keyof ConsoleRows;

export const rowTypes: readonly RowType[] = ['node', 'pool', 'disk', 'volume', 'claim', 'pod'];

export interface ConsoleNode {
  readonly id: string;
  readonly zone: string;
  readonly rack: string;
  readonly isReady: boolean;
  readonly isCordoned: boolean;
  /** Requested and allocatable: thousandths of a core, bytes, pods. */
  readonly cpu: NodeAmount;
  readonly memory: NodeAmount;
  readonly pods: NodeAmount;
}

/** `used` is null if the viewer may not list the pods of all namespaces, whose sum it is. */
export type NodeAmount = readonly [used: number | null, total: number];

/** A storage pool or a drive. */
export interface ConsolePool {
  readonly id: string;
  readonly name: string;
  readonly source: 'CSIStorageCapacity' | 'DriverCapacity' | 'Drive';
  /** Namespace of the CSIStorageCapacity; empty for the others, which are cluster-scoped. */
  readonly namespace: string;
  readonly driver: string;
  readonly storageClass: string;
  /** The node, if exactly one reaches it. */
  readonly node: string;
  /** The zone, if all nodes that reach it are in one. */
  readonly zone: string;
  readonly reach: string;
  /** Null if unknown. */
  readonly totalBytes: number | null;
  readonly usedBytes: number | null;
  /** Zero for viewers who may not list the claims and pods of all namespaces, to whom they are promised; they are part of what is free then. */
  readonly promisedBytes: number;
  readonly freeBytes: number;
  readonly state: string;
  /** Pools with the same text are on the same disks. */
  readonly backing: string;
  /** It only sums up drives or disks for other schedulers; these have rows themselves. */
  readonly isSummary: boolean;
}

/** A disk of a StorageNode. */
export interface ConsoleDisk {
  readonly id: string;
  readonly node: string;
  readonly disk: string;
  readonly zone: string;
  readonly state: string;
  readonly message: string;
  readonly limitBytes: number | null;
  readonly scheduledBytes: number;
  readonly pendingBytes: number;
  readonly replicas: number;
  readonly images: number;
  readonly pending: number;
  readonly rejected: number;
}

/** A PersistentVolume. */
export interface ConsoleVolume {
  readonly id: string;
  readonly storageClass: string;
  readonly sizeBytes: number;
  readonly phase: string;
  /** `NAMESPACE/NAME` of its claim; empty if it has none, or if the viewer may not see claims there. */
  readonly claim: string;
  /** The node, if exactly one reaches it. */
  readonly node: string;
  /** A driver created it, so its bytes are part of a pool, a drive or disks. */
  readonly isProvisioned: boolean;
}

export interface ConsoleClaim {
  /** `NAMESPACE/NAME`. */
  readonly id: string;
  readonly namespace: string;
  readonly storageClass: string;
  readonly sizeBytes: number;
  readonly state: 'bound' | 'reserved' | 'waiting' | 'lost';
  readonly volume: string;
  /** The node that its volume is created for. */
  readonly node: string;
}

export interface ConsolePod {
  /** `NAMESPACE/NAME`. */
  readonly id: string;
  readonly namespace: string;
  /**
   * `pending`: without a node. `binding`: without a node, and a claim is reserved already. `starting`: has a node and does not run.
   */
  readonly state: 'pending' | 'gated' | 'binding' | 'starting' | 'running' | 'finished' | 'deleting';
  readonly node: string;
  readonly priority: number;
  /** Zero if it is unknown, as in a file that a person has written. */
  readonly createdMs: number;
  readonly claims: number;
  readonly owner: string;
}

/** One event of the stream: what has changed since the previous one. */
export interface StateDelta {
  readonly upserts: { readonly [T in RowType]?: readonly ConsoleRows[T][] };
  readonly gone: { readonly [T in RowType]?: readonly string[] };
}

/** The first line of the state. */
export interface StateHead {
  /** Where the stream of changes continues. */
  readonly position: string;
  readonly about: ConsoleAbout;
}

export interface ConsoleAbout {
  readonly server: string;
  readonly version: string;
  /** Whether actions are enabled. */
  readonly canWrite: boolean;
  /** When a frozen state was taken; null for a live cluster. */
  readonly takenAtMs: number | null;
  /** What the viewer may not see, one sentence each. */
  readonly hidden: readonly string[];
  /** The server's clock when it answered. */
  readonly nowMs: number;
}
