import type { Cluster } from '../cluster/cluster.ts';
import type { ClusterIndex } from '../engine/cluster-index/cluster-index.ts';
import type { KubeObject } from '../kube/api/meta.ts';
import type { AnswerView } from './state/answer-view.ts';
import type {
  DiskAnswer,
  PodReport,
  QueueAnswer,
  ReservationsAnswer,
  WaitingVolumesAnswer,
} from './wire/answers.ts';
import type { PlanAnswer, PlanQuestion } from './wire/plan.ts';
import type { ConsoleDisk, ConsolePool } from './wire/rows.ts';

/**
 * The answers of the commands, which the page shows in the same words: `explain`, `reservations`, `capacity`, `disks` and `plan`. The command line
 * provides them, so that nothing is decided twice.
 */
export interface ConsoleAnswers {
  /** Every pool and drive with its figures. The view has an index. */
  pools(view: AnswerView & { readonly index: ClusterIndex }): readonly ConsolePool[];
  disks(view: Pick<AnswerView, 'disks'>): readonly ConsoleDisk[];
  /** Undefined if there is no such disk. */
  disk(view: AnswerView, id: string): DiskAnswer | undefined;
  /** Volumes on disks that wait for a place; no request of a disk shows those that fit on none. */
  waitingVolumes(view: AnswerView): WaitingVolumesAnswer;
  queue(view: AnswerView, options: { readonly triesRemedies: boolean }): Promise<QueueAnswer>;
  /** Undefined if there is no such pod in the view. */
  pod(view: AnswerView, key: string): Promise<PodReport | undefined>;
  reservations(view: AnswerView): ReservationsAnswer;
  /** Rejects with a `QuestionError` if a change makes no sense, and with the reason of `signal` if that aborts first. */
  plan(view: AnswerView, question: PlanQuestion, options: ViewerPlanOptions): Promise<PlanAnswer>;
  /** Without secrets, for a snapshot. */
  redacted(object: KubeObject): unknown;
  /** What a snapshot has besides the objects that the console follows, as far as `cluster` may read it: events, Leases, and what predictions use. */
  others(cluster: Cluster): Promise<OtherObjects>;
}

export interface ViewerPlanOptions {
  /** The viewer's own, for what the console does not follow; undefined for a frozen state. */
  readonly cluster: Cluster | undefined;
  /** Aborts when the viewer is gone. */
  readonly signal: AbortSignal;
}

/** Objects of a snapshot that the console does not follow. */
export interface OtherObjects {
  readonly objects: readonly KubeObject[];
  /** Kinds that the caller may not list. */
  readonly unread: readonly string[];
}

/** There is too much work already; the same question may be asked again. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
}
