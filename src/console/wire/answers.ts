import type { DiskEntryLine, DiskVolumeLine } from '../../queries/disks/disks-report.ts';
import type { PodExplanation } from '../../queries/explain/explanation.ts';
import type { PendingPodsExplanation } from '../../queries/explain/pending/pending-explanation.ts';
import type { ReservationsReport } from '../../queries/reservations/report.ts';

/** Responses for detail views. These are the parts of the commands' reports that the page shows; fields may be added. */

/** Every pending pod, grouped by cause: `stowage explain` without a name. */
export interface QueueAnswer
  extends Pick<PendingPodsExplanation, 'summary' | 'causes' | 'remedies' | 'omissions' | 'notes'> {
  readonly takenAtMs: number;
  /** False if changes were not tried, because the cluster is large: the page asks for that separately. */
  readonly hasRemedies: boolean;
}

/** One pod: its path, and why it is where it is, or nowhere. */
export interface PodAnswer {
  readonly path: PodPath;
  readonly explanation: PodExplanation;
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

/** The lists of `stowage reservations`. */
export type ReservationsAnswer = Pick<ReservationsReport, 'volumes' | 'claims' | 'pools' | 'pods' | 'notes'>;

/** As much of it as the page shows. */
export interface ReservationsPage extends ReservationsAnswer {
  /** How many more there are in each list. */
  readonly leftOut: Readonly<Record<'volumes' | 'claims' | 'pools' | 'pods', number>>;
}

/** The schedule of one disk: every request with its verdict. */
export interface DiskAnswer {
  readonly entries: readonly DiskEntryLine[];
}

/** Volumes on disks whose replicas have no place, or not all of them: `stowage disks list --volumes`. */
export interface WaitingVolumesAnswer {
  readonly volumes: readonly Pick<
    DiskVolumeLine,
    'volume' | 'sizeBytes' | 'replicasWanted' | 'replicasPlaced' | 'state' | 'message'
  >[];
  readonly leftOut: number;
}

/** Capacity over time. All series have the length of `timesMs`; null where nothing was known. */
export interface HistoryAnswer {
  readonly timesMs: readonly number[];
  readonly series: readonly HistorySeries[];
  /** Which samples are missing, and why. */
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

/** Data of a running console that no object stores. A snapshot contains it, so that its page shows the same as the console did. */
export interface ConsoleRecord {
  /** The snapshot has every object of the kinds that the console reads, and of those that plans use. */
  readonly isComplete: boolean;
  readonly history: HistoryAnswer;
  /** Steps by the uid of the pod. */
  readonly steps: Readonly<Record<string, SeenSteps>>;
}

export interface HistorySeries {
  /** A StorageClass, or `pods`. */
  readonly group: string;
  readonly name: string;
  readonly values: readonly (number | null)[];
}
