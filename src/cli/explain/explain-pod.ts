import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import { type Profile, stowageProfile, upstreamProfile } from '../../engine/cluster-index/profile.ts';
import { closestCandidates } from '../../engine/explain/closest-candidates.ts';
import { groupNodes, type NodeGroup } from '../../engine/explain/node-groups.ts';
import { plan } from '../../engine/plan.ts';
import { type PodRecord, readPod } from '../../engine/records/pod-record.ts';
import type { Refusal } from '../../engine/refusal/refusal.ts';
import { findRemedies } from '../../engine/remedies/find-remedies.ts';
import type { PodRefusal } from '../../engine/rules/framework/rule.ts';
import { nodeReasons } from '../../engine/rules/reasons.ts';
import type { Pod } from '../../kube/api/core.ts';
import { listOf, textOf } from '../../kube/wire.ts';
import type { ClusterView } from '../source/cluster-view.ts';
import type { Note } from '../source/note.ts';
import { claimStanding } from './claim-state.ts';
import type { ClaimLine, PodExplanation } from './explanation.ts';
import { explanationApiVersion } from './explanation.ts';
import { candidateLine, eventLines, groupLine, noticeNotes, podReasonLine, remedyLine } from './lines.ts';
import { placementOf, whyThere } from './placement.ts';

export interface ExplainPodOptions {
  readonly nowMs: number;
  /** Overrides the profile of the pod's scheduler. */
  readonly profile?: 'stowage' | 'upstream' | undefined;
  /** The index of the view's snapshot, for callers that explain several pods: building it takes longer than most explanations. */
  readonly indexOf?: IndexOf | undefined;
}

export type IndexOf = (profile: Profile) => ReturnType<ClusterView['snapshot']['toIndex']>;

/** The number of candidates in the line of a claim. */
const candidatesMax = 5;

/** Explains why a pod is pending and what would help, or why it is on its node. The pod must be in the view. */
export function explainPod(view: ClusterView, pod: Pod, options: ExplainPodOptions): PodExplanation {
  const profile = profileFor(pod, options.profile);
  const { indexOf = (asked: Profile) => view.snapshot.toIndex(asked) } = options;
  const { index, warnings } = indexOf(profile);
  const record = readPod(pod);
  const base: PodExplanation = {
    apiVersion: explanationApiVersion,
    kind: 'PodExplanation',
    summary: '',
    pod: {
      namespace: record.namespace,
      name: record.name,
      schedulerName: schedulerOf(pod),
      nodeName: record.nodeName === '' ? undefined : record.nodeName,
    },
    profile: profile.name,
    verdict: 'unknown',
    podReasons: [],
    nodes: { total: index.nodes.size, fitting: 0, groups: [] },
    claims: claimLines(record, index, view),
    remedies: [],
    reported: reportedMessage(pod),
    events: eventLines(view.events, { kind: 'Pod', namespace: record.namespace, name: record.name }),
    notes: [...view.notes, ...schedulerNotes(pod, options), ...noticeNotes(warnings)],
  };
  return { ...base, ...judged(base, { view, pod, record, index, nowMs: options.nowMs }) };
}

interface Question {
  readonly view: ClusterView;
  readonly pod: Pod;
  readonly record: PodRecord;
  readonly index: ClusterIndex;
  readonly nowMs: number;
}

function judged(base: PodExplanation, question: Question): Partial<PodExplanation> {
  const { pod, record, index, nowMs, view } = question;
  const name = `Pod ${record.key}`;
  if (record.isFinished)
    return {
      verdict: 'finished',
      summary: `${name} has finished (${pod.status?.phase}); it is not scheduled any more.`,
    };
  if (record.nodeName !== '') return whyThere(question);
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
      summary: `${name} is pending; the nodes could not be read, so the cause is unknown.`,
    };
  const answer = plan(pod, index, { nowMs });
  if (answer.kind === 'refusal') return refused(base, question, answer);
  return {
    verdict: 'fits',
    summary: `${name} would fit now, on ${answer.node}; its scheduler has not placed it yet.`,
    ...placementOf(answer, question),
  };
}

function refused(base: PodExplanation, question: Question, refusal: Refusal): Partial<PodExplanation> {
  const { pod, record, index, nowMs, view } = question;
  const common = { verdict: 'refused', message: refusal.message } as const;
  if (refusal.nodeCount === 0)
    return { ...common, summary: `Pod ${record.key} fits nowhere: there are no nodes.` };
  const podReasons = refusal.podRefusals.map((reason) => ({
    ...podReasonLine(reason),
    waitsFor: waitsFor(reason, question),
  }));
  if (podReasons.length > 0) {
    const why = podReasons.map(({ claim, sentence }) =>
      claim === undefined ? sentence : `${sentence} (${claim})`,
    );
    return { ...common, podReasons, summary: `Pod ${record.key} cannot run anywhere: ${why.join('; ')}.` };
  }
  const { nodes } = refusal.explain();
  const groups = groupNodes(nodes, record, index);
  const { remedies, ...search } = findRemedies(pod, index, nodes, { nowMs, objects: view.snapshot });
  return {
    ...common,
    summary: `${refusedSummary(record, refusal.nodeCount, groups)}${nomination(record)}`,
    nodes: { total: refusal.nodeCount, fitting: 0, groups: groups.map(groupLine) },
    claims: withClosest(base.claims, nodes),
    remedies: remedies.map(remedyLine),
    search,
  };
}

/** What a claim waits for that the scheduler does not serve. */
function waitsFor({ reason, claim = '' }: PodRefusal, { index, record }: Question): string | undefined {
  const known = reason === 'UnboundImmediateClaim' ? index.claims.get(claim) : undefined;
  if (known === undefined) return undefined;
  const { says, waitsFor: next } = claimStanding(known, index, [record]);
  return next === undefined ? says : `${says}: ${next}`;
}

/** The scheduler has evicted pods for this one, and waits until they are gone. */
function nomination({ nominatedNode }: PodRecord): string {
  return nominatedNode === ''
    ? ''
    : ` Its scheduler has nominated it to ${nominatedNode}, where it waits for evicted pods to end.`;
}

const reasonsSummedUp = 2;

/** The reasons that most nodes have, as text. */
function refusedSummary({ key }: PodRecord, nodeCount: number, groups: readonly NodeGroup[]): string {
  const counts = new Map<string, number>();
  for (const { nodes, reasons } of groups) {
    for (const sentence of new Set(reasons.map(({ reason }) => nodeReasons[reason].sentence))) {
      counts.set(sentence, (counts.get(sentence) ?? 0) + nodes.length);
    }
  }
  const ranked = [...counts].sort((a, b) => b[1] - a[1]);
  const shown = ranked
    .slice(0, reasonsSummedUp)
    .map(([sentence, count]) => `${countText(count, nodeCount)}${sentence}`);
  const more = ranked.length > reasonsSummedUp ? '; and more' : '';
  const on =
    nodeCount === 1 ? 'does not fit on the only node' : `fits on none of ${grouped(nodeCount)} nodes`;
  return `Pod ${key} ${on}: ${shown.join('; ')}${more}.`;
}

function countText(count: number, nodeCount: number): string {
  if (nodeCount === 1) return '';
  return count === nodeCount ? 'on each, ' : `on ${grouped(count)}, `;
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}

function claimLines(
  { claims }: PodRecord,
  index: ClusterIndex,
  { snapshot }: ClusterView,
): readonly ClaimLine[] {
  return claims.map(({ key }) => {
    const record = index.claims.get(key);
    const requested = snapshot.get('PersistentVolumeClaim', key)?.spec?.resources?.requests?.storage;
    const volume = record?.volumeName ?? '';
    return {
      claim: key,
      storageClass: record?.className ?? '',
      requested: requested === undefined ? undefined : String(requested),
      state: record === undefined ? 'missing' : record.isBound ? 'bound' : 'waiting',
      volume: volume === '' ? undefined : volume,
      closest: [],
      omitted: 0,
    };
  });
}

function withClosest(
  claims: readonly ClaimLine[],
  nodes: Parameters<typeof closestCandidates>[0],
): readonly ClaimLine[] {
  const found = new Map(closestCandidates(nodes, candidatesMax).map((close) => [close.claim, close]));
  return claims.map((line) => {
    const close = found.get(line.claim);
    if (close === undefined) return line;
    const closest = close.candidates.map((candidate) => candidateLine(candidate, candidate.node));
    return { ...line, closest, omitted: close.omitted };
  });
}

function profileFor(pod: Pod, asked: ExplainPodOptions['profile']): Profile {
  if (asked !== undefined) return asked === 'stowage' ? stowageProfile : upstreamProfile;
  return schedulerOf(pod) === 'stowage' ? stowageProfile : upstreamProfile;
}

function schedulerOf(pod: Pod): string {
  return textOf(pod.spec?.schedulerName) || 'default-scheduler';
}

function schedulerNotes(pod: Pod, { profile }: ExplainPodOptions): readonly Note[] {
  const name = schedulerOf(pod);
  if (profile !== undefined || name === 'stowage' || name === 'default-scheduler') return [];
  const text = `scheduler ${name} is not known here; kube-scheduler's default rules are assumed (--profile chooses)`;
  return [{ about: 'assumed', text }];
}

function reportedMessage(pod: Pod): string | undefined {
  const condition = listOf(pod.status?.conditions).find(({ type }) => type === 'PodScheduled');
  return condition?.status === 'False' ? condition.message : undefined;
}
