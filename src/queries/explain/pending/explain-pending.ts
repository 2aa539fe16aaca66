import type { Pod } from '../../../kube/api/core.ts';
import type { ClusterView } from '../../view/cluster-view.ts';
import { explainPod } from '../explain-pod.ts';
import { explanationApiVersion, type PodVerdict } from '../explanation.ts';
import { noticeNotes } from '../lines.ts';
import { findPodScheduler } from '../pod-scheduler.ts';
import { indexPerProfile } from './index-per-profile.ts';
import {
  type ExplainedKind,
  groupByCause,
  hasCause,
  type PendingCause,
  podCount,
  podKeyOf,
} from './pending-causes.ts';
import type { CauseLine, PendingParts, PodsRemedyLine } from './pending-explanation.ts';
import { groupAlikePods } from './pod-kinds.ts';
import { causesTriedMax, type ExplainPendingOptions, tryRemedies } from './remedy-trials.ts';

/** An explanation costs as much as a plan for every node, so only this many kinds of pods are explained: those with most pods. */
const kindsExplainedMax = 200;
export type ExplainedPending = Omit<PendingParts, 'summary'>;

/** Explains pending pods together: which causes they have, and which change helps most of them. The pods must be in the view. */
export function explainPending(
  view: ClusterView,
  pods: readonly Pod[],
  options: ExplainPendingOptions,
): ExplainedPending {
  const indexOf = options.indexOf ?? indexPerProfile(view);
  const { index, warnings } = indexOf(findPodScheduler(view, pods[0] ?? {}, options).profile);
  const kinds = groupAlikePods(pods, index);
  const explained = kinds.slice(0, kindsExplainedMax).map((kind, at): ExplainedKind => {
    options.onProgress?.(
      `explaining ${at + 1} of ${Math.min(kinds.length, kindsExplainedMax)} kinds of pods`,
    );
    return {
      ...kind,
      explanation: explainPod(view, kind.pods[0]!, { ...options, indexOf, skipsRemedies: true }),
    };
  });
  const causes = groupByCause(explained.filter(({ explanation }) => hasCause(explanation.verdict)));
  const tried = options.skipsRemedies
    ? { perCause: [], overall: [], omissions: [] }
    : tryRemedies(view, causes, explained, options);
  const count = (verdict: PodVerdict) =>
    podCount(explained.filter(({ explanation }) => explanation.verdict === verdict));
  const notExplained = pods.length - podCount(explained);
  return {
    apiVersion: explanationApiVersion,
    pods: {
      pending: pods.length,
      withCause: podCount(causes.flatMap((cause) => cause.kinds)),
      fitting: count('fits'),
      starting: count('placed'),
      notExplained,
    },
    causes: causes.map((cause, at) => causeLine(cause, tried.perCause[at] ?? [])),
    remedies: tried.overall,
    omissions: [
      ...(notExplained > 0
        ? [
            `${notExplained} pods were not looked at: only the ${kindsExplainedMax} kinds of pods with the most pods are explained`,
          ]
        : []),
      ...(causes.length > causesTriedMax
        ? [`changes were tried only for the ${causesTriedMax} causes with the most pods`]
        : []),
      ...tried.omissions,
    ],
    notes: [...view.notes, ...notesOf(explained, view), ...noticeNotes(warnings)],
  };
}

function causeLine(
  { text, reasons, verdict, kinds }: PendingCause,
  remedies: readonly PodsRemedyLine[],
): CauseLine {
  const pods = kinds.flatMap((kind) => kind.pods.map(podKeyOf)).sort();
  return { text, reasons, verdict, count: pods.length, pods, remedies };
}

/** Notes about single pods, such as an unknown scheduler; those of the view itself are already there. */
function notesOf(explained: readonly ExplainedKind[], view: ClusterView): PendingParts['notes'] {
  const known = new Set(view.notes.map(({ text }) => text));
  const own = explained
    .flatMap(({ explanation }) => explanation.notes)
    .filter(({ about }) => about === 'assumed');
  return [...new Map(own.filter(({ text }) => !known.has(text)).map((note) => [note.text, note])).values()];
}
