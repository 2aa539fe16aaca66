import type { PublisherState } from '../../kube/publisher-heartbeat.ts';
import type { ExpansionInFlight } from '../pools/expansions.ts';
import type { Note } from '../view/note.ts';

/**
 * The output of `stowage explain -o json`, described in docs/explain.md. Within a version, fields are only added, and never removed, renamed
 * or given another meaning. Amounts are quantities as Kubernetes writes them.
 */
export const explanationApiVersion = 'stowage.dev/explanation/v1';

export type Explanation = PodExplanation | ClaimExplanation;

interface Common {
  readonly apiVersion: typeof explanationApiVersion;
  /** One line for users. */
  readonly summary: string;
  /** The latest events of the object, newest first. */
  readonly events: readonly EventLine[];
  /** The objects that could not be read, and the consequence for the explanation. */
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
  /** The profile whose rules were applied. */
  readonly profile: string;
  /** How the profile was found. */
  readonly profileSource: ProfileSource;
  readonly verdict: PodVerdict;
  /** The text of the pod's condition and events as kube-scheduler writes it; only for `refused`. */
  readonly message?: string | undefined;
  /** The message of the pod's own condition, if it has one. */
  readonly reported?: string | undefined;
  /** The pod's own condition says the opposite of the verdict. */
  readonly contradiction?: ContradictionLine | undefined;
  /** Reasons that hold on every node. */
  readonly podReasons: readonly PodReasonLine[];
  readonly nodes: {
    readonly total: number;
    readonly fitting: number;
    readonly groups: readonly NodeGroupLine[];
  };
  readonly claims: readonly ClaimLine[];
  /** The inline CSI volumes that reserve capacity of a pool; they are not claims. */
  readonly inlineVolumes?: readonly InlineVolumeLine[] | undefined;
  /** The usage of the pools that came closest, or that the pod would use. */
  readonly pools?: readonly PoolLine[] | undefined;
  /** The steps that other components must take for the pod's volumes before it can start. */
  readonly waitsFor: readonly VolumeWaitLine[];
  readonly placement?: PlacementLine | undefined;
  /** The cheapest first; each was tried. */
  readonly remedies: readonly RemedyLine[];
  readonly search?: SearchLine | undefined;
}

/**
 * `placed`: the pod has a node. `waiting`: its node is chosen, and a volume has to be created or detached before it can start. `fits`: it is
 * pending, and a node fits now. `refused`: no node fits. `gated`: it has scheduling gates. `finished`: it has ended. `unknown`: the nodes,
 * or something else that the answer depends on, could not be read. `unserved`: a node fits now, and no scheduler seems to place pods of its
 * `schedulerName`.
 */
export type PodVerdict =
  | 'placed'
  | 'waiting'
  | 'fits'
  | 'unserved'
  | 'refused'
  | 'gated'
  | 'finished'
  | 'unknown';

/** The flag `--profile`, the component of the pod's events, the Lease of a scheduler, the server's version, or the pod's `schedulerName`. */
export type ProfileSource = 'flag' | 'event' | 'lease' | 'server' | 'schedulerName';

export interface ContradictionLine {
  /** The message of the pod's condition `PodScheduled`. */
  readonly reported: string;
  /** The summary without the contradiction. */
  readonly explained: string;
  /** When the condition got its status. */
  readonly since?: string | undefined;
}

export interface VolumeWaitLine {
  /**
   * `Provisioner`: the volume has to be created. `AttachedElsewhere`: another node has to detach it first. `NodeServiceStopped`: the pod has a
   * node, on which the driver of the volume does not run.
   */
  readonly reason: 'Provisioner' | 'AttachedElsewhere' | 'NodeServiceStopped';
  readonly claim: string;
  readonly text: string;
  /** Further facts, and what helps. */
  readonly details: readonly string[];
  readonly provisioner?: string | undefined;
  readonly volume?: string | undefined;
  /** The node that the volume is created for, or that it is attached to. */
  readonly node?: string | undefined;
  /** The pods that use the volume on that node. */
  readonly pods?: readonly string[] | undefined;
}

export interface PodReasonLine {
  /** See docs/reasons.md. */
  readonly reason: string;
  readonly sentence: string;
  readonly remedy: string;
  readonly claim?: string | undefined;
  readonly message: string;
  /** The event that the claim waits for, if the scheduler does not serve it. */
  readonly waitsFor?: string | undefined;
}

export interface NodeGroupLine {
  readonly count: number;
  /** Sorted by name; only the first if there are many. */
  readonly nodes: readonly string[];
  readonly reasons: readonly NodeReasonLine[];
}

export interface NodeReasonLine {
  readonly rule: string;
  readonly reason: string;
  readonly sentence: string;
  /** A general remedy; `remedies` has those that were tried for this pod. */
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
  /** The candidates that came closest, with their obstacles; the closest first. */
  readonly closest: readonly CandidateLine[];
  readonly omitted: number;
  /** For a claim of disks.stowage.dev: which disk lacks what. */
  readonly disks?: string | undefined;
  /** The driver created the volume where the selected node cannot reach it, and what to do about it. */
  readonly elsewhere?: string | undefined;
}

export interface InlineVolumeLine {
  /** The name of the volume in the pod. */
  readonly volume: string;
  readonly driver: string;
  readonly size: string;
  /** As for a claim. */
  readonly closest: readonly CandidateLine[];
  readonly omitted: number;
}

export interface PoolLine {
  readonly pool: string;
  readonly storageClass: string;
  /** Undefined if it is unknown. */
  readonly total?: string | undefined;
  readonly used?: string | undefined;
  readonly promised: string;
  /** Negative if more has been promised than is available. */
  readonly free: string;
  /** When the driver was asked for the report, or else when the object was last written. */
  readonly measuredAt?: string | undefined;
  /** How long ago that is, such as `3m`; `current` while the publisher runs and reports no problem. */
  readonly age?: string | undefined;
  readonly publishedBy?: string | undefined;
  /** Whether the publisher runs; undefined if that is unknown. */
  readonly publisher?: PublisherState | undefined;
}

export interface CandidateLine {
  readonly kind: 'volume' | 'pool' | 'drive';
  readonly name: string;
  /** A node for which this is true. */
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
  /** For each claim, its volume, or the class or pool that provides it. */
  readonly volumes: readonly PlacedVolumeLine[];
  readonly scores: readonly ScoreLine[];
}

export interface PlacedVolumeLine {
  /** For an inline volume `NAMESPACE/POD:VOLUME`. */
  readonly claim: string;
  /** The name of an inline volume, which has no claim. */
  readonly inlineVolume?: string | undefined;
  readonly volume?: string;
  readonly pool?: string;
  /** The rules for the place of its volume, from annotations of the claim, its namespace and its class. */
  readonly policy?: string | undefined;
}

export interface ScoreLine {
  readonly node: string;
  readonly total: number;
  readonly byRule: Readonly<Record<string, number>>;
}

export interface RemedyLine {
  readonly text: string;
  readonly cost: number;
  /** The node on which the pod fits then. */
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
  /** The next step, and the component that makes it. */
  readonly waitsFor?: string | undefined;
  readonly closest: readonly CandidateLine[];
  readonly omitted: number;
  /** The expansions of its volume that no report includes yet. */
  readonly expansions?: readonly ExpansionInFlight[] | undefined;
  /** For a claim of disks.stowage.dev: which disk lacks what. */
  readonly disks?: string | undefined;
  /** While a pod waits for the claim: the driver created the volume where the selected node cannot reach it, and what to do about it. */
  readonly elsewhere?: string | undefined;
  /** The pods that use the claim; a claim with delayed binding waits for them. */
  readonly pods: readonly PodExplanation[];
  readonly podsOmitted: number;
}

/** The state of a claim on its way to a volume. */
export type ClaimState =
  | 'Bound'
  | 'Lost'
  | 'Deleting'
  | 'Malformed'
  | 'RollingBack'
  | 'ClassMissing'
  | 'NoDefaultClass'
  | 'ClassInvalid'
  | 'WaitsForDrive'
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
