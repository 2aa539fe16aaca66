import type { Affinity, Pod, TopologySpreadConstraint } from '../../../kube/core.ts';
import { byImportance } from '../../preemption/importance.ts';
import type { PodRecord } from '../../records/pod-record.ts';
import { itemsOf } from '../../records/reading.ts';
import type { Finding } from '../../rules/finding.ts';
import type { Step } from './step.ts';
import type { Trial } from './trial.ts';

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

/**
 * Other pods go. One alone if that is enough, the least important that is; else every pod is taken off and those that can are put
 * back, the most important first. Only pods that somebody put there of free will: not those that come with the node.
 */
export function removePods(trial: Trial, { reason }: Finding): Step[] {
  const ranked = byImportance(removablePods(trial, farReasons.has(reason)), trial.ground.nowMs);
  for (const pod of [...ranked].reverse()) {
    const step = removing([pod]);
    if (trial.during([step], (after) => after.fits())) return [step];
  }
  const several = fewest(trial, ranked);
  return several.length === 0 ? [] : [removing(several)];
}

function removablePods({ index, node, record }: Trial, lookFar: boolean): PodRecord[] {
  const near = [...index.pods.onNode(node)];
  const far = lookFar ? [...farPods(index.pods.records(), node)] : [];
  return [...near, ...far].filter(
    ({ key, owner, priority }) =>
      key !== record.key && priority < systemPriority && !/^(DaemonSet|Node)\//.test(owner),
  );
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
  const gone = new Set(ranked);
  return trial.during([removing(ranked)], (after) => {
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

function removing(pods: readonly PodRecord[]): Step {
  const names = pods.map(({ key }) => key);
  return {
    sort: 'RemovePods',
    scope: '',
    object: { kind: 'Pod', name: names[0] ?? '' },
    amount: names.length,
    unit: 'pods',
    names,
    edits: names.map((key) => ({ type: 'remove pod', key })),
  };
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
