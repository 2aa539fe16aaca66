import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import { lookUpInlinePools } from '../../engine/cluster-index/pools/pool-lookup.ts';
import type { Profile } from '../../engine/cluster-index/profile.ts';
import { createdElsewhereAdvice } from '../../engine/explain/created-elsewhere.ts';
import { type Placement, plan } from '../../engine/plan.ts';
import { planWithNominated } from '../../engine/preemption/plan-with-nominated.ts';
import { tieBreakSeed } from '../../engine/records/pending-pod.ts';
import { type PodRecord, readPod } from '../../engine/records/pod-record.ts';
import type { Refusal } from '../../engine/refusal/refusal.ts';
import { nodeReasons } from '../../engine/rules/reasons.ts';
import type { Pod } from '../../kube/api/core.ts';
import { listOf, textOf } from '../../kube/wire.ts';
import { quantityText } from '../pools/amounts.ts';
import type { ClusterView } from '../view/cluster-view.ts';
import { isReportedUnschedulable, reportedMessage, withContradiction } from './contradiction.ts';
import { diskRoomText } from './disk-room.ts';
import {
  type ClaimLine,
  explanationApiVersion,
  type InlineVolumeLine,
  type PodExplanation,
  type VolumeWaitLine,
} from './explanation.ts';
import { nominatedPods, withInFlightPods } from './in-flight-pods.ts';
import { jointCapacityNotes } from './joint-capacity.ts';
import { eventLines, noticeNotes } from './lines.ts';
import { placementOf, whyThere } from './placement.ts';
import type { PodQuestion } from './pod-question.ts';
import { findPodScheduler, type PodSchedulerOptions, schedulerNameOf } from './pod-scheduler.ts';
import { keptForNominated, refused } from './refused-pod.ts';
import { unreadCause } from './unread-cause.ts';
import { attachmentWaits, nodeServiceWaits, provisionerWaits } from './volume-waits.ts';

export interface ExplainPodOptions extends PodSchedulerOptions {
  /** The index of the view's snapshot, for callers that explain several pods: building it takes longer than most explanations. */
  readonly indexOf?: IndexOf | undefined;
  /** Leaves out the search for remedies, which takes longest. */
  readonly skipsRemedies?: boolean | undefined;
}

export type IndexOf = (profile: Profile) => ReturnType<ClusterView['snapshot']['toIndex']>;

/** Explains why a pod is pending and what would help, or why it is on its node. The pod must be in the view. */
export function explainPod(view: ClusterView, pod: Pod, options: ExplainPodOptions): PodExplanation {
  const scheduler = findPodScheduler(view, pod, options);
  const { indexOf = (asked: Profile) => view.snapshot.toIndex(asked) } = options;
  const { index, warnings } = indexOf(scheduler.profile);
  index.bindsVolumes = scheduler.bindsVolumes;
  const record = readPod(pod);
  const base: PodExplanation = {
    apiVersion: explanationApiVersion,
    kind: 'PodExplanation',
    summary: '',
    pod: {
      namespace: record.namespace,
      name: record.name,
      schedulerName: schedulerNameOf(pod),
      nodeName: record.nodeName === '' ? undefined : record.nodeName,
    },
    profile: scheduler.profile.name,
    profileSource: scheduler.source,
    verdict: 'unknown',
    podReasons: [],
    nodes: { total: index.nodes.size, fitting: 0, groups: [] },
    claims: claimLines(record, index, view),
    inlineVolumes: inlineLines(record, index),
    waitsFor: [],
    remedies: [],
    reported: reportedMessage(pod),
    events: eventLines(view.events, { kind: 'Pod', namespace: record.namespace, name: record.name }),
    notes: [...view.notes, ...scheduler.notes, ...noticeNotes(warnings)],
  };
  const question: PodQuestion = {
    view,
    pod,
    record,
    index,
    nowMs: options.nowMs,
    skipsRemedies: options.skipsRemedies,
    missingScheduler: scheduler.missing,
  };
  const judgement = withInFlightPods(index, { view, except: record.key, nowMs: options.nowMs }, () =>
    judged(base, question),
  );
  const explanation = { ...base, ...judgement };
  return view.isHypothetical ? explanation : withContradiction(explanation, pod);
}

function judged(base: PodExplanation, question: PodQuestion): Partial<PodExplanation> {
  const { pod, record, view } = question;
  const name = `Pod ${record.key}`;
  if (record.isFinished)
    return {
      verdict: 'finished',
      summary: `${name} has finished (${pod.status?.phase}); it is not scheduled any more.`,
    };
  if (record.nodeName !== '') return placed(question);
  if (record.isDeleting)
    return {
      verdict: 'finished',
      summary: `${name} is being deleted; it is not scheduled any more.`,
    };
  const gates = listOf(pod.spec?.schedulingGates).map((gate) => textOf(gate?.name));
  if (gates.length > 0)
    return {
      verdict: 'gated',
      summary: `${name} waits for its scheduling gates to be removed: ${gates.join(', ')}.`,
    };
  if (!view.seesNodes)
    return {
      verdict: 'unknown',
      summary: base.reported
        ? `${name} is pending, and its condition says: ${base.reported} The nodes could not be read to check that.`
        : `${name} is pending; the nodes could not be read, so the cause is unknown.`,
    };
  const unread = unreadCause(question);
  if (unread !== undefined)
    return { verdict: 'unknown', summary: `${name} is pending; the cause is unknown: ${unread}.` };
  return planned(base, question);
}

/** A pod that has a node may still be unable to start there. */
function placed(question: PodQuestion): Partial<PodExplanation> {
  const { record } = question;
  const there = whyThere(question);
  const waits = record.isDeleting
    ? []
    : [...provisionerWaits(question), ...attachmentWaits(question), ...nodeServiceWaits(question)];
  if (waits.length === 0) return there;
  const summary = `Pod ${record.key} is on ${record.nodeName} and cannot start there: ${waitTexts(waits)}.`;
  return { ...there, verdict: 'waiting', summary, waitsFor: waits };
}

function planned(base: PodExplanation, question: PodQuestion): Partial<PodExplanation> {
  const { record, pod, view } = question;
  const waitsFor = provisionerWaits(question);
  const answer = decide(question);
  const isInProgress =
    waitsFor.length > 0 && (answer.kind === 'placement' || isRefusedByOwnVolumes(question));
  if (isInProgress) {
    const there = answer.kind === 'placement' ? placementOf(answer, question) : {};
    return { verdict: 'waiting', summary: waitingSummary(record, waitsFor), waitsFor, ...there };
  }
  const isAvoiding = !view.isHypothetical && avoidsFailedNodes(pod);
  if (answer.kind === 'refusal') {
    const notes = isAvoiding
      ? [...base.notes, { about: 'unseen' as const, text: `Besides, ${failedNodesNote}` }]
      : base.notes;
    const { missingScheduler } = question;
    const besides =
      missingScheduler === undefined ? [] : [{ about: 'missing' as const, text: missingScheduler }];
    return { ...refusedBy(base, question, answer), notes: [...notes, ...besides], waitsFor };
  }
  if (isAvoiding) return avoidedNodes(pod, answer);
  if (question.missingScheduler !== undefined)
    return {
      verdict: 'unserved',
      summary: `Pod ${record.key} is placed by no scheduler, although it would fit on ${answer.node}: ${question.missingScheduler}.`,
      ...placementOf(answer, question),
    };
  return {
    verdict: 'fits',
    summary: `Pod ${record.key} would fit now, on ${answer.node}; its scheduler has not placed it yet.`,
    ...placementOf(answer, question),
    notes: [...base.notes, ...jointCapacityNotes(answer, question)],
  };
}

/**
 * kube-scheduler's rules compare a claim with its pool again while its volume is being created, and the new volume may be what fills the pool.
 * A pod that fits without that comparison, and is the only one that uses its claims, has passed: its scheduler waits for the volumes.
 */
function isRefusedByOwnVolumes(question: PodQuestion): boolean {
  const { view, pod, record, index } = question;
  if (!index.profile.retestSelectedNode || isReportedUnschedulable(pod)) return false;
  if (record.claims.some(({ key }) => index.pods.isUsedByOther(key, record.key))) return false;
  const lenient = view.snapshot.toIndex({ ...index.profile, retestSelectedNode: false }).index;
  lenient.bindsVolumes = index.bindsVolumes;
  const decideLeniently = () => decide({ ...question, index: lenient }).kind === 'placement';
  return withInFlightPods(lenient, { view, except: record.key, nowMs: question.nowMs }, decideLeniently);
}

/** Decides as the scheduler does: it leaves capacity to pods that are nominated to a node, and breaks ties by the pod's uid. */
function decide({ pod, record, index, nowMs }: PodQuestion): Placement | Refusal {
  const nominated = nominatedPods(index);
  return planWithNominated(pod, index, { nowMs, nominated, tieSeed: tieBreakSeed(record) });
}

function refusedBy(base: PodExplanation, question: PodQuestion, refusal: Refusal): Partial<PodExplanation> {
  const { pod, index, nowMs } = question;
  const alone = plan(pod, index, { nowMs });
  return alone.kind === 'placement'
    ? keptForNominated(question, refusal, alone)
    : refused(base, question, refusal);
}

function waitingSummary({ key }: PodRecord, waits: readonly VolumeWaitLine[]): string {
  return `Pod ${key} has its node and waits for its volumes: ${waitTexts(waits)}.`;
}

const waitsSummedUp = 2;

function waitTexts(waits: readonly VolumeWaitLine[]): string {
  const shown = waits.slice(0, waitsSummedUp).map(({ text }) => text);
  return `${shown.join('; ')}${waits.length > shown.length ? '; and more' : ''}`;
}

/** Inline volumes of drivers without published capacity reserve nothing. */
function inlineLines(
  { inlineVolumes }: PodRecord,
  index: ClusterIndex,
): readonly InlineVolumeLine[] | undefined {
  if (!index.profile.checkInlineVolumes) return undefined;
  const lines = inlineVolumes.flatMap((volume) => {
    const { volumeName, driver, size } = volume;
    return size === undefined || lookUpInlinePools(index, volume).kind === 'untracked'
      ? []
      : [{ volume: volumeName, driver, size: quantityText(size), closest: [], omitted: 0 }];
  });
  return lines.length === 0 ? undefined : lines;
}

function claimLines({ claims }: PodRecord, index: ClusterIndex, view: ClusterView): readonly ClaimLine[] {
  return claims.map(({ key }) => {
    const record = index.claims.get(key);
    const requested = view.snapshot.get('PersistentVolumeClaim', key)?.spec?.resources?.requests?.storage;
    const volume = record?.volumeName ?? '';
    return {
      claim: key,
      storageClass: record?.className ?? '',
      requested: requested === undefined ? undefined : String(requested),
      state: record === undefined ? 'missing' : record.isBound ? 'bound' : 'waiting',
      volume: volume === '' ? undefined : volume,
      closest: [],
      omitted: 0,
      disks: diskRoomText(view, key),
      elsewhere: record && createdElsewhereAdvice(record, index),
    };
  });
}

/**
 * The scheduler avoids nodes on which provisioning a volume failed a moment ago. It remembers them in memory only, so an explanation cannot
 * count them; but the pod's condition says that there are some.
 */
function avoidsFailedNodes(pod: Pod): boolean {
  const { upstream } = nodeReasons.RecentlyFailed;
  return isReportedUnschedulable(pod) && (reportedMessage(pod) ?? '').includes(upstream);
}

/** The pod would fit on a node that its scheduler avoids. */
function avoidedNodes(pod: Pod, { pod: { key }, node }: Placement): Partial<PodExplanation> {
  return {
    verdict: 'refused',
    message: reportedMessage(pod),
    summary: `Pod ${key} would fit on ${node}, but ${failedNodesNote}`,
  };
}

const failedNodesNote =
  'its scheduler avoids nodes on which a provisioner has just failed to create a volume for it. Which nodes they are, only the scheduler ' +
  'knows; the events of the claims say why provisioning failed. The scheduler tries a node again when its pool publishes new figures, or ' +
  'after ten seconds to five minutes.';
