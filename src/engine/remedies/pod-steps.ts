import type { Affinity, Pod, TopologySpreadConstraint } from '../../kube/api/core.ts';
import { truncatedList } from '../explain/truncated-list.ts';
import { byImportance } from '../preemption/importance.ts';
import { nonNullItems } from '../records/field-readers.ts';
import type { PodRecord } from '../records/pod-record.ts';
import type { Finding } from '../rules/framework/finding.ts';
import type { RemedyStep } from './remedy-step.ts';
import type { WhatIf } from './what-if.ts';

/** Pods of this priority and above are system-critical. */
const systemPriority = 2_000_000_000;
/** How many pods on other nodes the search considers, for reasons that depend on them too. */
const farPodsMax = 300;

/** Reasons that pods on other nodes may cause. */
const farReasons: ReadonlySet<string> = new Set([
  'AntiAffinityNotMet',
  'RefusedByNeighbours',
  'SpreadExceeded',
  'ClaimInUse',
]);

/** For findings that other pods cause. If it is enough to wait for pods that are being deleted, no other pod is removed. */
export function podSteps(whatIf: WhatIf, finding: Finding): RemedyStep[] {
  const waiting = waitForPodsSteps(whatIf, finding);
  return waiting.length > 0 ? waiting : removePodsSteps(whatIf, finding);
}

/** Pods that are being deleted keep their resources until the API server has removed them. */
function waitForPodsSteps(whatIf: WhatIf, { reason }: Finding): RemedyStep[] {
  const deleting = candidates(whatIf, farReasons.has(reason)).filter(({ isDeleting }) => isDeleting);
  const needed = fewest(whatIf, byImportance(deleting, whatIf.context.nowMs));
  return needed.length === 0 ? [] : [{ ...without(needed), action: 'WaitForPods' }];
}

/**
 * Removes other pods: a single one if that is enough, the least important such pod; otherwise it removes every pod and puts back as many
 * as possible, the most important first. Daemon pods and static pods stay.
 */
function removePodsSteps(whatIf: WhatIf, { reason }: Finding): RemedyStep[] {
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

/** A pod of a DaemonSet or a static pod: every such node has one, and it would be recreated. */
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

/** A minimal set of pods without which the pod fits; empty if it does not fit even without all of them. */
function fewest(whatIf: WhatIf, ranked: readonly PodRecord[]): readonly PodRecord[] {
  if (ranked.length === 0) return [];
  const gone = new Set(ranked);
  return whatIf.withSteps([without(ranked)], (after) => {
    if (!after.fits()) return [];
    for (const pod of ranked) {
      // To the rules an assumed pod counts like a running one.
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
    remarks: owners.size === 0 ? [] : [ownersRemark([...owners], names.length)],
    edits: names.map((key) => ({ type: 'remove pod', key })),
  };
}

const ownersShownMax = 3;

/** Deleting the pod is not enough: its owner would replace it. */
function ownersRemark(owners: readonly string[], podCount: number): string {
  const shown = owners.slice(0, ownersShownMax).map((owner) => owner.replace('/', ' '));
  return `scale down ${truncatedList(shown, owners.length)}, which would otherwise recreate ${podCount === 1 ? 'it' : 'them'}`;
}

/** The pod drops its required affinity or anti-affinity to other pods. */
export function dropAffinitySteps(whatIf: WhatIf, part: 'podAffinity' | 'podAntiAffinity'): RemedyStep[] {
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

/** Raises maxSkew to the skew that the node would have. The search may find that less is enough. */
export function raiseMaxSkewSteps(whatIf: WhatIf, { margin }: Finding): RemedyStep[] {
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
