import type { Note } from '../view/note.ts';

export const headroomApiVersion = 'stowage.dev/headroom/v1';

/** The output of `stowage headroom -o json`. */
export interface HeadroomReport {
  readonly apiVersion: string;
  readonly kind: 'HeadroomReport';
  /** The size of the claims that are counted; undefined with `--like`. */
  readonly size: string | undefined;
  /** One for each class; with `--like`, one for the replicas of the workload. */
  readonly rows: readonly HeadroomRow[];
  readonly notes: readonly Note[];
}

export interface HeadroomRow {
  /** `class NAME`, or `statefulset NAMESPACE/NAME`. */
  readonly of: string;
  readonly driver: string | undefined;
  /** The largest claim in bytes that fits now; undefined if any size fits, because the driver publishes no capacity. */
  readonly largestBytes: number | undefined;
  /** How many more fit at the same time. */
  readonly count: number;
  /** True if counting ended there, and more may fit. */
  readonly isCapped: boolean;
  /** Why the next one does not fit, on most nodes first. */
  readonly runsOut: readonly RunsOutLine[];
  readonly topologies: readonly HeadroomTopology[];
  /** How many topologies were left out. */
  readonly omittedTopologies: number;
}

export interface RunsOutLine {
  readonly reason: string;
  readonly sentence: string;
  readonly nodes: number;
}

/** Nodes that reach the same volumes and pools. */
export interface HeadroomTopology {
  readonly nodes: readonly string[];
  readonly nodeCount: number;
  readonly largestBytes: number | undefined;
  /** Undefined if counting ended before all nodes were full. */
  readonly count: number | undefined;
}
