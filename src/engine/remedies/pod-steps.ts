import type { Affinity, Pod, TopologySpreadConstraint } from '../../kube/api/core.ts';
import { andMore } from '../explain/truncated-list.ts';
import { byImportance } from '../preemption/importance.ts';
import type { PodRecord } from '../records/pod-record.ts';
import { itemsOf } from '../records/field-readers.ts';
import type { Finding } from '../rules/framework/finding.ts';
import type { Step } from './remedy-step.ts';
import type { Trial } from './what-if.ts';

/** Pods of this priority and above keep the cluster itself running. */
const systemPriority = 2_000_000_000;
/** Pods elsewhere that are looked at where they may be in the way too. */
const farPodsMax = 300;

/** Reasons for which pods on other nodes may be in the way. */
const farReasons: ReadonlySet<string> = new Set([
  'AntiAffinityNotMet',
  'RefusedByNeighbours',
  'SpreadExceeded',
  'ClaimInUse',
]);

/** For what pods stand behind: where it is enough to wait for those that are going already, no others are touched. */
export function podSteps(trial: Trial, finding: Finding): Step[] {
  const waiting = awaitPods(trial, finding);
  return waiting.length > 0 ? waiting : removePods(trial, finding);
}

/** Pods that are being deleted hold what they have until they are gone. */
function awaitPods(trial: Trial, { reason }: Finding): Step[] {
  const leaving = candidates(trial, farReasons.has(reason)).filter(({ isDeleting }) => isDeleting);
  const needed = fewest(trial, byImportance(leaving, trial.ground.nowMs));
  return needed.length === 0 ? [] : [{ ...without(needed), sort: 'AwaitPods' }];
}

/**
 * Other pods go. One alone if that is enough, the least important that is; else every pod is taken off and those that can are put
 * back, the most important first. Only pods that somebody put there of free will: not those that come with the node.
 */
function removePods(trial: Trial, { reason }: Finding): Step[] {
  const removable = candidates(trial, farReasons.has(reason)).filter(
    (pod) => pod.priority < systemPriority && !comesWithNode(pod),
  );
  const ranked = byImportance(removable, trial.ground.nowMs);
  for (const pod of [...ranked].reverse()) {
    const step = without([pod]);
    if (trial.during([step], (after) => after.fits())) return [step];
  }
  const several = fewest(trial, ranked);
  return several.length === 0 ? [] : [without(several)];
}

/** Of a DaemonSet, or static: every such node has one, and it comes back. */
export function comesWithNode({ owner }: PodRecord): boolean {
  return /^(DaemonSet|Node)\//.test(owner);
}

function candidates({ index, node, record }: Trial, lookFar: boolean): PodRecord[] {
  const near = [...index.pods.onNode(node)];
  const far = lookFar ? [...farPods(index.pods.records(), node)] : [];
  return [...near, ...far].filter(({ key }) => key !== record.key);
}

function* farPods(pods: Iterable<PodRecord>, node: string): Iterable<PodRecord> {
  let count = 0;
  for (const pod of pods) {
    if (pod.nodeName === '' || pod.nodeName === node || pod.isFinished) continue;
    if (++count > farPodsMax) return;
    yield pod;
  }
}

/** Without them the pod fits, and without none of them; empty if it doesn't fit without all. */
function fewest(trial: Trial, ranked: readonly PodRecord[]): readonly PodRecord[] {
  if (ranked.length === 0) return [];
  const gone = new Set(ranked);
  return trial.during([without(ranked)], (after) => {
    if (!after.fits()) return [];
    for (const pod of ranked) {
      // To rules, one that is assumed is as good as one that runs.
      trial.index.setAssumedPod(pod.key, pod);
      if (after.fits()) gone.delete(pod);
      else trial.index.setAssumedPod(pod.key, undefined);
    }
    return [...gone];
  });
}

function without(pods: readonly PodRecord[]): Step {
  const names = pods.map(({ key }) => key);
  const owners = new Set(pods.map(({ owner }) => owner).filter((owner) => owner !== ''));
  return {
    sort: 'RemovePods',
    scope: '',
    object: { kind: 'Pod', name: names[0] ?? '' },
    amount: names.length,
    unit: 'pods',
    names,
    remarks: owners.size === 0 ? [] : [ownersRemark([...owners])],
    edits: names.map((key) => ({ type: 'remove pod', key })),
  };
}

const ownersShownMax = 3;

/** Whoever only deletes a pod of theirs sees the next one take its place. */
function ownersRemark(owners: readonly string[]): string {
  const shown = owners.slice(0, ownersShownMax).map((owner) => owner.replace('/', ' '));
  return `scale down ${andMore(shown, owners.length)}, or ${owners.length === 1 ? 'it makes' : 'they make'} new ones`;
}

/** The pod does without what it requires of its neighbours. */
export function dropAffinity(trial: Trial, part: 'podAffinity' | 'podAntiAffinity'): Step[] {
  const required = trial.pod.spec?.affinity?.[part]?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = itemsOf(required);
  if (terms.length === 0) return [];
  const change = (pod: Pod): Pod => {
    const affinity: Affinity = pod.spec?.affinity ?? {};
    const { requiredDuringSchedulingIgnoredDuringExecution: _, ...preferred } = affinity[part] ?? {};
    return { ...pod, spec: { ...pod.spec, affinity: { ...affinity, [part]: preferred } } };
  };
  return [
    {
      sort: part === 'podAffinity' ? 'DropAffinity' : 'DropAntiAffinity',
      scope: '',
      object: { kind: 'Pod', name: trial.record.key },
      amount: terms.length,
      unit: 'changes',
      names: terms.map(({ topologyKey = '' }) => topologyKey),
      edits: [{ type: 'change pod', change }],
    },
  ];
}

const skewPrefix = 'skew over ';

/** To what the node would come to; less may do if the search finds so. */
export function raiseMaxSkew(trial: Trial, { margin }: Finding): Step[] {
  if (margin?.unit !== 'resource' || !margin.resource.startsWith(skewPrefix)) return [];
  const topologyKey = margin.resource.slice(skewPrefix.length);
  const amount = margin.needed - margin.free;
  return amount > 0 ? [raiseSkewBy(trial.record.key, { topologyKey, from: margin.free }, amount)] : [];
}

function raiseSkewBy(
  podKey: string,
  what: { readonly topologyKey: string; readonly from: number },
  amount: number,
): Step {
  const { topologyKey, from } = what;
  const to = from + amount;
  const raised = (constraint: TopologySpreadConstraint): TopologySpreadConstraint =>
    constraint.topologyKey === topologyKey && constraint.maxSkew === from && isHard(constraint)
      ? { ...constraint, maxSkew: to }
      : constraint;
  const change = (pod: Pod): Pod => ({
    ...pod,
    spec: {
      ...pod.spec,
      topologySpreadConstraints: itemsOf(pod.spec?.topologySpreadConstraints).map(raised),
    },
  });
  return {
    sort: 'RaiseMaxSkew',
    scope: topologyKey,
    object: { kind: 'Pod', name: podKey },
    amount,
    unit: 'units',
    from,
    to,
    names: [topologyKey],
    edits: [{ type: 'change pod', change }],
    withAmount: (other) => raiseSkewBy(podKey, what, other),
  };
}

function isHard({ whenUnsatisfiable }: TopologySpreadConstraint): boolean {
  return whenUnsatisfiable !== 'ScheduleAnyway';
}
