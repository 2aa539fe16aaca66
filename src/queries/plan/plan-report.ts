import type { PlacedCounts, PodCause } from '../../engine/what-if/prediction.ts';
import type { NodeGroupLine, PodReasonLine } from '../explain/explanation.ts';
import type { Note } from '../view/note.ts';

export const planApiVersion = 'stowage.dev/plan/v1';

/** The output of `stowage plan -o json`. */
export interface PlanReport {
  readonly apiVersion: string;
  readonly kind: 'PlanReport';
  readonly summary: string;
  /** The changes, as sentences. */
  readonly changes: readonly string[];
  readonly profile: string;
  readonly before: PlacedCounts;
  readonly after: PlacedCounts;
  /** Pods that get a node: another one, or one for the first time. */
  readonly moves: readonly PodMoveLine[];
  /** Pods that have no node in the end. */
  readonly stranded: readonly StrandedPodLine[];
  /** Pods that keep their node, with a volume that cannot leave a drained drive. */
  readonly stuck: readonly StrandedPodLine[];
  /** Pods that no controller creates again. */
  readonly lost: readonly DeletedPodLine[];
  /** Pods that their controller removes, because fewer are wanted. */
  readonly removed: readonly DeletedPodLine[];
  /** Pods that stay on a drained node. */
  readonly stays: readonly DeletedPodLine[];
  /** Volumes that would have to be copied. */
  readonly copies: readonly VolumeCopyLine[];
  readonly copiedBytes: number;
  readonly nodes: readonly {
    readonly node: string;
    readonly podsBefore: number;
    readonly podsAfter: number;
    readonly isNew: boolean;
  }[];
  readonly notes: readonly Note[];
  /** Kinds that could not be read in all namespaces, if something is drained: more may be on it. */
  readonly unreadKinds: readonly string[];
}

export interface DeletedPodLine {
  readonly pod: string;
  readonly owner: string | undefined;
  readonly node: string | undefined;
}

export interface PodMoveLine {
  readonly pod: string;
  readonly owner: string | undefined;
  readonly from: string | undefined;
  readonly to: string;
  readonly cause: PodCause;
}

export interface StrandedPodLine {
  readonly pod: string;
  readonly owner: string | undefined;
  readonly from: string | undefined;
  readonly cause: PodCause;
  /** kube-scheduler's message, or a sentence. */
  readonly message: string;
  readonly podReasons: readonly PodReasonLine[];
  readonly nodes: readonly NodeGroupLine[];
}

export interface VolumeCopyLine {
  readonly volume: string;
  readonly claim: string;
  readonly driver: string | undefined;
  readonly bytes: number;
  readonly pod: string | undefined;
  readonly from: string;
  /** Undefined if a copy fits nowhere. */
  readonly to: string | undefined;
  /** The drive of that node, if a copy gets a drive. */
  readonly drive?: string | undefined;
}

/** Volumes that cannot leave a drained drive. */
export function stuckVolumes({ copies }: Pick<PlanReport, 'copies'>): readonly VolumeCopyLine[] {
  return copies.filter(({ from, to }) => from.startsWith('drive/') && to === undefined);
}
