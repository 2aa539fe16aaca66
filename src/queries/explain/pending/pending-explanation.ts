import type { Note } from '../../view/note.ts';
import type { explanationApiVersion, PodVerdict, StepLine } from '../explanation.ts';

/**
 * The output of `stowage explain` for many pods, described in docs/explain.md. Within a version, fields are only added, and never removed,
 * renamed or given another meaning.
 */
export type PendingExplanation = PendingPodsExplanation | WorkloadExplanation;

/** All pending pods of a namespace or of the cluster. */
export interface PendingPodsExplanation extends PendingParts {
  readonly kind: 'PendingPodsExplanation';
  /** Absent if the explanation covers all namespaces. */
  readonly namespace?: string | undefined;
}

/** The pods of a Deployment, StatefulSet or ReplicaSet. */
export interface WorkloadExplanation extends PendingParts {
  readonly kind: 'WorkloadExplanation';
  readonly workload: {
    readonly kind: WorkloadKind;
    readonly namespace: string;
    readonly name: string;
    /** How many pods it should have. */
    readonly replicas: number;
  };
  readonly running: number;
  /** Pods that should exist and do not. */
  readonly notCreated: NotCreatedLine;
}

export type WorkloadKind = 'Deployment' | 'StatefulSet' | 'ReplicaSet';

export interface NotCreatedLine {
  readonly count: number;
  /** Why its controller has not created them, as far as objects and events say. */
  readonly why?: string | undefined;
  /** True if the controller has tried and failed; false if it waits its turn, or nothing is known. */
  readonly isFailure: boolean;
}

export interface PendingParts {
  readonly apiVersion: typeof explanationApiVersion;
  /** One line for users. */
  readonly summary: string;
  readonly pods: PendingCounts;
  /** The cause with the most pods first. */
  readonly causes: readonly CauseLine[];
  /** The change that helps most pods first; each was tried on the pods of all causes. */
  readonly remedies: readonly PodsRemedyLine[];
  /** The parts that were left out to bound the work, one sentence each. */
  readonly omissions: readonly string[];
  readonly notes: readonly Note[];
}

export interface PendingCounts {
  /** Pods that do not run: without a node, or on a node where they have not started. */
  readonly pending: number;
  /** Those that have a cause, and are in `causes`. */
  readonly withCause: number;
  /** Those that would fit now: their scheduler has not placed them yet. */
  readonly fitting: number;
  /** Those that have a node and no known obstacle there. */
  readonly starting: number;
  /** The pods that were not explained. */
  readonly notExplained: number;
}

/** Pods that are pending for the same reasons. */
export interface CauseLine {
  readonly text: string;
  /** The codes of docs/reasons.md; empty if the cause is none of them. */
  readonly reasons: readonly string[];
  readonly verdict: PodVerdict;
  readonly count: number;
  /** `NAMESPACE/NAME`, in name order. */
  readonly pods: readonly string[];
  /** The changes that help most of these pods, the best first; each was tried. */
  readonly remedies: readonly PodsRemedyLine[];
}

export interface PodsRemedyLine {
  readonly text: string;
  readonly cost: number;
  readonly steps: readonly StepLine[];
  /** How many of the pods it was tried on fit at the same time after it. */
  readonly helped: number;
  readonly tried: number;
  /** The pods that it helps; only the first if there are many. */
  readonly pods: readonly string[];
}
