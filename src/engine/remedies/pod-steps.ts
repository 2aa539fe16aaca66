import type { Affinity, Pod, TopologySpreadConstraint } from '../../kube/api/core.ts';
import { truncatedList } from '../explain/truncated-list.ts';
import { byImportance } from '../preemption/importance.ts';
import { nonNullItems } from '../records/field-readers.ts';
import type { PodRecord } from '../records/pod-record.ts';
import type { Finding } from '../rules/framework/finding.ts';
import type { RemedyStep } from './remedy-step.ts';
import type { WhatIf } from './what-if.ts';

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
export function podSteps(whatIf: WhatIf, finding: Finding): RemedyStep[] {
  const waiting = awaitPods(whatIf, finding);
  return waiting.length > 0 ? waiting : removePods(whatIf, finding);
}

/** Pods that are being deleted hold what they have until they are gone. */
function awaitPods(whatIf: WhatIf, { reason }: Finding): RemedyStep[] {
  const leaving = candidates(whatIf, farReasons.has(reason)).filter(({ isDeleting }) => isDeleting);
  const needed = fewest(whatIf, byImportance(leaving, whatIf.context.nowMs));
  return needed.length === 0 ? [] : [{ ...without(needed), action: 'WaitForPods' }];
}

/**
 * Other pods go. One alone if that is enough, the least important that is; else every pod is taken off and those that can are put
 * back, the most important first. Only pods that somebody put there of free will: not those that come with the node.
 */
function removePods(whatIf: WhatIf, { reason }: Finding): RemedyStep[] {
  const removable = candidates(whatIf, farReasons.has(reason)).filter(
    (pod) => pod.priority < systemPriority && !isDaemonOrStaticPod(pod),
  );
  const ranked = byImportance(removable, whatIf.context.nowMs);
  for (const pod of [...ranked].reverse()) {
    const step = without([pod]);
    if (whatIf.withSteps([step], (after) => after.fits())) return [step];
  }
  const several = fewest(whatIf, ranked);
  return several.length === 0 ? [] : [without(several)];
}

/** Of a DaemonSet, or static: every such node has one, and it comes back. */
export function isDaemonOrStaticPod({ owner }: PodRecord): boolean {
  return /^(DaemonSet|Node)\//.test(owner);
}

function candidates({ index, node, record }: WhatIf, lookFar: boolean): PodRecord[] {
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
function fewest(whatIf: WhatIf, ranked: readonly PodRecord[]): readonly PodRecord[] {
  if (ranked.length === 0) return [];
  const gone = new Set(ranked);
  return whatIf.withSteps([without(ranked)], (after) => {
    if (!after.fits()) return [];
    for (const pod of ranked) {
      // To rules, one that is assumed is as good as one that runs.
      whatIf.index.setAssumedPod(pod.key, pod);
      if (after.fits()) gone.delete(pod);
      else whatIf.index.setAssumedPod(pod.key, undefined);
    }
    return [...gone];
  });
}

function without(pods: readonly PodRecord[]): RemedyStep {
  const names = pods.map(({ key }) => key);
  const owners = new Set(pods.map(({ owner }) => owner).filter((owner) => owner !== ''));
  return {
    action: 'RemovePods',
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
  return `scale down ${truncatedList(shown, owners.length)}, or ${owners.length === 1 ? 'it makes' : 'they make'} new ones`;
}

/** The pod does without what it requires of its neighbours. */
export function dropAffinity(whatIf: WhatIf, part: 'podAffinity' | 'podAntiAffinity'): RemedyStep[] {
  const required = whatIf.pod.spec?.affinity?.[part]?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = nonNullItems(required);
  if (terms.length === 0) return [];
  const change = (pod: Pod): Pod => {
    const affinity: Affinity = pod.spec?.affinity ?? {};
    const { requiredDuringSchedulingIgnoredDuringExecution: _, ...preferred } = affinity[part] ?? {};
    return { ...pod, spec: { ...pod.spec, affinity: { ...affinity, [part]: preferred } } };
  };
  return [
    {
      action: part === 'podAffinity' ? 'DropAffinity' : 'DropAntiAffinity',
      scope: '',
      object: { kind: 'Pod', name: whatIf.record.key },
      amount: terms.length,
      unit: 'changes',
      names: terms.map(({ topologyKey = '' }) => topologyKey),
      edits: [{ type: 'change pod', change }],
    },
  ];
}

const skewPrefix = 'skew over ';

/** To what the node would come to; less may do if the search finds so. */
export function raiseMaxSkew(whatIf: WhatIf, { margin }: Finding): RemedyStep[] {
  if (margin?.unit !== 'resource' || !margin.resource.startsWith(skewPrefix)) return [];
  const topologyKey = margin.resource.slice(skewPrefix.length);
  const amount = margin.needed - margin.free;
  return amount > 0 ? [raiseSkewBy(whatIf.record.key, { topologyKey, from: margin.free }, amount)] : [];
}

function raiseSkewBy(
  podKey: string,
  what: { readonly topologyKey: string; readonly from: number },
  amount: number,
): RemedyStep {
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
      topologySpreadConstraints: nonNullItems(pod.spec?.topologySpreadConstraints).map(raised),
    },
  });
  return {
    action: 'RaiseMaxSkew',
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
