import { type DisruptionBudget, podsViolatingBudgets } from '../../engine/preemption/disruption-budget.ts';
import type { PodRecord } from '../../engine/records/pod-record.ts';
import { ordinalOf } from '../../engine/workloads/stateful-set-members.ts';

export interface EvictionWavesOptions {
  readonly budgets: readonly DisruptionBudget[];
  /** Whether evicted pods start elsewhere: then the next wave comes when they are ready, and a StatefulSet loses one pod at a time. */
  readonly restartsElsewhere: boolean;
}

/** The wave in which each pod may be stopped, in order; undefined if the budgets allow none of the pods that are left. */
export function evictionWaves(
  pods: readonly PodRecord[],
  { budgets, restartsElsewhere }: EvictionWavesOptions,
): ReadonlyMap<PodRecord, number | undefined> {
  const waves = new Map<PodRecord, number | undefined>();
  let left = pods.toSorted(inOrder);
  for (let wave = 1; left.length > 0; wave += 1) {
    const candidates = restartsElsewhere ? firstOfEachSet(left) : left;
    const refused = podsViolatingBudgets(candidates, budgets);
    const stopped = candidates.filter((pod) => !refused.has(pod));
    for (const pod of stopped) waves.set(pod, wave);
    left = left.filter((pod) => !waves.has(pod));
    // Pods that do not start elsewhere give no budget back.
    if (stopped.length > 0 && restartsElsewhere) continue;
    for (const pod of left) waves.set(pod, undefined);
    break;
  }
  return waves;
}

/** Sorts by name; members of a StatefulSet from the last to the first, as its controller removes them. */
function inOrder(a: PodRecord, b: PodRecord): number {
  const [first, second] = [groupOf(a), groupOf(b)];
  if (first !== second) return first < second ? -1 : 1;
  return (ordinal(b) ?? 0) - (ordinal(a) ?? 0) || (a.key < b.key ? -1 : 1);
}

function groupOf({ key, namespace, owner }: PodRecord): string {
  return isMember(owner) ? `${namespace}/${owner.slice(owner.indexOf('/') + 1)}` : key;
}

function isMember(owner: string): boolean {
  return owner.startsWith('StatefulSet/');
}

function ordinal({ owner, name }: PodRecord): number | undefined {
  return isMember(owner) ? ordinalOf({ metadata: { name } }) : undefined;
}

function firstOfEachSet(pods: readonly PodRecord[]): readonly PodRecord[] {
  const seen = new Set<string>();
  return pods.filter((pod) => {
    const group = groupOf(pod);
    if (seen.has(group)) return false;
    seen.add(group);
    return true;
  });
}
