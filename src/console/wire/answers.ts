/** What detail views ask for. These are the parts of the commands' reports that the page shows; fields may be added. */

export interface NoteText {
  readonly text: string;
}

/** Every pending pod, folded by cause: `stowage explain` without a name. */
export interface QueueAnswer {
  readonly summary: string;
  readonly causes: readonly QueueCause[];
  readonly remedies: readonly QueueRemedy[];
  readonly omissions: readonly string[];
  readonly notes: readonly NoteText[];
  readonly takenAtMs: number;
  /** False if changes were not tried, because the cluster is large: the page asks for that separately. */
  readonly hasRemedies: boolean;
}

export interface QueueCause {
  readonly text: string;
  readonly reasons: readonly string[];
  readonly verdict: string;
  readonly count: number;
  readonly pods: readonly string[];
  readonly remedies: readonly QueueRemedy[];
}

export interface QueueRemedy {
  readonly text: string;
  readonly helped: number;
  readonly tried: number;
}

/** One pod: its path, and why it is where it is, or nowhere. */
export interface PodAnswer {
  readonly path: PodPath;
  readonly explanation: PodReport;
}

/** The steps from claim to running. */
export interface PodPath {
  readonly steps: readonly PathStep[];
}

export interface PathStep {
  readonly name: 'Created' | 'Claims' | 'Decision' | 'Reservation' | 'Binding' | 'Assigned' | 'Running';
  /** Undefined if it has not happened, or if nothing says when. */
  readonly atMs?: number | undefined;
  readonly isDone: boolean;
  /** True if this process saw it happen; false if the time is from the objects, which have whole seconds. */
  readonly isExact: boolean;
  readonly text: string;
}

/** The parts of `stowage explain pod -o json` that the page shows. */
export interface PodReport {
  readonly summary: string;
  readonly verdict: string;
  readonly profile: string;
  readonly pod: { readonly namespace: string; readonly name: string; readonly nodeName?: string | undefined };
  readonly podReasons: readonly {
    readonly sentence: string;
    readonly remedy: string;
    readonly claim?: string | undefined;
  }[];
  readonly nodes: {
    readonly total: number;
    readonly fitting: number;
    readonly groups: readonly {
      readonly count: number;
      readonly nodes: readonly string[];
      readonly reasons: readonly {
        readonly sentence: string;
        readonly detail?: string | undefined;
        readonly claim?: string | undefined;
        readonly rule: string;
      }[];
    }[];
  };
  readonly claims: readonly {
    readonly claim: string;
    readonly storageClass: string;
    readonly requested?: string | undefined;
    readonly state: string;
    readonly volume?: string | undefined;
  }[];
  readonly waitsFor: readonly { readonly text: string }[];
  readonly placement?:
    | {
        readonly node: string;
        readonly volumes: readonly {
          readonly claim: string;
          readonly volume?: string;
          readonly pool?: string;
          readonly policy?: string | undefined;
        }[];
        readonly scores: readonly {
          readonly node: string;
          readonly total: number;
          readonly byRule: Readonly<Record<string, number>>;
        }[];
      }
    | undefined;
  readonly remedies: readonly { readonly text: string; readonly node: string }[];
  readonly events: readonly {
    readonly type: string;
    readonly reason: string;
    readonly message: string;
    readonly count: number;
    readonly lastSeen?: string | undefined;
  }[];
  readonly notes: readonly NoteText[];
}

/** `stowage reservations`. */
export interface ReservationsAnswer {
  readonly volumes: readonly {
    readonly claim: string;
    readonly volume: string;
    readonly storageClass: string;
    readonly size: string;
    readonly state: string;
    readonly boundBy: string;
  }[];
  readonly claims: readonly {
    readonly claim: string;
    readonly node: string;
    readonly storageClass: string;
    readonly size: string;
    readonly pool: string | undefined;
    readonly state: string;
    readonly waitingSince: string | undefined;
    readonly pods: readonly string[];
  }[];
  readonly pools: readonly {
    readonly pool: string;
    readonly storageClass: string;
    readonly promised: string;
    readonly free: string;
    readonly claims: readonly { readonly claim: string; readonly size: string; readonly node: string }[];
  }[];
  readonly pods: readonly {
    readonly pod: string;
    readonly node: string;
    readonly priority: number;
    readonly waitingSince: string | undefined;
  }[];
  readonly notes: readonly NoteText[];
}

/** As much of it as the page shows. */
export interface ReservationsPage extends ReservationsAnswer {
  /** How many more there are in each list. */
  readonly leftOut: Readonly<Record<'volumes' | 'claims' | 'pools' | 'pods', number>>;
}

/** The schedule of one disk: every request with its verdict. */
export interface DiskAnswer {
  readonly entries: readonly DiskRequest[];
}

/** Volumes on disks whose replicas have no place, or not all of them: `stowage disks list --volumes`. */
export interface WaitingVolumesAnswer {
  readonly volumes: readonly {
    readonly volume: string;
    readonly sizeBytes: number;
    readonly replicasWanted: number;
    readonly replicasPlaced: number;
    readonly state: string;
    readonly message?: string | undefined;
  }[];
  readonly leftOut: number;
}

export interface DiskRequest {
  readonly kind: 'replica' | 'image';
  readonly name: string;
  readonly volume?: string | undefined;
  readonly claim?: string | undefined;
  readonly requestedBytes: number;
  readonly scheduledBytes: number;
  readonly state: string;
  readonly reason?: string | undefined;
  readonly missingBytes?: number | undefined;
}

/** Capacity over time. All series have the length of `timesMs`; null where nothing was known. */
export interface HistoryAnswer {
  readonly timesMs: readonly number[];
  readonly series: readonly HistorySeries[];
  /** What the samples lack, and why. */
  readonly note?: string | undefined;
}

/** When a console saw the steps of a pod, in milliseconds; steps that it did not see happen are missing. */
export interface SeenSteps {
  readonly decisionMs?: number | undefined;
  readonly reservationMs?: number | undefined;
  readonly bindingMs?: number | undefined;
  readonly assignedMs?: number | undefined;
  readonly runningMs?: number | undefined;
}

/** What only a running console knows, because no object stores it. A snapshot has it, so that the frozen state says the same as the page did. */
export interface ConsoleRecord {
  /** The snapshot has every object of the kinds that the console reads, and of those that plans use. */
  readonly isComplete: boolean;
  readonly history: HistoryAnswer;
  /** By the uid of the pod. */
  readonly steps: Readonly<Record<string, SeenSteps>>;
}

export interface HistorySeries {
  /** A StorageClass, or `pods`. */
  readonly group: string;
  readonly name: string;
  readonly values: readonly (number | null)[];
}
