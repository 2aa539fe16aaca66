import type { Cluster } from '../../cluster/cluster.ts';
import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import type { Profile } from '../../engine/cluster-index/profile.ts';
import type { Lease } from '../../kube/api/coordination.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { redactedObject } from '../../kube/redaction/redact-object.ts';
import { explainPod, type IndexOf } from '../../queries/explain/explain-pod.ts';
import { explainPendingPods } from '../../queries/explain/pending/explain-many.ts';
import { indexPerProfile } from '../../queries/explain/pending/index-per-profile.ts';
import { changesOfWords } from '../../queries/plan/change-words.ts';
import { planChanges } from '../../queries/plan/make-plan.ts';
import { QuestionError } from '../../queries/question-error.ts';
import { findReservations } from '../../queries/reservations/find-reservations.ts';
import type { ClusterView } from '../../queries/view/cluster-view.ts';
import { listPolicies } from '../../queries/view/read-others.ts';
import { limitsOf } from '../../queries/view/unseen-notes.ts';
import { realClock } from '../../runtime/clock.ts';
import type { AnswerView } from '../state/answer-view.ts';
import type { QueueAnswer } from '../wire/answers.ts';
import type { PlanQuestion } from '../wire/plan.ts';
import { diskAnswer, diskRows, diskViewOf, waitingVolumes } from './disk-rows.ts';
import { poolRows } from './pool-rows.ts';
import { otherObjects } from './snapshot-objects.ts';

/** Facts that the objects of the console do not contain: which scheduler decides. */
export interface SchedulerFacts {
  /** The Leases on which components announce themselves; undefined if they may not be read. */
  readonly leases: readonly Lease[] | undefined;
  readonly isEmbedded: boolean;
  readonly isFromFiles: boolean;
  /** The files are a complete snapshot. */
  readonly isComplete?: boolean | undefined;
}

export interface ConsoleAnswersOptions {
  readonly facts: () => Promise<SchedulerFacts>;
  /** PriorityClasses and PodDisruptionBudgets of a file, for plans; those of a cluster are read with the permissions of the viewer. */
  readonly policies?: readonly KubeObject[] | undefined;
}

export interface ViewerPlanOptions {
  /** The viewer's own, for what the console does not follow; undefined for a frozen state. */
  readonly cluster: Cluster | undefined;
  /** Aborts when the viewer disconnects. */
  readonly signal: AbortSignal;
}

export type ConsoleAnswers = ReturnType<typeof consoleAnswers>;

/** The answers of the commands, which the page shows in the same words. */
export function consoleAnswers({ facts, policies = [] }: ConsoleAnswersOptions) {
  const viewed = async (view: AnswerView) => clusterViewOf(view, await facts());
  return {
    /** Every pool and drive with its capacity. */
    pools: (view: AnswerView & { readonly index: ClusterIndex }) =>
      poolRows(clusterViewOf(view, unknownScheduler), view.index, view.nowMs),
    disks: ({ disks }: Pick<AnswerView, 'disks'>) => diskRows(disks),
    disk: diskAnswer,
    waitingVolumes,
    queue: async (
      view: AnswerView,
      { triesRemedies }: { readonly triesRemedies: boolean },
    ): Promise<QueueAnswer> => {
      const cluster = await viewed(view);
      const explanation = explainPendingPods(cluster, view.namespace || undefined, {
        nowMs: view.nowMs,
        where: 'the cluster',
        indexOf: indexOf(view, cluster),
        skipsRemedies: !triesRemedies,
      });
      return { ...explanation, takenAtMs: view.nowMs, hasRemedies: triesRemedies };
    },
    /** Undefined if the pod is not in the view. */
    pod: async (view: AnswerView, key: string) => {
      const pod = view.snapshot.get('Pod', key);
      if (pod === undefined) return undefined;
      const cluster = await viewed(view);
      return explainPod(cluster, pod, { nowMs: view.nowMs, indexOf: indexOf(view, cluster) });
    },
    /** Rejects with a `QuestionError` if a change makes no sense, and with the reason of `signal` if that aborts first. */
    plan: async (view: AnswerView, question: PlanQuestion, { cluster, signal }: ViewerPlanOptions) => {
      const { drain, addDrive, replicas, addNodes, like } = question;
      const flags = { drain, addDrive, replicas, ...(addNodes && { addNodes }), ...(like && { like }) };
      const changes = changesOfWords(flags, view.namespace || 'default');
      if (changes.length === 0) throw new QuestionError('add at least one change');
      const seen = await viewed(view);
      if (!seen.seesNodes) throw new QuestionError('a plan needs the permission to list nodes');
      const read = cluster === undefined ? { policies } : await listPolicies(cluster);
      // For thousands of nodes a plan takes seconds, and the process serves others in between.
      const slices = { clock: realClock, signal };
      return await planChanges({ ...seen, ...read }, changes, { nowMs: view.nowMs, slices });
    },
    redacted: redactedObject,
    others: otherObjects,
    reservations: (view: AnswerView) =>
      findReservations(clusterViewOf(view, unknownScheduler), {
        nowMs: view.nowMs,
        namespace: view.namespace || undefined,
        index: view.index,
      }),
  };
}

const unknownScheduler: SchedulerFacts = { leases: undefined, isEmbedded: false, isFromFiles: false };

function clusterViewOf(
  view: AnswerView,
  { leases, isEmbedded, isFromFiles, isComplete = false }: SchedulerFacts,
): ClusterView {
  const { snapshot, events, unseen, disks } = view;
  return {
    snapshot,
    events,
    leases,
    isEmbedded,
    isFromFiles,
    isComplete,
    disks: diskViewOf(disks),
    ...limitsOf(unseen),
  };
}

/** Building an index takes longest, so the live one is used where the profile is the same. Explaining leaves it as it was. */
function indexOf({ index }: AnswerView, view: ClusterView): IndexOf {
  const build = indexPerProfile(view);
  const own = index && JSON.stringify(index.profile);
  return (profile: Profile) =>
    index !== undefined && own === JSON.stringify(profile) ? { index, warnings: [] } : build(profile);
}
