import type { ClusterIndex } from '../../../engine/cluster-index/cluster-index.ts';
import { plan } from '../../../engine/plan.ts';
import { findRemedies } from '../../../engine/remedies/find-remedies.ts';
import { remedyCost } from '../../../engine/remedies/remedy-collection.ts';
import { type RemedyForPods, tryOnPods } from '../../../engine/remedies/remedy-for-pods.ts';
import { changesText, stepText } from '../../../engine/remedies/step-text.ts';
import type { Pod } from '../../../kube/api/core.ts';
import type { ClusterView } from '../../view/cluster-view.ts';
import type { ExplainPodOptions, IndexOf } from '../explain-pod.ts';
import { findPodScheduler } from '../pod-scheduler.ts';
import { indexPerProfile } from './index-per-profile.ts';
import { type ExplainedKind, type PendingCause, podCount, podKeyOf } from './pending-causes.ts';
import type { PodsRemedyLine } from './pending-explanation.ts';

export interface ExplainPendingOptions extends ExplainPodOptions {
  readonly onProgress?: ((text: string) => void) | undefined;
}

/** The search for remedies takes longest. */
export const causesTriedMax = 8;
const remediesPerCauseMax = 3;
const remediesShownMax = 3;
const podsNamedMax = 50;
/** Each trial plans all of its pods; a plan visits every node. */
const plansPerTrialMax = 100;
const nodeVisitsPerTrialMax = 200_000;

interface TriedRemedies {
  readonly perCause: readonly (readonly PodsRemedyLine[])[];
  readonly overall: readonly PodsRemedyLine[];
  readonly omissions: readonly string[];
}

/** Looks for remedies for one pod of each cause, and tries them on all pods of the cause, then the best on all pods. */
export function tryRemedies(
  view: ClusterView,
  causes: readonly PendingCause[],
  explained: readonly ExplainedKind[],
  options: ExplainPendingOptions,
): TriedRemedies {
  const refused = causes.filter(
    ({ verdict, kinds }) => verdict === 'refused' && kinds[0]!.explanation.nodes.groups.length > 0,
  );
  const trials = new Trials(view, options, explained);
  const best = new Map<PendingCause, readonly RemedyForPods[]>();
  const shown = refused.slice(0, causesTriedMax);
  for (const [at, cause] of shown.entries()) {
    options.onProgress?.(`trying what would help, cause ${at + 1} of ${shown.length}`);
    best.set(cause, trials.forCause(cause).slice(0, remediesPerCauseMax));
  }
  options.onProgress?.('trying what would help most pods');
  const everywhere =
    refused.length > 1
      ? trials.onAll(
          refused,
          [...best.values()].flatMap((list) => list.slice(0, 2)),
        )
      : ([...best.values()][0] ?? []);
  const total = podCount(refused.flatMap(({ kinds }) => kinds));
  return {
    perCause: causes.map((cause) =>
      (best.get(cause) ?? []).map((remedy) => remedyLineFor(remedy, trials.triedOf([cause]))),
    ),
    overall: everywhere
      .slice(0, remediesShownMax)
      .map((remedy) => remedyLineFor(remedy, trials.triedOf(refused))),
    omissions:
      total > trials.podsMax ? [`each change was tried on at most ${trials.podsMax} pods of ${total}`] : [],
  };
}

function remedyLineFor({ remedy, helped }: RemedyForPods, tried: number): PodsRemedyLine {
  return {
    text: changesText(remedy),
    cost: remedyCost(remedy),
    steps: remedy.steps.map((step) => {
      const { action, object, amount, unit, names } = step;
      return { action, text: stepText(step, remedy.node), object, amount, unit, names };
    }),
    helped: helped.length,
    tried,
    pods: helped.slice(0, podsNamedMax),
  };
}

/** Tries remedies on several pods. Pods that would fit already take their place first. */
class Trials {
  readonly podsMax: number;
  readonly #view: ClusterView;
  readonly #options: ExplainPendingOptions;
  readonly #fitting: readonly Pod[];
  readonly #indexOf: IndexOf;

  constructor(view: ClusterView, options: ExplainPendingOptions, explained: readonly ExplainedKind[]) {
    this.#view = view;
    this.#options = options;
    const nodes = view.snapshot.count('Node') + 1;
    this.podsMax = Math.max(4, Math.min(plansPerTrialMax, Math.floor(nodeVisitsPerTrialMax / nodes)));
    this.#fitting = explained
      .filter(({ explanation }) => explanation.verdict === 'fits')
      .flatMap(({ pods }) => pods)
      .slice(0, this.podsMax);
    // The pods of a trial are placed together, so what one takes of a pool must be deducted, even if their scheduler does not do that.
    this.#indexOf = indexPerProfile(view, (profile) => ({ ...profile, inFlight: 'linear' }));
  }

  triedOf(causes: readonly PendingCause[]): number {
    return Math.min(this.podsMax, podCount(causes.flatMap(({ kinds }) => kinds)));
  }

  /** Remedies for the first kind of pods of the cause, those that help most of its pods first. */
  forCause(cause: PendingCause): readonly RemedyForPods[] {
    const [first] = cause.kinds;
    const [pod] = first!.pods;
    const index = this.#indexFor(pod!);
    const { nowMs } = this.#options;
    const refusal = plan(pod!, index, { nowMs });
    if (refusal.kind === 'placement' || refusal.podRefusals.length > 0) return [];
    const { remedies } = findRemedies(pod!, index, refusal.explain().nodes, {
      nowMs,
      objects: this.#view.snapshot,
    });
    return this.#ranked(remedies.map((remedy) => this.#tried({ remedy, helped: [] }, [cause], index)));
  }

  onAll(causes: readonly PendingCause[], remedies: readonly RemedyForPods[]): readonly RemedyForPods[] {
    const [pod] = causes[0]!.kinds[0]!.pods;
    const index = this.#indexFor(pod!);
    return this.#ranked(remedies.map((remedy) => this.#tried(remedy, causes, index)));
  }

  #tried(
    { remedy, helped }: RemedyForPods,
    causes: readonly PendingCause[],
    index: ClusterIndex,
  ): RemedyForPods {
    const pods = causes.flatMap(({ kinds }) => kinds.flatMap((kind) => kind.pods)).slice(0, this.podsMax);
    const first = causes[0]!.kinds[0]!.pods;
    const alike = new Set(helped.length > 0 ? helped : first.map(podKeyOf));
    const { nowMs } = this.#options;
    const answer = tryOnPods(remedy, { pods: [...this.#fitting, ...pods], alike }, index, {
      nowMs,
      objects: this.#view.snapshot,
    });
    const asked = new Set(pods.map(podKeyOf));
    return { ...answer, helped: answer.helped.filter((key) => asked.has(key)) };
  }

  /** A change that stops running pods comes after all others. */
  #ranked(remedies: readonly RemedyForPods[]): readonly RemedyForPods[] {
    const stops = ({ remedy }: RemedyForPods) =>
      Number(remedy.steps.some(({ action }) => action === 'RemovePods'));
    const distinct = new Map(remedies.map((one) => [changesText(one.remedy), one]));
    return [...distinct.values()]
      .filter(({ helped }) => helped.length > 0)
      .sort(
        (a, b) =>
          stops(a) - stops(b) ||
          b.helped.length - a.helped.length ||
          remedyCost(a.remedy) - remedyCost(b.remedy),
      );
  }

  #indexFor(pod: Pod): ClusterIndex {
    const { profile, bindsVolumes } = findPodScheduler(this.#view, pod, this.#options);
    const { index } = this.#indexOf(profile);
    index.bindsVolumes = bindsVolumes;
    return index;
  }
}
