import type { ClusterIndex } from '../../engine/cluster-index/cluster-index.ts';
import { type Profile, stowageProfile, upstreamProfile } from '../../engine/cluster-index/profile.ts';
import { claimCandidates } from '../../engine/explain/claim-candidates.ts';
import { createdElsewhereAdvice } from '../../engine/explain/created-elsewhere.ts';
import type { ClaimRecord } from '../../engine/records/claim-record.ts';
import { compareSizes } from '../../engine/size.ts';
import type { PersistentVolumeClaim } from '../../kube/api/core.ts';
import { readableAmount } from '../pools/amounts.ts';
import { type ExpansionInFlight, expansionsOf } from '../pools/expansions.ts';
import type { ClusterView } from '../view/cluster-view.ts';
import { type ClaimStanding, claimStanding } from './claim-state.ts';
import { diskRoomText } from './disk-room.ts';
import { type ExplainPodOptions, explainPod, type IndexOf } from './explain-pod.ts';
import type { CandidateLine, ClaimExplanation, ClaimState, PodExplanation } from './explanation.ts';
import { explanationApiVersion } from './explanation.ts';
import { candidateLine, eventLines, noticeNotes } from './lines.ts';

const candidatesMax = 5;
/** Pods of one claim usually wait for the same reason, so a few are enough. */
const podsMax = 2;

/** States in which existing volumes are or were candidates. */
const choosing: ReadonlySet<ClaimState> = new Set<ClaimState>([
  'WaitsForVolume',
  'WaitsForPod',
  'WaitsForScheduler',
]);

/** Explains what a claim waits for. The claim must be in the view. */
export function explainClaim(
  view: ClusterView,
  claim: PersistentVolumeClaim,
  options: ExplainPodOptions,
): ClaimExplanation {
  const indexOf = remembering((profile) => view.snapshot.toIndex(profile));
  // The profile has no effect here: claims and volumes are read in the same way under every profile.
  const { index, warnings } = indexOf(upstreamProfile);
  const { namespace = '', name = '' } = claim.metadata ?? {};
  const record = index.claims.get(`${namespace}/${name}`)!;
  const users = [...index.pods.usingClaim(record.key)].filter(({ isFinished }) => !isFinished);
  const standing = claimStanding(record, index, users, view);
  const isForPods = standing.state === 'WaitsForScheduler';
  const shown = isForPods ? users.filter(({ nodeName }) => nodeName === '').slice(0, podsMax) : [];
  const pods = shown.flatMap(({ key }) => explained(view, key, { ...options, indexOf }));
  const expansions = isGrowing(record, index)
    ? expansionsOf(settled(indexOf(stowageProfile).index, options.nowMs), record.key)
    : [];
  const closest = choosing.has(standing.state) ? closestTo(record, index) : { candidates: [], omitted: 0 };
  return {
    apiVersion: explanationApiVersion,
    kind: 'ClaimExplanation',
    summary: summaryOf(record, standing, expansions),
    claim: {
      namespace,
      name,
      storageClass: record.className,
      requested: textOrNothing(claim.spec?.resources?.requests?.storage),
      selectedNode: textOrNothing(record.selectedNode),
      volume: textOrNothing(record.volumeName),
    },
    state: standing.state,
    waitsFor: standing.waitsFor,
    closest: closest.candidates,
    omitted: closest.omitted,
    ...(expansions.length > 0 && { expansions }),
    disks: diskRoomText(view, record.key),
    elsewhere: users.some(({ nodeName }) => nodeName === '')
      ? createdElsewhereAdvice(record, index)
      : undefined,
    pods,
    podsOmitted: isForPods ? users.length - pods.length : 0,
    events: eventLines(view.events, { kind: 'PersistentVolumeClaim', namespace, name }),
    notes: [...view.notes, ...noticeNotes(warnings)],
  };
}

function summaryOf(
  { key, volumeName }: ClaimRecord,
  { state, says, waitsFor }: ClaimStanding,
  expansions: readonly ExpansionInFlight[],
): string {
  if (state === 'Bound') {
    const unfit = expansions.find(({ missing }) => missing !== undefined);
    const grows =
      unfit === undefined
        ? ''
        : `, and its expansion does not fit: pool ${unfit.pool} lacks ${readableAmount(unfit.missing ?? '0')}`;
    return `Claim ${key} is bound to ${volumeName}${grows}.`;
  }
  return `Claim ${key} ${says}${waitsFor === undefined ? '' : `: ${waitsFor}`}.`;
}

/** The claim wants a larger volume than it has, or its volume was expanded. */
function isGrowing({ volumeName, wantedSize }: ClaimRecord, { volumes }: ClusterIndex): boolean {
  const volume = volumes.get(volumeName);
  if (volume === undefined) return false;
  return (
    volume.expansion !== undefined || (wantedSize !== undefined && compareSizes(wantedSize, volume.size) > 0)
  );
}

function settled(index: ClusterIndex, nowMs: number): ClusterIndex {
  index.settle(nowMs);
  return index;
}

/** Explaining does not change the index, so it can be reused. */
function remembering(make: IndexOf): IndexOf {
  const made = new Map<Profile, ReturnType<IndexOf>>();
  return (profile) => {
    const known = made.get(profile) ?? make(profile);
    made.set(profile, known);
    return known;
  };
}

/** The notes are reported once, for the claim. */
function explained(view: ClusterView, key: string, options: ExplainPodOptions): PodExplanation[] {
  const pod = view.snapshot.get('Pod', key);
  return pod === undefined ? [] : [{ ...explainPod(view, pod, options), notes: [] }];
}

function closestTo(
  claim: ClaimRecord,
  index: ClusterIndex,
): { readonly candidates: readonly CandidateLine[]; readonly omitted: number } {
  const { candidates, omitted } = claimCandidates(claim, index, candidatesMax);
  return { candidates: candidates.map((candidate) => candidateLine(candidate)), omitted };
}

function textOrNothing(value: unknown): string | undefined {
  return value === undefined || value === null || value === '' ? undefined : String(value);
}
