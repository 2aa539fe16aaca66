import type { Note } from '../source/note.ts';

/**
 * What `stowage explain -o json` says: a shape that programs may rely on, described in docs/explain.md. Within a version fields are added
 * and never removed, renamed or given another meaning. Amounts are quantities as Kubernetes writes them.
 */
export const explanationApiVersion = 'stowage.dev/explanation/v1';

export type Explanation = PodExplanation | ClaimExplanation;

interface Common {
  readonly apiVersion: typeof explanationApiVersion;
  /** One line for people. */
  readonly summary: string;
  /** The latest events about it, newest first. */
  readonly events: readonly EventLine[];
  /** What could not be looked at, and what that means for the answer; what of objects could not be read. */
  readonly notes: readonly Note[];
}

export interface PodExplanation extends Common {
  readonly kind: 'PodExplanation';
  readonly pod: {
    readonly namespace: string;
    readonly name: string;
    readonly schedulerName: string;
    readonly nodeName?: string | undefined;
  };
  /** Whose rules were asked. */
  readonly profile: string;
  readonly verdict: PodVerdict;
  /** The text of the pod's condition and events, as kube-scheduler words it; only for `refused`. */
  readonly message?: string | undefined;
  /** What the pod's own condition says, if anything. */
  readonly reported?: string | undefined;
  /** Why it can't run wherever it is put. */
  readonly podReasons: readonly PodReasonLine[];
  readonly nodes: {
    readonly total: number;
    readonly fitting: number;
    readonly groups: readonly NodeGroupLine[];
  };
  readonly claims: readonly ClaimLine[];
  readonly placement?: PlacementLine | undefined;
  /** The cheapest first; each has been tried. */
  readonly remedies: readonly RemedyLine[];
  readonly search?: SearchLine | undefined;
}

/**
 * `placed`: it has a node. `fits`: it waits, and a node would do now. `refused`: none does. `gated`: it asks not to be scheduled yet.
 * `finished`: it is over. `unknown`: the nodes could not be seen.
 */
export type PodVerdict = 'placed' | 'fits' | 'refused' | 'gated' | 'finished' | 'unknown';

export interface PodReasonLine {
  /** See docs/reasons.md. */
  readonly reason: string;
  readonly sentence: string;
  readonly remedy: string;
  readonly claim?: string | undefined;
  readonly message: string;
  /** What the claim waits for itself, where it isn't the scheduler that serves it. */
  readonly waitsFor?: string | undefined;
}

export interface NodeGroupLine {
  readonly count: number;
  /** In name order; the first of them where there are many. */
  readonly nodes: readonly string[];
  readonly reasons: readonly NodeReasonLine[];
}

export interface NodeReasonLine {
  readonly rule: string;
  readonly reason: string;
  readonly sentence: string;
  /** What helps in general; what helps here is under `remedies`. */
  readonly remedy: string;
  readonly upstream: string;
  readonly claim?: string | undefined;
  readonly detail?: string | undefined;
  readonly range?: RangeLine | undefined;
}

export interface RangeLine {
  /** `cpu`, `memory`, a driver's name, or `storage`. */
  readonly of: string;
  readonly needed: string;
  readonly freeLeast: string;
  readonly freeMost: string;
}

export interface ClaimLine {
  readonly claim: string;
  readonly storageClass: string;
  readonly requested?: string | undefined;
  /** `bound`, `waiting` or `missing`. */
  readonly state: 'bound' | 'waiting' | 'missing';
  readonly volume?: string | undefined;
  /** What would have served it, and what stopped it; the closest first. */
  readonly closest: readonly CandidateLine[];
  readonly omitted: number;
}

export interface CandidateLine {
  readonly kind: 'volume' | 'pool';
  readonly name: string;
  /** A node from which it looks like this. */
  readonly node?: string | undefined;
  readonly obstacles: readonly ObstacleLine[];
}

export interface ObstacleLine {
  readonly code: string;
  readonly sentence: string;
  readonly needed?: string | undefined;
  readonly free?: string | undefined;
  readonly promised?: string | undefined;
}

export interface PlacementLine {
  readonly node: string;
  /** By claim: the volume, or the class or pool that makes it. */
  readonly volumes: readonly { readonly claim: string; readonly volume?: string; readonly pool?: string }[];
  readonly scores: readonly ScoreLine[];
}

export interface ScoreLine {
  readonly node: string;
  readonly total: number;
  readonly byRule: Readonly<Record<string, number>>;
}

export interface RemedyLine {
  readonly text: string;
  readonly cost: number;
  /** Where the pod fits then. */
  readonly node: string;
  readonly steps: readonly StepLine[];
}

export interface StepLine {
  readonly action: string;
  readonly text: string;
  readonly object: { readonly kind: string; readonly name: string };
  readonly amount: number;
  readonly unit: string;
  readonly names: readonly string[];
}

export interface SearchLine {
  readonly nodesTried: number;
  readonly nodesPromising: number;
  readonly isCutShort: boolean;
}

export interface ClaimExplanation extends Common {
  readonly kind: 'ClaimExplanation';
  readonly claim: {
    readonly namespace: string;
    readonly name: string;
    readonly storageClass: string;
    readonly requested?: string | undefined;
    readonly selectedNode?: string | undefined;
    readonly volume?: string | undefined;
  };
  readonly state: ClaimState;
  /** What would have to happen next, and who does it. */
  readonly waitsFor?: string | undefined;
  readonly closest: readonly CandidateLine[];
  readonly omitted: number;
  /** Pods that use it: those that a delayed claim waits for. */
  readonly pods: readonly PodExplanation[];
  readonly podsOmitted: number;
}

/** Where it stands on the way to its volume. */
export type ClaimState =
  | 'Bound'
  | 'Lost'
  | 'Deleting'
  | 'Malformed'
  | 'RollingBack'
  | 'ClassMissing'
  | 'WaitsForNamedVolume'
  | 'WaitsForBinding'
  | 'WaitsForVolume'
  | 'WaitsForProvisioner'
  | 'WaitsForPod'
  | 'WaitsForScheduler';

export interface EventLine {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly lastSeen?: string | undefined;
}
